; test error
.kernel k

  split s0, s2
  s_endpgm

; expect:
; [error]
;   × split comes with the splitting mechanisms
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x11000: filetests/errors/gcn3-split.s:4: split s0, s2
;    ╭─[filetests/errors/gcn3-split.s:4:3]
;  3 │
;  4 │   split s0, s2
;    ·   ──────┬─────
;    ·         ╰── here
;  5 │   s_endpgm
;    ╰────
