; test run
; check wave 0 v4 = 0 0x3c00 0x4000 0x4200
; check wave 0 v5 = 0 0x4000 0x4400 0x4600
; check wave 0 v6 = 0 2 4 6
.kernel k

  v_cvt_f32_u32 v3, v0
  v_cvt_f16_f32 v4, v3
  v_add_f16 v5, v4, v4
  v_cvt_u16_f16 v6, v5
  s_endpgm
