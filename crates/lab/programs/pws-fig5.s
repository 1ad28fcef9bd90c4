; test run
; set core.lanes=4
; set split.contexts=2
; grid 4
; group 4
; mechanism none pws thesis dws
; check wave 0 v3 = 4 4 4 4
; check wave 0 v4 = 1 0 0 1
;
; PWS figure 5a: two splits and two merges. The figure's registers are two bits wide (s0 = 11, s1 = 01, s2 = 00) and
; lane 0 stands left; here the lanes 1101 and 1100 are the words 1011 and 0011.
.kernel k

  s_movk_i32 s8, 0xb
  s_movk_i32 s9, 0
  s_movk_i32 s10, 0x3
  v_mov_b32 v3, 0
  v_mov_b32 v4, 0
ONE:
  v_mov_b32 v3, 1
  split s8, s9
TWO:
  v_add_u32 v3, vcc, 1, v3
  split s10, s9
THREE:
  v_add_u32 v3, vcc, 1, v3
  s_mov_b64 s[12:13], exec
  s_mov_b64 exec, 9
MASKED:
  v_mov_b32 v4, 1
  s_mov_b64 exec, s[12:13]
  merge
TWO_AGAIN:
  v_add_u32 v3, vcc, 1, v3
  merge
ONE_AGAIN:
  v_mov_b32 v5, v3
  s_endpgm
