; test error
; check error = `bufer` is not a type of argument
.kernel k

.arg bufer x
  s_endpgm

; expect:
; [error]
;   × 1 error in filetests/errors/gcn3-arg-type.s
;
; Error:
;   × `bufer` is not a type of argument
;    ╭─[filetests/errors/gcn3-arg-type.s:5:6]
;  4 │
;  5 │ .arg bufer x
;    ·      ──┬──
;    ·        ╰── here
;  6 │   s_endpgm
;    ╰────
;   help: buf, local, or a number: i8 to i64, u8 to u64, f16, f32, f64
