; test run
; set frontend.kind=perfect cores=1
; grid 128
; group 128
; check cycles = 21
;
; The scalar comparisons are at 4 and 5, the branches at 5 and 6. Wave 1 waits at the barrier from 7 on. Wave 0 has ten more
; instructions from 6 on and ends at 16, which lets wave 1 go on at 17: its move takes four cycles.
.kernel k
  v_readfirstlane_b32 s10, v0
  s_cmp_lt_u32 s10, 64
  s_cbranch_scc1 SLOW
  s_barrier
  v_mov_b32 v1, 1
  s_endpgm
SLOW:
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_endpgm
