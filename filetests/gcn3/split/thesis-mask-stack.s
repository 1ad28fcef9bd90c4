; test run
; set divergence.mechanism=thesis divergence.reconverge=mask-stack split.contexts=1
; check wave 0 v3 = 11 11 11 21
; check instructions = 15
; check timed_instructions = 15
;
; THESIS 4.3.4: behind END the program's mask is 1111 again, which is on the stack of split masks, so the paths become one.
; Five instructions before the split; four of path 0 (v_mov, s_andn2, branch, s_or) and four of path 1 (s_andn2, branch,
; v_mov, s_or); then the addition and the end once: 5 + 4 + 4 + 2. Paths that never meet would take 17.
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
  v_add_u32 v3, vcc, 1, v2
  s_endpgm
