; test run
; set frontend.kind=perfect
; check cycles = 16
;
; The shift issues at 1, the reads at 5 and 6; they need 5 cycles, so they are done at 10 and 11.
; The wait holds until the second read: the move issues at 12.
.kernel k
.lds 512
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_read_b32 v4, v3
  ds_read_b32 v5, v3 offset:256
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, 1
  s_endpgm
