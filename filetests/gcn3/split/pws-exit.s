; test run
; set divergence.mechanism=pws split.contexts=1
; check wave 0 v2 = 1 1 1 3
;
; One side ends inside the region: the other one does not wait for it at the merge.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  split exec_lo, exec_hi
  s_cbranch_execz OTHER
  v_mov_b32 v2, 1
  s_endpgm
OTHER:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_mov_b32 v2, 3
  s_endpgm
