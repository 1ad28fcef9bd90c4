; test run
; set core.lanes=4
; grid 4
; group 4
; policy all
; check wave 0 v3 = 10 10 20 20
; check masks 0 = 1111 1100 0011 1111
;
; The shape LLVM emits: save, first side, the other side, restore.
.kernel k

  v_cmp_gt_u32 vcc, 2, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz other
  v_mov_b32 v3, 10
other:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz end
  v_mov_b32 v3, 20
end:
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
