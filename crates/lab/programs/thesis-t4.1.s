; test run
; set core.lanes=4
; grid 4
; group 4
; mechanism none thesis dws
; check wave 0 v3 = 9 9 9 11
;
; THESIS figures 4.3 and 4.4: if (tid < 3). The thesis prints the comparison as "4 <= v0", which does not fit its C.
.kernel k

BB8:
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[2:3], vcc
FIRST:
  s_cbranch_execz BB10
BB9:
  v_mov_b32 v3, 9
BB10:
  s_andn2_b64 exec, s[2:3], exec
SECOND:
  s_cbranch_execz BB12
BB11:
  v_mov_b32 v3, 11
BB12:
  s_endpgm
