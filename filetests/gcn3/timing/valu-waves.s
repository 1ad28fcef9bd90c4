; test run
; set frontend.kind=perfect cores=1
; grid 512
; check cycles = 16
;
; 8 waves on 4 SIMDs: four additions each, which hold the SIMD for 4 cycles. The last one issues at 12.
.kernel k
  v_add_u32 v3, vcc, 1, v0
  v_add_u32 v4, vcc, 1, v0
  s_endpgm
