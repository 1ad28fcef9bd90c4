; test run
; machine pws
; set divergence.mechanism=pws split.contexts=1
; check wave 0 v2 = 3 2 1 1
; check max_stack_depth = 0
; check timed_instructions = 23
;
; Lanes that leave the loop have nothing left to do but to end. They get a path at the end of each round and give its context
; back when they end, so one context is enough for all rounds. Nothing is left on the child stack.
; The loop is four instructions and a split: three rounds are 15 instructions, with the first three and the end 19.
; Two splits happen, each new path issues the branch and the end.
.kernel k
  v_sub_u32 v1, vcc, 3, v0
  v_max_i32 v1, 1, v1
  v_mov_b32 v2, 0
LOOP:
  v_add_u32 v2, vcc, 1, v2
  v_cmp_lt_u32 vcc, v2, v1
  s_and_b64 exec, exec, vcc
  split_end exec_lo, exec_hi
  s_cbranch_execnz LOOP
  s_endpgm
