; test run
; check wave 0 s10 = 5
; check wave 0 v3 = 0 0 5 0
; check wave 0 s11 = 0
; check wave 0 s12 = 5
;
; v_readfirstlane takes the first active lane; v_readlane ignores EXEC.
.kernel k

  v_mov_b32 v3, 0
  s_mov_b64 exec, 0xc
  v_readlane_b32 s10, v0, 5
  v_writelane_b32 v3, s10, 2
  v_readfirstlane_b32 s12, v3
  s_mov_b64 exec, -1
  v_readfirstlane_b32 s11, v3
  s_endpgm
