; test run
; check wave 0 s10 = 55
; check instructions = 43
;
; A uniform loop adds 10 to 1: 2 + 10 x 4 + 1 instructions.
.kernel k

  s_mov_b32 s10, 0
  s_movk_i32 s11, 10
head:
  s_add_u32 s10, s10, s11
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 head
  s_endpgm
