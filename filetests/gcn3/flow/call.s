; test run
; check wave 0 s10 = 7
; check wave 0 s11 = 3
;
; A subroutine by address; it returns through s[14:15].
.kernel k

  s_getpc_b64 s[12:13]
  s_add_u32 s12, s12, sub@rel32@lo+4
  s_addc_u32 s13, s13, sub@rel32@hi+4
  s_swappc_b64 s[14:15], s[12:13]
  s_mov_b32 s11, 3
  s_endpgm
sub:
  s_mov_b32 s10, 7
  s_setpc_b64 s[14:15]
