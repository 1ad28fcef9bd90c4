; test error
; grid 64
; arg buf:u32:64 buf:u32:64
; check error = outside every buffer
; check error = (lane 0)
;
; A million elements behind the end of a buffer of 64.
.kernel k
.arg buf x
.arg buf y

  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v1, vcc, 4000000, v1
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_add_u32 v1, vcc, s6, v1
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_store_dword v[1:2], v0
  s_endpgm

; expect:
; [error]
;   × store of 4 bytes at address 0x3f2a00: outside every buffer (the one before ends 3604992 bytes
;   │ earlier) (lane 0)
;   │   kernel k, wave 0, lanes 1111111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1024: filetests/errors/gcn3-beyond.s:19: flat_store_dword v[1:2], v0
;     ╭─[filetests/errors/gcn3-beyond.s:19:3]
;  18 │   v_addc_u32 v2, vcc, 0, v2, vcc
;  19 │   flat_store_dword v[1:2], v0
;     ·   ─────────────┬─────────────
;     ·                ╰── here
;  20 │   s_endpgm
;     ╰────
;   help: check the index against the size of the buffer
