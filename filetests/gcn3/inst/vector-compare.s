; test run
; check wave 0 v3 = 9 9 7 7
; check wave 0 s10 = 8
; check wave 0 s12 = 0xffffffff
; check wave 0 v7 = 5 5 5 0
; check wave 0 exec_lo = 7
; check wave 0 exec_hi = 0
;
; To VCC, to a pair, by class, and into EXEC.
.kernel k

  v_cmp_gt_u32 vcc, 2, v0
  v_mov_b32 v4, 9
  v_cndmask_b32 v3, 7, v4, vcc
  v_cmp_eq_u32 s[10:11], 3, v0
  v_mov_b32 v5, 1.0
  v_mov_b32 v6, 0x100
  v_cmp_class_f32 s[12:13], v5, v6
  v_cmpx_gt_u32 vcc, 3, v0
  v_mov_b32 v7, 5
  s_endpgm
