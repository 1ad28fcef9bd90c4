; test run
; dynamic-lds 512
; check wave 0 v6 = 100 101 102 103
; check wave 0 v7 = 200 201 202 203
; check wave 0 v8 = 200 201 202 203
; check wave 0 v9 = 0xffff 0xffff
;
; Two words at once, a pair, a byte of it, and a halfword; the launch gives the local memory.
.kernel k

  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 3, v0
  v_add_u32 v4, vcc, 0x64, v0
  v_add_u32 v5, vcc, 0xc8, v0
  ds_write2_b32 v3, v4, v5 offset1:1
  s_waitcnt lgkmcnt(0)
  ds_read_b64 v[6:7], v3
  ds_read_u8 v8, v3 offset:4
  v_mov_b32 v10, -1
  s_waitcnt lgkmcnt(0)
  ds_write_b16 v3, v10 offset:2
  s_waitcnt lgkmcnt(0)
  ds_read_u16 v9, v3 offset:2
  s_waitcnt lgkmcnt(0)
  s_endpgm
