; test error
; set limits.cycles=500
; check error = not done after 500
.kernel k

again:
  s_branch again

; expect:
; [error untimed]
;   × not done after 500 wave-instructions
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1000: filetests/errors/gcn3-budget.s:7: s_branch again
;    ╭─[filetests/errors/gcn3-budget.s:7:3]
;  6 │ again:
;  7 │   s_branch again
;    ·   ───────┬──────
;    ·          ╰── here
;    ╰────
;   help: an endless loop? Otherwise raise the limit with --max-cycles
; [error timed]
;   × not done after 500 cycles
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1000: filetests/errors/gcn3-budget.s:7: s_branch again
;    ╭─[filetests/errors/gcn3-budget.s:7:3]
;  6 │ again:
;  7 │   s_branch again
;    ·   ───────┬──────
;    ·          ╰── here
;    ╰────
;   help: an endless loop? Otherwise raise the limit with --max-cycles
