; test run
; set frontend.kind=perfect cores=1 memory.scalar=dram core.partitions=1 core.waves=10
; grid 512
; check waves = 8
; check cycles = 420
;
; 128 vector registers each: two waves fit beside each other, so there are four rounds of a load.
.kernel k
.amdhsa_next_free_vgpr 128
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm
