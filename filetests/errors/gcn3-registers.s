; test error
; grid 1024
; group 1024
; check error = does not fit on a core
.kernel k

  v_mov_b32 v255, 0
  s_endpgm

; expect:
; [error]
;   × a group of 1024 threads does not fit on a core: limited by VectorRegisters
;   help: use smaller groups, less local memory, or a machine with more
