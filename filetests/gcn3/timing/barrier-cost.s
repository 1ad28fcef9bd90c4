; test run
; set frontend.kind=perfect cores=1
; grid 256
; group 256
; check cycles = 9
;
; Four waves share the scalar unit: they reach the barrier at 1, 2, 3 and 4, the last one lets all go on at 5; the
; moves run on four SIMDs side by side.
.kernel k
  s_mov_b32 s10, 1
  s_barrier
  v_mov_b32 v1, 1
  s_endpgm
