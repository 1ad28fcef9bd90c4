; test run
; check wave 0 v4 = 0.5 1.5 2.5 3.5
; check wave 0 v5 = 0.25 2.25 6.25 12.25
; check wave 0 v6 = -0.5 -0.5 -0.5 -0.5
; check wave 0 v7 = 0.0 3.0 10.0 21.0
; check wave 0 v8 = 0.5 1.0 1.0 1.0
; check wave 0 v9 = 0 2 6 12
; check wave 0 v10 = 1.0 2.0 5.0 10.0
; check wave 0 v11 = 0.0 2.0 2.0 4.0
;
; Input and output modifiers: negation, magnitude, times two, clamp; ties round to even.
; Times two needs IEEE mode off.
.kernel k
.amdhsa_ieee_mode 0

  v_cvt_f32_u32 v3, v0
  v_add_f32 v4, 0.5, v3
  v_mul_f32 v5, v4, v4
  v_add_f32 v6, -v4, |v3|
  v_mul_f32 v7, v4, v3 mul:2
  v_add_f32 v8, v4, v3 clamp
  v_cvt_i32_f32 v9, v5
  v_mov_b32 v10, 1.0
  v_mac_f32 v10, v3, v3
  v_rndne_f32 v11, v4
  s_endpgm
