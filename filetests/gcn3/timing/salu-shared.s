; test run
; set frontend.kind=perfect cores=1
; grid 256
; check cycles = 9
;
; One scalar unit per core: 8 moves of 4 waves take cycles 0 to 7, the last wave ends in cycle 8.
.kernel k
  s_mov_b32 s10, 1
  s_mov_b32 s11, 1
  s_endpgm
