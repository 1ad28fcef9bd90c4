; test run
; grid 256
; group 256
; arg buf:u32:4
; check x = 192 0 0 0
;
; Behind a barrier the waves go on together, in order: of four stores to one word the last wave's stays, untimed too.
.kernel k
.arg buf x

  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_readfirstlane_b32 s10, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s4
  v_mov_b32 v2, s5
  v_mov_b32 v3, s10
  s_barrier
  flat_store_dword v[1:2], v3
  s_endpgm
