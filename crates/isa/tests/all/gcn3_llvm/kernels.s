// Kernel blocks whose descriptors are compared with llvm-mc's.
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.text
.globl a
.p2align 8
.type a,@function
a:
b:
c:
  s_endpgm
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel a
  .amdhsa_next_free_vgpr 0
  .amdhsa_next_free_sgpr 0
.end_amdhsa_kernel
.p2align 6
.amdhsa_kernel b
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_kernarg_size 72
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_dispatch_id 1
  .amdhsa_user_sgpr_flat_scratch_init 1
  .amdhsa_user_sgpr_private_segment_size 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_sgpr_workgroup_info 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr 65
  .amdhsa_next_free_sgpr 90
  .amdhsa_float_round_mode_32 1
  .amdhsa_float_round_mode_16_64 2
  .amdhsa_float_denorm_mode_32 3
  .amdhsa_float_denorm_mode_16_64 1
  .amdhsa_dx10_clamp 0
  .amdhsa_ieee_mode 0
  .amdhsa_exception_fp_ieee_invalid_op 1
  .amdhsa_exception_fp_ieee_overflow 1
  .amdhsa_exception_int_div_zero 1
.end_amdhsa_kernel
.p2align 6
.amdhsa_kernel c
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 3
  .amdhsa_reserve_vcc 0
  .amdhsa_reserve_flat_scratch 0
  .amdhsa_user_sgpr_count 5
  .amdhsa_uses_dynamic_stack 1
.end_amdhsa_kernel
