; test error
; check error = a null pointer?
; check error = kernel k
.kernel k

  v_mov_b32 v1, 16
  v_mov_b32 v2, 0
  flat_load_dword v3, v[1:2]
  s_endpgm

; expect:
; [error]
;   × load of 4 bytes at address 0x10: nothing is below 0x10000: a null pointer? (lane 0)
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1008: filetests/errors/gcn3-null.s:8: flat_load_dword v3, v[1:2]
;    ╭─[filetests/errors/gcn3-null.s:8:3]
;  7 │   v_mov_b32 v2, 0
;  8 │   flat_load_dword v3, v[1:2]
;    ·   ─────────────┬────────────
;    ·                ╰── here
;  9 │   s_endpgm
;    ╰────
;   help: check the address computation; device memory can be enlarged with --set limits.memory=…
