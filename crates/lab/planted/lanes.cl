// Operations between the lanes of a wave, by AMD's builtins. Oclgrind knows none of them.

/* case readlane-of-inactive
   error inactive-lane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void readlane_of_inactive(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    if (i < 32) {
        int v = in[i];
        int other = __builtin_amdgcn_readlane(v, 40); // ERROR inactive-lane
        out[i] = other;
    }
}

/* case readlane-by-argument
   error inactive-lane
   amd
   grid 128 group 64
   in i32 128 iota
   out i32 128 zero
   lane i32:63
*/
kernel void readlane_by_argument(global const volatile int *in, global int *out, int lane) {
    int i = get_global_id(0);
    if (i < 100) {
        int v = in[i] * 3;
        int other = __builtin_amdgcn_readlane(v, lane); // ERROR inactive-lane
        out[i] = other;
    }
}

/* case bpermute-of-inactive
   error inactive-lane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void bpermute_of_inactive(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    if (i & 1) {
        int v = in[i];
        int other = __builtin_amdgcn_ds_bpermute(4 * (i ^ 1), v); // ERROR inactive-lane
        out[i] = other;
    }
}

/* case swizzle-of-inactive
   error inactive-lane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void swizzle_of_inactive(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    if ((i & 3) != 2) {
        int v = in[i];
        int other = __builtin_amdgcn_ds_swizzle(v, 0x041f); // ERROR inactive-lane
        out[i] = other;
    }
}

/* case dpp-of-inactive
   error inactive-lane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void dpp_of_inactive(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    if (i & 1) {
        int v = in[i];
        int other = __builtin_amdgcn_mov_dpp(v, 0xb1, 0xf, 0xf, 0); // ERROR inactive-lane
        out[i] = other;
    }
}

/* case readlane-after-return
   error inactive-lane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
   n i32:20
*/
kernel void readlane_after_return(global const volatile int *in, global int *out, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    int v = in[i] + 5;
    int last = __builtin_amdgcn_readlane(v, 31); // ERROR inactive-lane
    out[i] = last;
}

/* case firstlane-of-lane-id
   error divergent-readfirstlane
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void firstlane_of_lane_id(global const int *in, global int *out) {
    int i = get_global_id(0);
    int v = in[i];
    int uniform = __builtin_amdgcn_readfirstlane(v); // ERROR divergent-readfirstlane
    out[i] = uniform * 2;
}

/* case firstlane-as-address
   error divergent-readfirstlane
   amd
   grid 128 group 64
   index i32 128 iota
   in i32 128 iota
   out i32 128 zero
*/
kernel void firstlane_as_address(global const int *index, global const int *in, global int *out) {
    int i = get_global_id(0);
    int at = __builtin_amdgcn_readfirstlane(index[i] >> 5); // ERROR divergent-readfirstlane
    out[i] = in[at];
}

/* case firstlane-second-wave
   error divergent-readfirstlane
   amd
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
*/
kernel void firstlane_second_wave(global const int *in, global int *out) {
    int i = get_global_id(0);
    int v = max(in[i], 64);
    int uniform = __builtin_amdgcn_readfirstlane(v); // ERROR divergent-readfirstlane
    out[i] = uniform;
}

/* case readlane-active
   clean
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 uninitialised
*/
kernel void readlane_active(global const int *in, global int *out) {
    int i = get_global_id(0);
    int v = in[i];
    out[i] = __builtin_amdgcn_readlane(v, 40) + v;
}

/* case readlane-active-in-branch
   clean
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void readlane_active_in_branch(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    if (i >= 32) {
        int v = in[i];
        out[i] = __builtin_amdgcn_readlane(v, 40);
    }
}

/* case bpermute-reversed
   clean
   amd
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void bpermute_reversed(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = __builtin_amdgcn_ds_bpermute(4 * (63 - (i & 63)), in[i]);
}

/* case dpp-pairs
   clean
   amd
   grid 64 group 64
   in i32 64 iota
   out i32 64 uninitialised
*/
kernel void dpp_pairs(global const int *in, global int *out) {
    int i = get_global_id(0), v = in[i];
    out[i] = v + __builtin_amdgcn_mov_dpp(v, 0xb1, 0xf, 0xf, 0);
}

/* case firstlane-of-uniform
   clean
   amd
   grid 256 group 64
   in i32 4 iota
   out i32 256 uninitialised
*/
kernel void firstlane_of_uniform(global const int *in, global int *out) {
    int i = get_global_id(0);
    int at = __builtin_amdgcn_readfirstlane(i >> 6);
    out[i] = in[at];
}

/* case waterfall
   clean
   amd
   grid 64 group 64
   index i32 64 iota
   in i32 64 iota
   out i32 64 uninitialised
*/
kernel void waterfall(global const int *index, global const int *in, global int *out) {
    int i = get_global_id(0), wanted = index[i] >> 4, found = 0;
    bool open = true;
    while (open) {
        int one = __builtin_amdgcn_readfirstlane(wanted);
        if (one == wanted) {
            found = in[one];
            open = false;
        }
    }
    out[i] = found;
}
