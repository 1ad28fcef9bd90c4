; test error
.kernel k
.lds 64

  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_write_b32 v3, v0
  s_endpgm

; expect:
; [error]
;   × LDS store of 4 bytes at address 0x40: the group has 64 bytes of local memory (lane 16)
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1008: filetests/errors/gcn3-lds-bounds.s:7: ds_write_b32 v3, v0
;    ╭─[filetests/errors/gcn3-lds-bounds.s:7:3]
;  6 │   v_lshlrev_b32 v3, 2, v0
;  7 │   ds_write_b32 v3, v0
;    ·   ─────────┬─────────
;    ·            ╰── here
;  8 │   s_endpgm
;    ╰────
;   help: check the address computation; device memory can be enlarged with --set limits.memory=…
