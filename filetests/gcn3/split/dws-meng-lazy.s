; test run
; set divergence.mechanism=dws-meng split.contexts=1 divergence.memory=lazy cores=1
; grid 64
; arg buf:i32:16384:iota
; check wave 0 v5 = 1 257 513 769
; check wave 0 v6 = 1 257 7 7
; check timed_instructions = 19
;
; The first load brings line 0 for all lanes. The second one finds it for lane 0 and misses for the others, which read
; words 256, 512 and so on. No other wave is ready, so the load divides the wave.
; Of 15 instructions the four from the wait to the end are issued by both paths: 19.
; Masks that the paths compute apart (vcc) are put together by lanes.
.kernel k
.arg buf x
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_lshlrev_b32 v3, 10, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s7
  v_mov_b32 v1, s6
  flat_load_dword v4, v[1:2]
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  v_add_u32 v1, vcc, s6, v3
  v_addc_u32 v2, vcc, 0, v2, vcc
  flat_load_dword v4, v[1:2]
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  v_add_u32 v5, vcc, 1, v4
  v_cmp_gt_u32 vcc, 300, v5
  v_cndmask_b32 v6, 7, v5, vcc
  s_endpgm
