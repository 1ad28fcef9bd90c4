; test run
; machine pws
; set divergence.mechanism=pws split.contexts=0
; check wave 0 v2 = 11 11 11 22
; check waves = 1
;
; No context: the split is refused, its merge does nothing, the sides run one after the other.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split exec_lo, exec_hi
  s_cbranch_execz ELSE
  v_mov_b32 v2, 10
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_mov_b32 v2, 21
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_add_u32 v2, vcc, 1, v2
  s_endpgm
