; test run
; set divergence.mechanism=pws split.contexts=3
; check wave 0 v3 = 7 7 7 7
;
; Only one side writes s10: after the merge it has that value, as if the side had run within the wave.
.kernel k
  s_mov_b32 s10, 5
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  split exec_lo, exec_hi
  s_cbranch_execz END
  s_mov_b32 s10, 7
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_mov_b32 v3, s10
  s_endpgm
