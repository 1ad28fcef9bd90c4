; test run
; policy all
; grid 100
; group 64
; arg buf:u32:2
; check waves = 2
; check wave 1 exec_lo = 0xffffffff
; check wave 1 exec_hi = 0xf
; check x = 64 36
;
; The second group has 36 work-items, one wave with 36 lanes. Every lane adds 1 to the word of its group.
.kernel k
.arg buf x
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_lshl_b32 s2, s2, 2
  v_mov_b32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_add_u32 s6, s6, s2
  s_addc_u32 s7, s7, 0
  v_mov_b32 v1, s6
  v_mov_b32 v2, s7
  flat_atomic_add v[1:2], v3
  s_endpgm
