; test run
; arg buf:u32:64:const=0x8081
; check wave 0 v4 = 0x81
; check wave 0 v5 = -127
; check wave 0 v6 = 0x8081
; check wave 0 v7 = -32639
; check x:4 = 0x00ff8081 0x00ff8081 0x00ff8081 0x00ff8081
;
; Bytes and halfwords, with and without sign.
.kernel k
.arg buf x

  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_lshl_b32 s2, s2, 6
  v_add_u32 v3, vcc, s2, v0
  v_lshlrev_b32 v3, 2, v3
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_add_u32 v1, vcc, s6, v3
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_load_ubyte v4, v[1:2]
  flat_load_sbyte v5, v[1:2]
  flat_load_ushort v6, v[1:2]
  flat_load_sshort v7, v[1:2]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v1, vcc, 2, v1
  v_addc_u32 v2, vcc, 0, v2, vcc
  v_mov_b32 v8, -1
  flat_store_byte v[1:2], v8
  s_endpgm
