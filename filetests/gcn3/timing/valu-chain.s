; test run
; set frontend.kind=perfect
; check wave 0 v3 = 3 4 5 6
; check cycles = 12
;
; Each addition waits 4 cycles for the one before: 0, 4, 8, the result is there at 12. The wave ends then.
.kernel k
  v_add_u32 v3, vcc, 1, v0
  v_add_u32 v3, vcc, 1, v3
  v_add_u32 v3, vcc, 1, v3
  s_endpgm
