; test error
; arg i32:1 i32:2
; check error = it is a buffer
.kernel k
.arg buf x
.arg i32 n
  s_endpgm

; expect:
; [error]
;   × argument 0 of k (x): it is a buffer
