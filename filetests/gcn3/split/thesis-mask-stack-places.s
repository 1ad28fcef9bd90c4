; test run
; set divergence.mechanism=thesis divergence.reconverge=mask-stack split.contexts=1
; check wave 0 v2 = 11 11 20 20
;
; A small program that breaks the rule of THESIS 4.3.4 as it is written: the mask comes back at two places. Lanes 0 and 1 have
; 1111 behind the first s_mov and an addition to do there; lanes 2 and 3 have it behind the second one. Both masks are on the stack.
; Joined at the second place lanes 0 and 1 would keep 10; at the first place lanes 2 and 3 would get 21. So they do not join: when both
; wait, the one with the smaller pc goes on.
.kernel k
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1
  v_mov_b32 v2, 20
  v_cmp_gt_u32 vcc, 2, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_cbranch_execz OTHER
  v_mov_b32 v2, 10
  s_mov_b64 exec, s[6:7]
  v_add_u32 v2, vcc, 1, v2
  s_branch END
OTHER:
  s_mov_b64 exec, s[6:7]
END:
  s_endpgm
