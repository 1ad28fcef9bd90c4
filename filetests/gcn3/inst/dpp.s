; test run
; check wave 0 v3 = 1 0 3 2
; check wave 0 v4 = 0 0 1 2
; check wave 0 v5 = 15 14 13 12
; check wave 0 v6 = 9 9 9 9 4 5
;
; Quad permutation, shift with zero for missing lanes, mirror, and a bank mask that leaves the first four lanes alone.
.kernel k

  v_mov_b32_dpp v3, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  v_mov_b32_dpp v4, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  v_mov_b32_dpp v5, v0 row_mirror row_mask:0xf bank_mask:0xf
  v_mov_b32 v6, 9
  v_mov_b32_dpp v6, v0 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xe
  s_endpgm
