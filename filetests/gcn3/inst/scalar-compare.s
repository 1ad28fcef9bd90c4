; test run
; check wave 0 s10 = 11
; check wave 0 s11 = 22
; check wave 0 s12 = 11
; check wave 0 s13 = 22
; check wave 0 s14 = 5
; check wave 0 s15 = 11
;
; Signed and unsigned, bits, pairs and short constants; s_addk leaves 5.
.kernel k

  s_cmp_lt_i32 -1, 1
  s_cselect_b32 s10, 11, 22
  s_cmp_lt_u32 -1, 1
  s_cselect_b32 s11, 11, 22
  s_bitcmp1_b32 5, 2
  s_cselect_b32 s12, 11, 22
  s_cmp_lg_u64 s[0:1], s[0:1]
  s_cselect_b32 s13, 11, 22
  s_movk_i32 s14, -5
  s_cmpk_gt_i32 s14, -6
  s_cselect_b32 s15, 11, 22
  s_addk_i32 s14, 10
  s_endpgm
