; test run
; check wave 0 v3 = 1 2 3 3 0
;
; An if in an if: lanes 0 to 3, of them 2 and 3, of the others lane 1.
.kernel k

  v_mov_b32 v3, 0
  v_cmp_gt_u32 vcc, 4, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_cbranch_execz end
  v_cmp_lt_u32 vcc, 1, v0
  s_and_saveexec_b64 s[8:9], vcc
  s_xor_b64 s[8:9], exec, s[8:9]
  v_mov_b32 v3, 3
  s_andn2_saveexec_b64 s[8:9], s[8:9]
  v_add_u32 v3, vcc, 1, v0
  s_or_b64 exec, exec, s[8:9]
end:
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
