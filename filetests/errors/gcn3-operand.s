; test error
.kernel k

  s_mov_b32 v0, 1
  v_add_u32 v0, vcc, s1, s2
  ds_read_b32 v0, v1 offset:65536
  s_endpgm

; expect:
; [error]
;   × 3 errors in filetests/errors/gcn3-operand.s
;
; Error:
;   × a vector register cannot stand here
;    ╭─[filetests/errors/gcn3-operand.s:4:13]
;  3 │
;  4 │   s_mov_b32 v0, 1
;    ·             ─┬
;    ·              ╰── here
;  5 │   v_add_u32 v0, vcc, s1, s2
;    ╰────
;
; Error:
;   × a vector instruction can read only one scalar register or literal
;    ╭─[filetests/errors/gcn3-operand.s:5:13]
;  4 │   s_mov_b32 v0, 1
;  5 │   v_add_u32 v0, vcc, s1, s2
;    ·             ───────┬───────
;    ·                    ╰── too many scalars
;  6 │   ds_read_b32 v0, v1 offset:65536
;    ╰────
;   help: copy one of them to a vector register with v_mov_b32
;
; Error:
;   × offset must be 0 to 65535
;    ╭─[filetests/errors/gcn3-operand.s:6:22]
;  5 │   v_add_u32 v0, vcc, s1, s2
;  6 │   ds_read_b32 v0, v1 offset:65536
;    ·                      ──────┬─────
;    ·                            ╰── here
;  7 │   s_endpgm
;    ╰────
