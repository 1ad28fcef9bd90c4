; test run
; policy all
; grid 256
; group 256
; check waves = 4
; check wave 0 v3 = 0 0 0 0
; check wave 1 v3 = 2 2 2 2
; check wave 2 v3 = 1 1 1 1
; check wave 3 v3 = 2 2 2 2
;
; A barrier waits for the waves that are left. Wave 0 ends at once, wave 2 ends between the two barriers, after the
; others wait at the second one: its end lets them go on. v3 counts barriers.
.kernel k
  v_mov_b32 v3, 0
  v_readfirstlane_b32 s10, v0
  s_cmp_lt_u32 s10, 64
  s_cbranch_scc1 END
  s_barrier
  v_add_u32 v3, vcc, 1, v3
  s_cmp_eq_u32 s10, 128
  s_cbranch_scc1 SLOW
  s_barrier
  v_add_u32 v3, vcc, 1, v3
END:
  s_endpgm
SLOW:
  s_movk_i32 s11, 2000
AGAIN:
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 AGAIN
  s_endpgm
