// Barriers that some work-items of a group never reach, and barriers in branches that all of them take.

/* case barrier-in-branch
   error barrier-divergence
   grid 128 group 64
   in i32 128 iota
   out i32 128 zero
*/
kernel void barrier_in_branch(global const int *in, global int *out) {
    local int tile[64];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    if (l < 32) {
        barrier(CLK_LOCAL_MEM_FENCE); // ERROR barrier-divergence
        out[i] = tile[l];
    }
}

/* case barrier-in-branch-of-waves
   error barrier-divergence
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
*/
kernel void barrier_in_branch_of_waves(global const int *in, global volatile int *out) {
    int l = get_local_id(0);
    out[l] = in[l];
    if (l < 64) {
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
        out[l] = 1;
    }
}

/* case barrier-in-lane-loop
   error barrier-divergence
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
*/
kernel void barrier_in_lane_loop(global const int *in, global volatile int *out) {
    int l = get_local_id(0), n = in[l] & 3;
    for (int k = 0; k < n; k++) {
        out[l] = k;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
    }
}

/* case barrier-in-wave-loop
   error barrier-divergence
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
*/
kernel void barrier_in_wave_loop(global const int *in, global volatile int *out) {
    int l = get_local_id(0), n = 2 + in[l] / 64;
    for (int k = 0; k < n; k++) {
        out[l] = k;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
    }
}

/* case barrier-on-both-sides
   error barrier-divergence
   grid 64 group 64
   out i32 64 zero
*/
kernel void barrier_on_both_sides(global volatile int *out) {
    int l = get_local_id(0);
    if (l & 1) {
        out[l] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
        out[l] = 2;
    } else {
        out[l] = 3;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
        out[l] = 5;
    }
}

/* case different-barriers-of-waves
   error barrier-divergence
   grid 128 group 128
   out i32 128 zero
*/
kernel void different_barriers_of_waves(global volatile int *out) {
    int l = get_local_id(0);
    if (l < 64) {
        out[l] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
        out[l] = 2;
    } else {
        out[l] = 3;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
        out[l] = 5;
    }
}

/* case early-return
   error barrier-divergence
   grid 64 group 64
   in i32 64 iota
   out i32 64 zero
   n i32:50
*/
kernel void early_return(global const int *in, global int *out, int n) {
    local int tile[64];
    int l = get_local_id(0);
    if (l >= n)
        return;
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); // ERROR barrier-divergence
    out[l] = tile[n - 1 - l];
}

/* case early-return-of-wave
   error barrier-divergence
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
   n i32:64
*/
kernel void early_return_of_wave(global const int *in, global int *out, int n) {
    local int tile[64];
    int l = get_local_id(0);
    if (l >= n)
        return;
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); // ERROR barrier-divergence
    out[l] = tile[n - 1 - l];
}

/* case barrier-by-data
   error barrier-divergence
   grid 128 group 64
   in i32 128 iota
   out i32 128 zero
*/
kernel void barrier_by_data(global const int *in, global volatile int *out) {
    int i = get_global_id(0);
    if (in[i] != 100) {
        out[i] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // ERROR barrier-divergence
    }
    out[i] = 2;
}

/* case barrier-by-argument
   clean
   grid 128 group 128
   in i32 128 iota
   out i32 128 uninitialised
   twice i32:1
*/
kernel void barrier_by_argument(global const int *in, global int *out, int twice) {
    local int tile[128];
    int l = get_local_id(0), v = in[l];
    if (twice) {
        tile[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += tile[127 - l];
    }
    out[l] = v;
}

/* case barrier-by-group
   clean
   grid 256 group 64
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void barrier_by_group(global const int *in, global int *out) {
    local int tile[64];
    int l = get_local_id(0), i = get_global_id(0);
    if (get_group_id(0) & 1) {
        tile[l] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = tile[63 - l];
    } else {
        out[i] = in[i];
    }
}

/* case barrier-in-uniform-loop
   clean
   grid 256 group 128
   count i32 2 ones
   out i32 256 uninitialised
*/
kernel void barrier_in_uniform_loop(global const int *count, global int *out) {
    local int tile[128];
    int l = get_local_id(0), n = count[get_group_id(0)] + 2, sum = 0;
    for (int k = 0; k < n; k++) {
        tile[l] = l + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[127 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}

/* case return-after-barrier
   clean
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
   n i32:50
*/
kernel void return_after_barrier(global const int *in, global int *out, int n) {
    local int tile[128];
    int l = get_local_id(0);
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l >= n)
        return;
    out[l] = tile[127 - l];
}

/* case condition-true-for-all
   clean
   grid 128 group 128
   in i32 128 iota
   out i32 128 zero
*/
kernel void condition_true_for_all(global const int *in, global int *out) {
    local int tile[128];
    int l = get_local_id(0);
    if (in[l] >= 0) {
        tile[l] = in[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[l] = tile[127 - l];
    }
}

/* case group-returns-early
   clean
   grid 256 group 64
   in i32 256 iota
   out i32 256 zero
*/
kernel void group_returns_early(global const int *in, global int *out) {
    local int tile[64];
    int l = get_local_id(0), i = get_global_id(0);
    if (get_group_id(0) == 2)
        return;
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - l];
}
