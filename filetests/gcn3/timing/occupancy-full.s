; test run
; set frontend.kind=perfect cores=1 memory.scalar=dram core.partitions=1 core.waves=10
; grid 512
; check waves = 8
; check cycles = 117
;
; 8 waves on one SIMD, all at once: their loads overlap.
.kernel k
.amdhsa_next_free_vgpr 8
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm
