; test error
; check error = disagree about s10: both wrote it
; set divergence.mechanism=pws split.contexts=1
;
; Both sides write s10 and it is read after the merge.
.kernel k
  v_cmp_gt_u32 vcc, 3, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  split exec_lo, exec_hi
  s_cbranch_execz ELSE
  s_mov_b32 s10, 7
ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
  s_mov_b32 s10, 8
END:
  s_or_b64 exec, exec, s[6:7]
  merge
  v_mov_b32 v3, s10
  s_endpgm

; expect:
; [error]
;   × paths 0 and 1 of the wave merge, but disagree about s10: both wrote it, it is read later and
;   │ is no lane mask
;   │   kernel k, wave 0, lanes 0001111111111111111111111111111111111111111111111111111111111111, pc
;   │ 0x1028: filetests/errors/gcn3-merge-scalar.s:19: merge
;     ╭─[filetests/errors/gcn3-merge-scalar.s:19:3]
;  18 │   s_or_b64 exec, exec, s[6:7]
;  19 │   merge
;     ·   ──┬──
;     ·     ╰── here
;  20 │   v_mov_b32 v3, s10
;     ╰────
;   help: a scalar that differs between the sides of a split must not be read after the merge
