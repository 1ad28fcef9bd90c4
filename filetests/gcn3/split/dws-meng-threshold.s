; test run
; set divergence.mechanism=dws-meng split.contexts=3 divergence.threshold=0
; check wave 0 v2 = 11 21 30 30
; check instructions = 19
;
; Every block behind a region has 0 instructions or more: nothing divides, and the program's own masks serialise both sides.
; No branch jumps, since some lanes are on at each: the 19 instructions of the program are executed once.
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
