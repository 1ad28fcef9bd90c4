; test run
; set frontend.kind=perfect
; check cycles = 15
;
; The shift issues at 1, the read at 5. Local memory: every second bank: four passes.
.kernel k
.lds 8192
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 3, v0
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
