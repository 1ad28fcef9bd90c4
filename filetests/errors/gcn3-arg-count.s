; test error
; arg i32:1
; check error = kernel k takes 2 argument(s), 1 were given
.kernel k
.arg buf x
.arg i32 n
  s_endpgm

; expect:
; [error]
;   × kernel k takes 2 argument(s), 1 were given
;   help: buf x, i32 n
