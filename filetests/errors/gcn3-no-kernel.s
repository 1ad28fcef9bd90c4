; test error
; check error = the object has no kernels
  s_endpgm

; expect:
; [error]
;   × filetests/errors/gcn3-no-kernel.s: the object has no kernels
;   help: a kernel begins with `.kernel NAME`, or has an .amdhsa_kernel block and a label
