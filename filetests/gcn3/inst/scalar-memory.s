; test run
; arg buf:u32:8:iota
; check wave 0 s8 = 0
; check wave 0 s11 = 3
; check wave 0 s12 = 5
; check wave 0 s16 = 6
; check wave 0 s20 = 2
; check wave 0 s21 = 0
;
; Loads by pair, by register offset, and through a buffer of 12 bytes: the second word read lies outside and is 0.
.kernel k
.arg buf x

  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[8:11], s[6:7], 0x0
  s_load_dword s12, s[6:7], 0x14
  s_mov_b32 s15, 24
  s_load_dword s16, s[6:7], s15
  s_mov_b32 s24, s6
  s_mov_b32 s25, s7
  s_mov_b32 s26, 12
  s_mov_b32 s27, 0x27000
  s_buffer_load_dword s20, s[24:27], 0x8
  s_buffer_load_dword s21, s[24:27], 0xc
  s_waitcnt lgkmcnt(0)
  s_endpgm
