; test run
; set frontend.kind=perfect
; check cycles = 75
;
; The shift issues at 1, the read at 5. Local memory: all dwords in one bank: 64 passes, one lane each.
.kernel k
.lds 8192
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 7, v0
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
