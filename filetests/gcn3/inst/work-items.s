; test run
; grid 4x4x2
; group 2x2x2
; check waves = 4
; check wave 3 v0 = 0 1 0 1 0 1 0 1
; check wave 3 v1 = 0 0 1 1 0 0 1 1
; check wave 3 v2 = 0 0 0 0 1 1 1 1
; check wave 3 s2 = 1
; check wave 3 s3 = 1
; check wave 3 s4 = 0
; check wave 1 s2 = 1
; check wave 1 s3 = 0
;
; Ids of work-items in v0 v1 v2, of groups in s2 s3 s4; x counts fastest.
.kernel k

  s_endpgm
