; test run
; machine pws
; set divergence.mechanism=pws split.contexts=1
; check wave 0 v2 = 10 10 10 21
; check instructions = 14
; check waves = 1
;
; Both sides end with the kernel: no mask is restored and there is no merge. Each path runs its own side and ends by itself.
; The first path issues nine of the ten instructions, the second one all but the first four and the first side: five.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split_end exec_lo, exec_hi
  s_cbranch_execz ELSE
  v_mov_b32 v2, 10
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  v_mov_b32 v2, 21
END:
  s_endpgm
