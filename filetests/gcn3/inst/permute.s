; test run
; check wave 0 v4 = 1 0 3 2
; check wave 0 v5 = 2 2 2 2 6
; check wave 0 v6 = 63 0 1 2
;
; Lanes exchange through the crossbar without local memory; ds_permute pushes, ds_bpermute pulls.
.kernel k

  v_xor_b32 v3, 1, v0
  v_lshlrev_b32 v3, 2, v3
  ds_bpermute_b32 v4, v3, v0
  ds_swizzle_b32 v5, v0 offset:swizzle(BROADCAST,4,2)
  s_waitcnt lgkmcnt(0)
  v_add_u32 v7, vcc, 1, v0
  v_lshlrev_b32 v7, 2, v7
  ds_permute_b32 v6, v7, v0
  s_waitcnt lgkmcnt(0)
  s_endpgm
