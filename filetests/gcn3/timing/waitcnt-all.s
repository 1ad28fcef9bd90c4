; test run
; set frontend.kind=perfect
; check cycles = 18
;
; The shift issues at 1, the reads at 5 and 7: each keeps the banks for two passes and is done 6 cycles later, at 11 and 13.
; The wait holds until the second read: the move issues at 14.
.kernel k
.lds 512
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_read_b32 v4, v3
  ds_read_b32 v5, v3 offset:256
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, 1
  s_endpgm
