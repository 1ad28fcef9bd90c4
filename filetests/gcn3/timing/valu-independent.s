; test run
; set frontend.kind=perfect units.valu.interval=1
; check cycles = 7
;
; With 64 ALUs per SIMD (PWS) a wave passes in one cycle: independent additions issue at 0, 1, 2 and 3, the last
; result is there at 7; a chain of them would need 16 (valu-chain).
.kernel k
  v_add_u32 v3, vcc, 1, v0
  v_sub_u32 v4, s[4:5], 1, v0
  v_and_b32 v5, 1, v0
  v_or_b32 v6, 1, v0
  s_endpgm
