; test run
; set frontend.kind=perfect
; check cycles = 13
;
; The shift issues at 1, the read at 5. Local memory: a row of 32 banks takes 32 dwords at once: 64 lanes need two passes, the read is done at 11.
.kernel k
.lds 8192
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
