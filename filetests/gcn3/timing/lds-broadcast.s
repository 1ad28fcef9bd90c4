; test run
; set frontend.kind=perfect
; check cycles = 13
;
; The same dword for all lanes is read once in each half of the wave: as fast as neighbouring dwords (lds-unit).
.kernel k
.lds 8192
  s_mov_b32 m0, -1
  v_mov_b32 v3, 0
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
