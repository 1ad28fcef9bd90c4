; test run
; check wave 0 v5 = 0 0x3ff00000 0x40000000 0x40080000
; check wave 0 v7 = 0x3fe00000 0x3ff80000 0x40040000 0x400c0000
; check wave 0 v10 = 0 2 6 12
.kernel k

  v_cvt_f64_u32 v[4:5], v0
  v_add_f64 v[6:7], v[4:5], 0.5
  v_mul_f64 v[8:9], v[6:7], v[6:7]
  v_cvt_i32_f64 v10, v[8:9]
  s_endpgm
