; test run
; check wave 0 v5 = 0 1 2 3
; check wave 0 v6 = 1 1 1 1
; check wave 0 v7 = 0xffffffff 0 1 2
; check wave 0 s10 = 0xffffffff
; check wave 0 s11 = 0xffffffff
;
; 64-bit addition in halves: 0xffffffff + 1 carries in every lane; a carry may go to any pair.
.kernel k

  v_mov_b32 v3, -1
  v_mov_b32 v4, 0
  v_add_u32 v5, vcc, 1, v3
  v_addc_u32 v6, vcc, 0, v4, vcc
  v_add_u32 v5, s[10:11], v5, v0
  v_add_u32 v7, s[10:11], v3, v0
  v_add_u32 v8, s[10:11], v3, 1
  s_endpgm
