; test run
; set frontend.kind=perfect cores=1
; grid 256
; group 256
; check cycles = 8
;
; The same without the barrier (barrier-cost): the wave that has its scalar result last ends last.
.kernel k
  s_mov_b32 s10, 1
  v_mov_b32 v1, 1
  s_endpgm
