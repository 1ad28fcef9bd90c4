; test run
; policy all
; grid 20x7
; group 16x6
; check waves = 5
; check wave 1 v4 = 1 1 1 1
; check wave 2 v4 = 1
; check wave 2 exec_lo = 0xffffff
; check wave 4 v3 = 4 4 4 4
; check wave 4 exec_lo = 0xf
;
; Groups of 96, 24, 16 and 4 work-items: two waves, then one each. A barrier waits for the waves there are.
; v3 is the group's work-items as its last wave counts them in x, v4 is 1 behind the barrier.
.kernel k
  s_bcnt1_i32_b64 s10, exec
  v_mov_b32 v3, s10
  s_barrier
  v_mov_b32 v4, 1
  s_endpgm
