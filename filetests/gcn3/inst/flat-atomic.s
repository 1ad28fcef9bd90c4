; test run
; arg buf:u32:4:const=7
; check x = 71 3 7 63
; check wave 0 v6 = 7 8 9 10
;
; 64 lanes add 1 to word 0 and see the value before; word 1 becomes the minimum of 3, word 3 the maximum lane number.
.kernel k
.arg buf x

  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v5, 1
  v_mov_b32 v7, 3
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s6
  v_mov_b32 v2, s7
  v_add_u32 v3, vcc, 4, v1
  v_addc_u32 v4, vcc, 0, v2, vcc
  flat_atomic_add v6, v[1:2], v5 glc
  flat_atomic_umin v[3:4], v7
  v_add_u32 v3, vcc, 12, v1
  v_addc_u32 v4, vcc, 0, v2, vcc
  flat_atomic_umax v[3:4], v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
