; test run
; check wave 0 v4 = 0 1 2 3
; check wave 1 v4 = 64 65 66 67
; grid 128
; group 128
;
; Private memory through the swizzled descriptor: s[0:3], offset of the wave in s9.
.kernel k
.amdhsa_private_segment_fixed_size 16
.amdhsa_user_sgpr_private_segment_buffer 1
.amdhsa_system_sgpr_private_segment_wavefront_offset 1

  v_mov_b32 v3, 77
  buffer_store_dword v3, off, s[0:3], s9
  buffer_store_dword v0, off, s[0:3], s9 offset:4
  s_waitcnt vmcnt(0)
  buffer_load_dword v4, off, s[0:3], s9 offset:4
  s_waitcnt vmcnt(0)
  s_endpgm
