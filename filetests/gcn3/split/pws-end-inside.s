; test run
; machine pws
; set divergence.mechanism=pws split.contexts=2
; check wave 0 v2 = 12 32 32 22
; check waves = 1
;
; A path leaves a region that has a merge: it passes the merge by, and the two others meet there without it.
; Lane 3 takes the second side; of lanes 0 to 2, lane 0 parts from lanes 1 and 2 for good.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split exec_lo, exec_hi
  s_cbranch_execz ELSE
  v_mov_b32 v2, 10
  v_cmp_lt_u32 vcc, 0, v0
  s_and_saveexec_b64 s[8:9], vcc
  split_end exec_lo, exec_hi
  s_cbranch_execz JOINED
  v_mov_b32 v2, 30
JOINED:
  s_or_b64 exec, exec, s[8:9]
  v_add_u32 v2, vcc, 1, v2
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_mov_b32 v2, 21
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_add_u32 v2, vcc, 1, v2
  s_endpgm
