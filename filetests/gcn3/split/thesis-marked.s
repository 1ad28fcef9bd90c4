; test run
; set divergence.mechanism=thesis split.contexts=1
; check wave 0 v2 = 10 10 10 20
;
; MODE bit 21 marks the branch (THESIS 4.5.2); the paths stay apart to the end.
.kernel k
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz ELSE
  v_mov_b32 v2, 10
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_mov_b32 v2, 20
END:
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
