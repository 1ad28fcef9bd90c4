; test run
; set frontend.kind=perfect
; check cycles = 5
;
; The scalar unit has a latency of 1: a chain issues in every cycle, the end follows at 4.
.kernel k
  s_mov_b32 s10, 1
  s_add_u32 s10, s10, 1
  s_add_u32 s10, s10, 1
  s_add_u32 s10, s10, 1
  s_endpgm
