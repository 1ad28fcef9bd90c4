; test run
; set divergence.mechanism=thesis divergence.reconverge=mask-stack split.contexts=1
; check wave 0 v2 = 1 2 3 4
;
; A loop of four rounds that switches all lanes on in each; lane n works in round n. In round 0 lane 0 splits off and restores the mask
; before DONE, the others behind it. Both wait, lane 0 has the smaller pc and goes on: in round 1 it comes to DONE, where the others
; still wait in round 0. Same pc, and both masks are 1111: as THESIS 4.3.4 is written they are one again. But s10, the round, is 1 and 0.
; Joined with the round of lane 0, lane 1 would miss its own. They disagree about s10 and go on apart.
.kernel k
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1
  v_mov_b32 v2, 0
  s_mov_b32 s10, 0
LOOP:
  v_cmp_eq_u32 vcc, s10, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_cbranch_execz DONE
  v_add_u32 v2, vcc, s10, v2
  v_add_u32 v2, vcc, 1, v2
  s_mov_b64 exec, s[6:7]
  s_branch NEXT
DONE:
  s_mov_b64 exec, s[6:7]
NEXT:
  s_add_u32 s10, s10, 1
  s_cmp_lt_u32 s10, 4
  s_cbranch_scc1 LOOP
  s_endpgm
