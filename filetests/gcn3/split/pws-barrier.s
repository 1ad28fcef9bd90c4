; test run
; set divergence.mechanism=pws split.contexts=1
; grid 128
; group 128
; check wave 0 v2 = 1 1 1 2
; check wave 1 v2 = 2 2 2 2
;
; A barrier inside a divergent region: a wave arrives when each of its paths waits, there or at the merge.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split exec_lo, exec_hi
  s_cbranch_execz ELSE
  v_mov_b32 v2, 1
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_barrier
  s_cbranch_execz END
  v_mov_b32 v2, 2
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  s_endpgm
