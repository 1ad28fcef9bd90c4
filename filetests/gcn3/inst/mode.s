; test run
; check wave 0 s10 = 0xc0
; check wave 0 s11 = 0xf0
;
; A kernel starts with f32 denormals flushed and f64 ones kept; s_setreg changes MODE.
.kernel k

  s_getreg_b32 s10, hwreg(HW_REG_MODE, 0, 8)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_getreg_b32 s11, hwreg(HW_REG_MODE, 0, 8)
  s_endpgm
