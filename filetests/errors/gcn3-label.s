; test error
; check error = label `ende` is not defined
.kernel k

  s_branch ende
end:
  s_endpgm

; expect:
; [error]
;   × 1 error in filetests/errors/gcn3-label.s
;
; Error:
;   × label `ende` is not defined
;    ╭─[filetests/errors/gcn3-label.s:5:12]
;  4 │
;  5 │   s_branch ende
;    ·            ──┬─
;    ·              ╰── here
;  6 │ end:
;    ╰────
;   help: did you mean `end`?
