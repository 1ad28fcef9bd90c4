; test run
; policy all
; check wave 0 v5 = 1 0 3 2
; check wave 0 v6 = 0 1 2 3
; check wave 0 v9 = 64 64
;
; Every lane reads its neighbour's word; 64 lanes add 1 to one word, in lane order.
.kernel k
.lds 512

  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_write_b32 v3, v0
  v_xor_b32 v4, 4, v3
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v5, v4
  v_mov_b32 v7, 0x100
  v_mov_b32 v8, 1
  ds_add_rtn_u32 v6, v7, v8
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v9, v7
  s_waitcnt lgkmcnt(0)
  s_endpgm
