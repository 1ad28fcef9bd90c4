; test run
; set frontend.kind=perfect
; check cycles = 1
;
; x
.kernel k
.lds 512
  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_read_b32 v4, v3
  ds_read_b32 v5, v3 offset:256
  s_waitcnt lgkmcnt(1)
  v_mov_b32 v6, 1
  s_endpgm
