; test error
; check error = did you mean `v_add_u32`
.kernel k

  v_addu32 v0, vcc, 1, v0
  s_endpgm

; expect:
; [error]
;   × 1 error in filetests/errors/gcn3-mnemonic.s
;
; Error:
;   × unknown instruction `v_addu32`
;    ╭─[filetests/errors/gcn3-mnemonic.s:5:3]
;  4 │
;  5 │   v_addu32 v0, vcc, 1, v0
;    ·   ────┬───
;    ·       ╰── not an instruction of gfx803
;  6 │   s_endpgm
;    ╰────
;   help: did you mean `v_add_u32`?
