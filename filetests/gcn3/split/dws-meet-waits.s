; test run
; set divergence.mechanism=dws split.contexts=1 frontend.kind=perfect cores=1
; check wave 0 v4 = 0 0 0 1073741825
;
; Path 0 waits at END for its own v3 when path 1 comes there with a v3 that takes longer: they become one, and the
; addition waits for both.
.kernel k
  v_mov_b32 v3, 0
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz ELSE
  v_exp_f32 v3, 1.0
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_exp_f32 v3, 1.0
END:
  v_add_u32 v4, vcc, 1, v3
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
