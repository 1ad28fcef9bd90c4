; test run
; policy all
; grid 128
; arg buf:i32:128:iota i32:5
; check x:4 = 5 6 7 8
; check waves = 2
;
; x[i] += n over two groups.
.kernel k
.arg buf x
.arg i32 n

  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_lshl_b32 s2, s2, 6
  v_add_u32 v3, vcc, s2, v0
  v_lshlrev_b32 v3, 2, v3
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_add_u32 v1, vcc, s6, v3
  v_addc_u32 v2, vcc, 0, v2, vcc
  s_load_dword s8, s[0:1], 0x8
  flat_load_dword v4, v[1:2]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v4, vcc, s8, v4
  flat_store_dword v[1:2], v4
  s_endpgm
