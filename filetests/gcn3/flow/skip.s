; test run
; check wave 0 v3 = 0
; check instructions = 5
;
; Nobody takes the side: the branch jumps over it.
.kernel k

  v_mov_b32 v3, 0
  v_cmp_gt_u32 vcc, 0, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_cbranch_execz end
  v_mov_b32 v3, 1
end:
  s_endpgm
