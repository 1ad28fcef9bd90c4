; test error
; grid 2048
; group 2048
; check error = a group of 2048 work-items; the limit is 1024
.kernel k

  s_endpgm

; expect:
; [error]
;   × launch of k: a group of 2048 work-items; the limit is 1024
