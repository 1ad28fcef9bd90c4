; test run
; policy all
; grid 128
; group 128
; check wave 0 v5 = 127 126 125 124
; check wave 1 v5 = 63 62 61 60
;
; Two waves exchange through local memory: lane i reads what lane 127 - i wrote.
.kernel k
.lds 512

  s_mov_b32 m0, -1
  v_lshlrev_b32 v3, 2, v0
  ds_write_b32 v3, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_sub_u32 v4, vcc, 0x1fc, v3
  ds_read_b32 v5, v4
  s_waitcnt lgkmcnt(0)
  s_endpgm
