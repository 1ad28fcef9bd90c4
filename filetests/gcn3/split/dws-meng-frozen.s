; test run
; mechanism dws dws-meng
; set split.contexts=3 divergence.reconverge=region-end
; check wave 0 v2 = 11 21 30 30
; check@dws instructions = 25
; check@dws-meng instructions = 29
;
; DWS as published freezes the stack at the first split: lanes 0 and 1 part at the inner branch and do not meet at END2, but
; at the end of the outer region. Before the first split 4 instructions; lanes 0 and 1 together 4; each of them 4 to END2;
; then under dws together, under dws-meng each by itself, v_add and 3 to the end; lanes 2 and 3: 4; the end once.
.kernel k
  v_cmp_gt_u32 vcc, 2, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz ELSE
  v_cmp_gt_u32 vcc, 1, v0
  s_and_saveexec_b64 s[8:9], vcc
  s_xor_b64 s[8:9], exec, s[8:9]
  s_cbranch_execz ELSE2
  v_mov_b32 v2, 10
ELSE2:
  s_andn2_saveexec_b64 s[8:9], s[8:9]
  s_cbranch_execz END2
  v_mov_b32 v2, 20
END2:
  s_or_b64 exec, exec, s[8:9]
  v_add_u32 v2, vcc, 1, v2
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_mov_b32 v2, 30
END:
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
