; test run
; check wave 0 s11 = 1
; check wave 0 s12 = 5
; check wave 0 s13 = -2
; check wave 0 s14 = 8
; check wave 0 s15 = -14
; check wave 0 s16 = -14
; check wave 0 s17 = 0xfffffff2
; check wave 0 s18 = -7
;
; Carries and borrows go through SCC.
.kernel k

  s_mov_b32 s10, -1
  s_add_u32 s11, s10, 2
  s_addc_u32 s12, s10, 5
  s_sub_u32 s13, 3, 5
  s_subb_u32 s14, 10, 1
  s_mul_i32 s15, s13, 7
  s_min_i32 s16, s15, 4
  s_max_u32 s17, s15, 4
  s_ashr_i32 s18, s15, 1
  s_endpgm
