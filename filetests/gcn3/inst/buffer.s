; test run
; arg buf:u32:64:iota
; check wave 0 v4 = 0 1 2 3 0 0
; check wave 0 v5 = 1 2 3 0 0
; check x:6 = 50 51 52 53 4 5
;
; A buffer of 16 bytes: loads beyond it give 0, stores do nothing.
.kernel k
.arg buf x

  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_mov_b32 s10, 16
  s_mov_b32 s11, 0x27000
  v_lshlrev_b32 v3, 2, v0
  s_waitcnt lgkmcnt(0)
  buffer_load_dword v4, v3, s[8:11], 0 offen
  buffer_load_dword v5, v3, s[8:11], 0 offen offset:4
  v_add_u32 v6, vcc, 50, v0
  s_waitcnt vmcnt(0)
  buffer_store_dword v6, v3, s[8:11], 0 offen
  s_endpgm
