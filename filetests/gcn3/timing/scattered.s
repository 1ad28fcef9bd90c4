; test run
; set frontend.kind=perfect memory.scalar=tcc 
; arg buf:i32:4096:iota
; check cycles = 416
;
; A line per lane: 64 lines through a cache port that takes one each cycle, 60 cycles more than 4 (coalesced).
.kernel k
.arg buf x
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_lshlrev_b32 v3, 6, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_add_u32 v1, vcc, s6, v3
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_load_dword v4, v[1:2]
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  s_endpgm
