; test run
; check wave 0 v3 = 10 11 12 13
; check wave 0 v4 = -2 -1 0 1
; check wave 0 v5 = 100 121 144 169
; check wave 0 v6 = 0xfffffffc 0xfffffffe 0 0
; check wave 0 v7 = 7 10 13 16
; check wave 0 v8 = -2 -1 0 1
; check wave 0 v9 = 0 1 1 1
; check wave 0 v10 = 10 22 48 104
; check wave 0 v11 = 3 5 2 4
.kernel k

  v_add_u32 v3, vcc, 10, v0
  v_subrev_u32 v4, vcc, 2, v0
  v_mul_lo_u32 v5, v3, v3
  v_mul_hi_u32 v6, v4, v4
  v_mad_u32_u24 v7, v0, 3, 7
  v_bfe_i32 v8, v4, 0, 2
  v_min_u32 v9, 1, v0
  v_lshlrev_b32 v10, v0, v3
  v_bcnt_u32_b32 v11, v5, 0
  s_endpgm
