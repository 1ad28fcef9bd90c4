v_add_u16 v0, 0xb800, v1
v_add_u16 v0, 0x3c00, v1
v_add_u16_e64 v0, 0x3c00, v1
v_add_u16_e64 v0, 1.0, v1
v_add_u16 v0, 0xffff, v1
v_add_u16 v0, 0xfff0, v1
v_add_u16 v0, 0xffffffff, v1
v_add_f16 v0, 0x3c00, v1
v_add_f16 v0, 0xffff, v1
v_add_f16 v0, 1.5, v1
v_add_f32 v0, 1.5, v1
v_add_f32 v0, 3, v1
v_add_f32 v0, 0x3f800000, v1
v_add_f64 v[0:1], 0x3ff0000000000000, v[1:2]
v_add_f64 v[0:1], 1.0, v[1:2]
v_cvt_f32_f64 v0, 1.5
v_cvt_f32_f64 v0, 0x3ff8000000000000
v_cvt_f32_f64 v0, 0x3ff80000
v_cvt_f32_f64 v0, 0.1
v_cvt_f32_f64 v0, 3
s_mov_b32 s0, 1.5
s_mov_b64 s[0:1], 1.0
s_mov_b64 s[0:1], 1.5
s_and_b64 s[0:1], s[0:1], 0xffffffffffffffff
s_and_b64 s[0:1], s[0:1], 0x100000000
s_mov_b32 s0, 0xffffffff
s_mov_b32 s0, 4294967296
s_mov_b32 s0, -17
s_mov_b64 s[0:1], -17
v_cmp_lt_i64 vcc, -17, v[0:1]
s_movk_i32 s0, 70000
s_movk_i32 s0, -32769
s_cmpk_eq_u32 s0, -1
s_addk_i32 s0, 0xffff
s_waitcnt vmcnt(0) & lgkmcnt(0)
s_waitcnt vmcnt(0), lgkmcnt(0)
s_waitcnt vmcnt_sat(99)
v_add_u32 v0, vcc, v1, s0
v_add_u32 v0, s[2:3], v1, v2
v_add_f32 v0, v1, s0
v_add_f32 v0, s0, v1
v_add_f32 v0, v1, v2 clamp
v_cmp_eq_u32 vcc, v0, s1
v_cmp_eq_u32 s[0:1], v0, v1
v_cndmask_b32 v0, v1, v2, s[2:3]
v_cndmask_b32 v0, v1, v2, vcc
v_mov_b32 v0, v1 row_shl:1
v_mov_b32 v0, v1 row_shl:1 bound_ctrl:0
v_mov_b32 v0, v1 dst_sel:BYTE_0
v_mov_b32_sdwa v0, v1
v_cmp_eq_u32_sdwa vcc, v0, v1
v_cmp_eq_u32 vcc, v0, v1 src0_sel:BYTE_0
v_mac_f32 v0, v1, v2 mul:2
v_add_f32 v0, |v1|, v2
v_add_f32 v0, abs(v1), neg(v2)
v_mad_f32 v0, -1.0, v1, v2
v_mad_f32 v0, -(1.0), v1, v2
v_mad_f32 v0, |1.0|, v1, v2
v_add_f32 v0, -1.0, v2
s_mov_b32 s0, s[1]
s_mov_b64 s[2:3], [s4,s5]
s_mov_b64 s[2:3], vcc
s_mov_b32 m0, vcc_lo
s_mov_b64 exec, src_execz
s_load_dword s0, s[2:3], 0x10
s_load_dword s0, s[2:3], 0x100000
s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 32)
s_getreg_b32 s0, hwreg(1, 2, 3)
s_setreg_b32 0x1234, s0
v_cmp_lt_f32_e64 s[0:1], v0, v1 clamp
v_madmk_f32 v0, v1, 1.0, v2
v_madak_f32 v0, 0x40490fdb, v1, 0x40490fdb
v_madak_f32 v0, 1, v1, 2.0
v_madak_f16 v0, 1, v1, 2.0
buffer_load_dword v0, off, s[0:3], 0x1234
buffer_load_dword v0, off, s[0:3], s0 offset:0
ds_read_b32 v0, v1 offset:0
ds_read_b32 v0, v1 offset:65536
flat_load_dword v0, v[1:2] offset:0
s_endpgm 0
image_load v[0:3], v[0:1], s[0:7] dmask:0xf
image_load v[0:3], v[0:3], s[0:7] dmask:0xf unorm
v_nop
v_readlane_b32 s0, v1, 5
v_readlane_b32 s0, v1, 70
v_mul_lo_u32 v0, v1, 100
V_ADD_F32 v0, v1, v2
s_sub_u32 s0, s1, s2
v_lshlrev_b32 v0, 2, v1
v_div_scale_f32 v0, vcc, v1, v1, v2
v_readfirstlane_b32 s0, s1
v_subrev_u32 v0, vcc, 5, v1
v_cmpx_eq_u32 vcc, 5, v1
v_add_f32_e32 v0, v1, s0
v_add_f32_dpp v0, v1, v2
v_ldexp_f32 v0, v1, 5
v_mov_b32_e64 v0, 0x1234
v_cmp_lt_f32_sdwa vcc, v1, v2 src0_sel:BYTE_1 src1_sel:DWORD
s_waitcnt 0
s_waitcnt vmcnt(3)
s_waitcnt 0xf7f
s_waitcnt 0xffff
s_waitcnt vmcnt(15) expcnt(7) lgkmcnt(15)
s_waitcnt lgkmcnt(0)
s_waitcnt expcnt(2) lgkmcnt(3)
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 2)
s_sendmsg 0x12
s_sendmsg 0x23
s_sendmsg 0x15
s_sendmsg 15
s_sendmsg 0
s_sendmsg 4
s_sendmsg 31
s_sendmsg 0x1f2f
s_getreg_b32 s0, 0x1234
s_getreg_b32 s0, 0xf801
s_getreg_b32 s0, hwreg(30)
s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s53
s_set_gpr_idx_on s0, 0
s_set_gpr_idx_on s0, 15
s_set_gpr_idx_on s0, 0x1f
s_set_gpr_idx_mode 0
s_set_gpr_idx_mode 0x11
s_trap 1
s_branch -1
s_cbranch_scc0 65535
s_nop 0xffff
s_sleep 17
s_endpgm
s_endpgm 3
s_barrier
s_movk_i32 s0, -1
s_movk_i32 s0, 5
s_movk_i32 s0, 0x8000
s_cmpk_lt_u32 s0, 0xffff
s_cmpk_lt_i32 s0, -1
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 0xffffffff
s_cbranch_i_fork s[0:1], 4
s_mov_b32 s0, 0x3f000000
s_mov_b32 s0, 0.15915494
s_mov_b64 s[0:1], 0.15915494
s_mov_b32 s0, 0.5
s_mov_b64 s[0:1], 0x12345678
s_mov_b64 s[0:1], 0xffffffff80000000
s_mov_b64 s[0:1], 0x80000000
v_add_f16 v0, 0.5, v1
v_add_f16 v0, 0x1234, v1
v_add_u16 v0, 0.5, v1
v_add_u16 v0, 0x1234, v1
v_add_u16 v0, -1, v1
v_rcp_f64 v[0:1], 0x40450000
v_rcp_f64 v[0:1], 0.15915494309189532
v_cvt_f64_f32 v[0:1], 3.1
v_cmp_lt_i64 vcc, 0x12345678, v[0:1]
v_rcp_f64 v[0:1], src_scc
v_mov_b32 v0, src_vccz
v_mov_b32 v0, lds_direct
v_add_f32_sdwa v0, -v1, |v2| clamp dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD
v_add_u32_sdwa v0, vcc, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
v_cndmask_b32_sdwa v0, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
v_add_f32_dpp v0, -v1, |v2| row_shl:1 row_mask:0x3 bank_mask:0xf bound_ctrl:0
v_mov_b32_dpp v0, v1 wave_shl:1 row_mask:0xf bank_mask:0x1
v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xf bank_mask:0x1
v_mov_b32_dpp v0, v1 row_mirror row_mask:0xf bank_mask:0x1
v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0x1
v_mov_b32_dpp v0, v1 wave_ror:1 row_mask:0xf bank_mask:0x1
v_mov_b32_dpp v0, v1 row_ror:12 row_mask:0xf bank_mask:0x1
v_cndmask_b32_dpp v0, v1, v2, vcc row_ror:12 row_mask:0xf bank_mask:0x1
v_mad_f32 v0, -|v1|, v2, s3 clamp mul:2
v_mad_f32 v0, v1, -1, -1.0 mul:4
v_add_f32_e64 v0, -1, v1 div:2
v_mad_f32 v0, v1, neg(1), -v3
v_mad_f32 v0, v1, neg(1.0), |1.0|
s_load_dword s0, s[2:3], s4 glc
s_load_dword s0, s[2:3], 0xfffff
s_dcache_inv
s_memtime s[0:1]
s_store_dword s0, s[2:3], m0
flat_load_dword v0, v[1:2] glc slc tfe
flat_load_dword v0, v[1:2] glc slc
buffer_load_dword v0, off, s[0:3], 0 offset:4095 glc slc tfe
buffer_load_dword v[0:1], v[0:1], s[0:3], s4 idxen offen offset:4095 glc slc tfe
buffer_load_dword off, s[0:3], m0 lds
buffer_load_dword v1, s[0:3], 1.0 offen lds
buffer_atomic_cmpswap v[0:1], v0, s[0:3], 0 idxen glc
image_sample_lz v[11:14], v0, s[8:15], s[16:19] dmask:0xf unorm glc slc tfe lwe da
image_load v[0:3], v[0:3], s[0:7] dmask:0xf unorm glc slc r128 tfe lwe da d16
ds_swizzle_b32 v0, v1 offset:0x8055
ds_swizzle_b32 v0, v1 offset:0x80e4
ds_swizzle_b32 v0, v1 offset:0x1f
ds_swizzle_b32 v0, v1 offset:0x3c1f
ds_swizzle_b32 v0, v1 offset:0x401f
ds_swizzle_b32 v0, v1 offset:0x7fff
ds_swizzle_b32 v0, v1 offset:0xffff
ds_swizzle_b32 v0, v1 offset:0x001e
ds_swizzle_b32 v0, v1 offset:0x0018
ds_swizzle_b32 v0, v1
ds_add_u32 v0, v1 offset:65535 gds
ds_read2_b32 v[0:1], v2 offset1:3 gds
v_cvt_pk_u8_f32 v0, -v1, -v2, v3
v_ldexp_f32 v0, v1, -v2
s_mov_b64 tba, tma
s_mov_b64 s[0:1], ttmp[4:5]
s_mov_b32 s0, ttmp11
s_mov_b32 s0, src_lds_direct
s_icache_inv
s_set_gpr_idx_off
s_ttracedata
s_endpgm_saved
v_add_f16 v0, -100, v1
v_add_u16 v0, -100, v1
v_add_f32 v0, 0.0, v1
v_add_f32 v0, -0.0, v1
v_add_f32 v0, 1e10, v1
v_cvt_f32_f64 v0, 0.0
v_cvt_f32_f64 v0, -4.0
v_rcp_f64 v[0:1], 1e300
v_add_f16 v0, 0.1, v1
v_madmk_f16 v0, v1, 0.1, v2
s_add_u32 s0, 0x12345, 0x12345
s_add_u32 s0, 0x12345, 0x12346
s_mov_b32 s102, s0
s_mov_b64 s[1:2], s[4:5]
s_load_dwordx4 s[2:5], s[4:5], 0x0
s_load_dwordx4 s[4:7], s[4:5], 0x0
v_cmp_class_f32 vcc, v0, v1
v_cmp_class_f32 vcc, v0, s1
v_div_fmas_f32 v0, v1, v2, v3
v_div_fmas_f32 v0, s1, v2, v3
v_fma_f32 v0, s1, s2, v3
v_fma_f32 v0, s1, s1, v3
v_fma_f32 v0, s1, 1.0, 2
v_add_u32 v0, vcc, 0x12345, v1
v_add_u32 v0, s[0:1], 0x12345, v1
v_addc_u32 v0, vcc, v1, v2, vcc
v_addc_u32 v0, vcc, v1, v2, s[0:1]
v_subrev_u32 v0, vcc, s0, v1
v_mul_f32 v0, v1, -v2
v_mul_f32_e32 v0, -v1, v2
v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]
v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5] clamp
v_lshlrev_b64 v[0:1], 3, v[2:3]
v_mov_b32 v0, v1 quad_perm:[0,0,0,0] row_mask:0xa
v_mov_b32 v0, v1 quad_perm:[0,0,0,4]
v_add_f32 v0, v1, v2 row_shr:16
v_add_f32 v0, v1, v2 row_shr:0
v_add_f32_sdwa v0, v1, v2 src0_sel:BYTE_1
v_add_u32_sdwa v0, vcc, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_SEXT
v_and_b32_sdwa v0, sext(v1), v2 src0_sel:BYTE_1
v_and_b32_sdwa v0, -v1, v2 src0_sel:BYTE_1
flat_atomic_add v[0:1], v2
flat_atomic_add v3, v[0:1], v2 glc
flat_atomic_add v3, v[0:1], v2
flat_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7] glc slc
ds_write2_b64 v0, v[1:2], v[3:4] offset0:1 offset1:255
ds_gws_barrier v0 gds
ds_gws_barrier v0
ds_append v0 offset:4
buffer_store_byte v0, v1, s[4:7], 0 offen
buffer_store_dwordx4 v[0:3], off, s[4:7], s2 offset:16 glc
buffer_atomic_add v0, off, s[4:7], 0
buffer_load_dword v0, v[1:2], s[4:7], 0 idxen offen
buffer_load_dword v0, v1, s[4:7], 0 idxen offen
buffer_load_dword v0, v1, s[4:7], 0
buffer_load_dword v0, off, s[5:8], 0
image_sample_lz v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf
image_sample v0, v[0:1], s[0:7], s[8:11] dmask:0x1
image_sample v0, v[0:1], s[0:7], s[8:11]
image_store v[0:3], v[4:7], s[0:7] dmask:0xf unorm glc
s_waitcnt vmcnt(16)
s_waitcnt foo(1)
s_sendmsg sendmsg(MSG_GS, GS_OP_NOP)
s_sendmsg sendmsg(MSG_INTERRUPT, 1)
s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)
s_getreg_b32 s0, hwreg(HW_REG_FOO)
s_getreg_b32 s0, hwreg(64)
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0x3
s_cmp_eq_u64 s[0:1], 5
s_bitcmp1_b64 s[0:1], s2
s_getpc_b64 s[0:1]
s_swappc_b64 s[30:31], s[4:5]
s_setpc_b64 s[30:31]
s_cmovk_i32 s0, 0x7fff
s_mulk_i32 s0, -5
s_cmpk_ge_u32 s0, 65535
s_movrels_b32 s0, s1
s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)
v_frobnicate v0
s_add_u32 s0, s1
s_add_u32 s0, s1, s2, s3
s_add_u32 s0, s1, v2
v_readlane_b32 v0, v1, s2
v_readlane_b32 s0, v1, m0
v_writelane_b32 v0, s1, m0
v_writelane_b32 v0, s1, s2
v_writelane_b32 v0, 5, 6
s_mov_b64 s[0:1], 0x10000000000000000
s_mov_b64 s[0:1], 0xffffffff7fffffff
s_mov_b64 s[0:1], -2147483648
s_mov_b64 s[0:1], -2147483649
v_mad_f32 v0, v1, v2, v3 mul:3
v_mad_f32 v0, v1, v2, v3 mul:1
v_mad_f32 v0, v1, v2, v3 div:4
v_mov_b32_dpp v0, v1 row_bcast:16 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_shl:2
v_mov_b32 v0, v1 row_newbcast:1
