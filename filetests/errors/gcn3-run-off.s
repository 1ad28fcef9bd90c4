; test error
.kernel k

  v_mov_b32 v1, 16

; expect:
; [error]
;   × the program goes on at address 0x1004, where there is no instruction
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1000: filetests/errors/gcn3-run-off.s:4: v_mov_b32_e32 v1, 16
;    ╭─[filetests/errors/gcn3-run-off.s:4:3]
;  3 │
;  4 │   v_mov_b32 v1, 16
;    ·   ────────┬───────
;    ·           ╰── here
;    ╰────
;   help: a jump into data, an overwritten return address, or the end of the program without ret or
;         halt
