; test run
; check wave 0 s10 = 9
;
; A full .amdhsa_kernel block, as compilers write it: here only the group id in x, in s0.
.text
k:
  s_mov_b32 s10, 9
  s_endpgm
.section .rodata,#alloc
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 11
  .amdhsa_system_sgpr_workgroup_id_x 1
.end_amdhsa_kernel
