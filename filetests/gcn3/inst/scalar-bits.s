; test run
; check wave 0 s11 = 15
; check wave 0 s12 = 4
; check wave 0 s13 = 24
; check wave 0 s14 = 0x0f000000
; check wave 0 s15 = 0xf00
; check wave 0 s16 = -1
; check wave 0 s17 = 64
; check wave 0 s18 = 0xffffff0f
; check wave 0 s19 = 0xc0
; check wave 0 s20 = 0
; check wave 0 s21 = 2
.kernel k

  s_mov_b32 s10, 0xf0
  s_bfe_u32 s11, s10, 0x40004
  s_ff1_i32_b32 s12, s10
  s_flbit_i32_b32 s13, s10
  s_brev_b32 s14, s10
  s_bfm_b32 s15, 4, 8
  s_ashr_i32 s16, 0x80000000, 31
  s_bcnt1_i32_b64 s17, exec
  s_not_b32 s18, s10
  s_andn2_b32 s19, s10, 0x30
  s_lshl_b64 s[20:21], 1, 33
  s_endpgm
