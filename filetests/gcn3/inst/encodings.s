; test asm
;
; Short and long forms, literals, labels; two kernels.
.kernel first
  v_add_u32 v0, vcc, 1, v0
  v_add_u32 v0, s[6:7], v0, 1
  v_mov_b32 v1, 0x12345678
  s_cbranch_execz end
  v_mad_f32 v1, v0, -v1, |v2| clamp mul:4
  s_branch end
  .long 0xbf800003
end:
  s_endpgm
.kernel second
  ds_read2st64_b32 v[0:1], v2 offset0:1 offset1:2
  buffer_atomic_add v1, v2, s[4:7], s8 idxen glc
  s_waitcnt vmcnt(2) lgkmcnt(1)
  s_endpgm

; expect:
; [asm]
; ; filetests/gcn3/inst/encodings.s: code object version 4, gfx803
; first:
;   001000  32000081           v_add_u32_e32 v0, vcc, 1, v0
;   001004  d1190600 00010300  v_add_u32_e64 v0, s[6:7], v0, 1
;   00100c  7e0202ff 12345678  v_mov_b32_e32 v1, 0x12345678
;   001014  bf880004           s_cbranch_execz end
;   001018  d1c18401 540a0300  v_mad_f32 v1, v0, -v1, |v2| clamp mul:4
;   001020  bf820001           s_branch end
;   001024  bf800003           s_nop 3
; end:
;   001028  bf810000           s_endpgm
;
; second:
;   001100  d8700201 00000002  ds_read2st64_b32 v[0:1], v2 offset0:1 offset1:2
;   001108  e1086000 08010102  buffer_atomic_add v1, v2, s[4:7], s8 idxen glc
;   001110  bf8c0172           s_waitcnt vmcnt(2) lgkmcnt(1)
;   001114  bf810000           s_endpgm
