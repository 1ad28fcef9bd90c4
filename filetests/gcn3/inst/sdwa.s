; test run
; check wave 0 v4 = 51 52 53 54
; check wave 0 v5 = 0x33440000
; check wave 0 v6 = 0x11220000
; check wave 0 v7 = -1
;
; Bytes and words of operands and results; a signed byte is extended.
.kernel k

  v_mov_b32 v3, 0x11223344
  v_add_u32_sdwa v4, vcc, v3, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
  v_mov_b32_sdwa v5, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0
  v_mov_b32 v6, v3
  v_mov_b32 v8, 0
  v_mov_b32_sdwa v6, v8 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
  v_mov_b32 v9, 0xff
  v_mov_b32_sdwa v7, sext(v9) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0
  s_endpgm
