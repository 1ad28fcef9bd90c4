; test run
; set core.lanes=4
; grid 4
; group 4
; check wave 0 v3 = 1 2 3 4
; check masks 0 = 1111 0111 0011 0001 0000 1111
;
; Lane i leaves after i + 1 rounds; EXEC comes back behind the loop.
.kernel k

  v_mov_b32 v3, 0
  s_mov_b64 s[6:7], exec
head:
  v_add_u32 v3, vcc, 1, v3
  v_cmp_gt_u32 vcc, v3, v0
  s_andn2_b64 exec, exec, vcc
  s_cbranch_execnz head
  s_mov_b64 exec, s[6:7]
  s_endpgm
