// Accesses to one place that nothing puts in order, at least one of which writes, and those that are in order.
// Both accesses of a race are marked: either may be the one that is reported.

/* case all-write-one
   error race
   grid 64 group 64
   out i32 1 zero
*/
kernel void all_write_one(global int *out) {
    out[0] = get_global_id(0); // ERROR race
}

/* case all-write-the-same
   error race
   grid 256 group 64
   in i32 256 iota
   out i32 1 zero
*/
kernel void all_write_the_same(global const int *in, global int *out) {
    if (in[get_global_id(0)] >= 0)
        out[0] = 1; // ERROR race
}

/* case lanes-share-halves
   error race
   grid 64 group 64
   out i32 32 zero
*/
kernel void lanes_share_halves(global int *out) {
    int i = get_global_id(0);
    out[i / 2] = i; // ERROR race
}

/* case neighbour-in-wave
   error race
   grid 64 group 64
   work i32 65 iota
   out i32 64 uninitialised
*/
kernel void neighbour_in_wave(global int *work, global int *out) {
    int i = get_global_id(0);
    work[i] = i * 2; // ERROR race
    out[i] = work[i ^ 1]; // ERROR race
}

/* case waves-of-group
   error race
   grid 128 group 128
   work i32 128 iota
   out i32 128 uninitialised
*/
kernel void waves_of_group(global int *work, global int *out) {
    int l = get_local_id(0);
    work[l] = l * 2; // ERROR race
    out[l] = work[127 - l]; // ERROR race
}

/* case waves-write-one
   error race
   grid 256 group 256
   out i32 64 zero
*/
kernel void waves_write_one(global int *out) {
    int l = get_local_id(0);
    out[l % 64] = l; // ERROR race
}

/* case groups-write-one
   error race
   grid 128 group 64
   out i32 64 zero
*/
kernel void groups_write_one(global int *out) {
    out[get_local_id(0)] = get_group_id(0); // ERROR race
}

/* case groups-read-write
   error race
   grid 256 group 64
   work i32 320 iota
*/
kernel void groups_read_write(global int *work) {
    int i = get_global_id(0);
    work[i] = work[i + 64] + 1; // ERROR race
}

/* case groups-despite-barrier
   error race
   grid 128 group 64
   work i32 128 iota
   out i32 128 uninitialised
*/
kernel void groups_despite_barrier(global int *work, global int *out) {
    int i = get_global_id(0);
    work[i] = i * 2; // ERROR race
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = work[127 - i]; // ERROR race
}

/* case local-no-barrier
   error race
   grid 256 group 128
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void local_no_barrier(global const int *in, global int *out) {
    local int tile[128];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i]; // ERROR race
    out[i] = tile[127 - l]; // ERROR race
}

/* case local-write-write
   error race
   grid 128 group 128
   out i32 128 uninitialised
*/
kernel void local_write_write(global int *out) {
    local int found;
    int l = get_local_id(0);
    if (l % 64 == 5)
        found = l; // ERROR race
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = found;
}

/* case reduction-barrier-missing
   error race
   grid 512 group 256
   in i32 512 iota
   out i32 2 uninitialised
*/
kernel void reduction_barrier_missing(global const int *in, global int *out) {
    local int part[256];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s]; // ERROR race
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

/* case loop-second-barrier-missing
   error race
   grid 128 group 128
   in i32 512 iota
   out i32 128 uninitialised
*/
kernel void loop_second_barrier_missing(global const int *in, global int *out) {
    local int tile[128];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[l] = in[128 * k + l]; // ERROR race
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[127 - l]; // ERROR race
    }
    out[l] = sum;
}

/* case atomic-and-plain
   error race
   grid 128 group 64
   count i32 1 zero
   out i32 128 uninitialised
*/
kernel void atomic_and_plain(global int *count, global int *out) {
    int i = get_global_id(0);
    if (i < 64)
        atomic_inc(count); // ERROR race
    else
        out[i - 64] = *count; // ERROR race
}

/* case atomic-then-plain-write
   error race
   grid 128 group 128
   out i32 1 uninitialised
*/
kernel void atomic_then_plain_write(global int *out) {
    local int sum;
    int l = get_local_id(0);
    if (l == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, l); // ERROR race
    if (l == 127)
        sum = 1000; // ERROR race
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[0] = sum;
}

/* case wrong-fence-flag
   error race
   known the compiler makes the same barrier of both flags
   grid 128 group 128
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void wrong_fence_flag(global const int *in, global int *out) {
    local int tile[128];
    int l = get_local_id(0);
    tile[l] = in[l]; // ERROR race
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[l] = tile[127 - l]; // ERROR race
}

/* case flag-without-atomic
   error race
   grid 128 group 128
   data i32 1 zero
   flag i32 1 zero
   out i32 1 zero
*/
kernel void flag_without_atomic(global int *data, global int *flag, global int *out) {
    int l = get_local_id(0);
    if (l == 0) {
        atomic_xchg(data, 42);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        flag[0] = 1; // ERROR race
    }
    if (l == 64)
        out[0] = flag[0]; // ERROR race
}

/* case counter-lost-updates
   error race
   grid 256 group 64
   count i32 1 zero
*/
kernel void counter_lost_updates(global int *count) {
    if (get_local_id(0) == 0)
        count[0] += 1; // ERROR race
}

/* case in-place-shift
   error race
   grid 128 group 128
   work i32 129 iota
*/
kernel void in_place_shift(global int *work) {
    int l = get_local_id(0);
    int next = work[l + 1]; // ERROR race
    work[l] = next; // ERROR race
}

/* case byte-race
   error race
   grid 128 group 64
   out u8 64 zero
*/
kernel void byte_race(global uchar *out) {
    int i = get_global_id(0);
    out[i % 64] = (uchar)i; // ERROR race
}

/* case overlapping-vectors
   error race
   grid 64 group 64
   out i32 260 zero
*/
kernel void overlapping_vectors(global int *out) {
    int i = get_global_id(0);
    vstore4((int4)(i), 0, out + 3 * i); // ERROR race
}

/* case reduction
   clean
   grid 512 group 256
   in i32 512 iota
   out i32 2 uninitialised
*/
kernel void reduction(global const int *in, global int *out) {
    local int part[256];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

/* case reduction-one-wave
   clean
   grid 256 group 64
   in i32 256 iota
   out i32 4 uninitialised
*/
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void reduction_one_wave(global const int *in, global int *out) {
    local int part[64];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 32; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

/* case histogram
   clean
   grid 512 group 128
   in u32 512 random=3
   bins u32 16 zero
*/
kernel void histogram(global const uint *in, global uint *bins) {
    local uint own[16];
    int l = get_local_id(0);
    if (l < 16)
        own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&own[in[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&bins[l], own[l]);
}

/* case flag-with-fence
   clean
   grid 128 group 128
   data i32 1 zero
   flag i32 1 zero
   out i32 1 zero
*/
kernel void flag_with_fence(global int *data, global int *flag, global int *out) {
    int l = get_local_id(0);
    if (l == 0) {
        data[0] = 42;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(flag, 1);
    }
    if (l == 64) {
        int set = atomic_cmpxchg(flag, 1, 2);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        if (set == 1)
            out[0] = data[0];
    }
}

/* case disjoint-bytes
   clean
   grid 256 group 64
   out u8 256 uninitialised
*/
kernel void disjoint_bytes(global uchar *out) {
    int i = get_global_id(0);
    out[i] = (uchar)(i * 7);
}

/* case disjoint-bytes-of-groups
   clean
   grid 256 group 64
   out u8 256 uninitialised
*/
kernel void disjoint_bytes_of_groups(global uchar *out) {
    int g = get_group_id(0), l = get_local_id(0);
    out[4 * l + g] = (uchar)g;
}

/* case local-reused
   clean
   grid 128 group 128
   in i32 512 iota
   out i32 128 uninitialised
*/
kernel void local_reused(global const int *in, global int *out) {
    local int tile[128];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[l] = in[128 * k + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[127 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}

/* case double-buffered
   clean
   grid 128 group 128
   in i32 512 iota
   out i32 128 uninitialised
*/
kernel void double_buffered(global const int *in, global int *out) {
    local int tile[2][128];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[k & 1][l] = in[128 * k + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[k & 1][127 - l];
    }
    out[l] = sum;
}

/* case global-between-barriers
   clean
   grid 256 group 128
   work i32 256 uninitialised
   out i32 256 uninitialised
*/
kernel void global_between_barriers(global int *work, global int *out) {
    int l = get_local_id(0), base = get_group_id(0) * 128;
    work[base + l] = l;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[base + l] = work[base + 127 - l];
}

/* case transpose
   clean
   grid 32,32 group 16,16
   in i32 1024 iota
   out i32 1024 uninitialised
*/
kernel void transpose(global const int *in, global int *out) {
    local int tile[16][17];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * 32 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int column = get_group_id(1) * 16 + x, row = get_group_id(0) * 16 + y;
    out[row * 32 + column] = tile[x][y];
}

/* case everyone-reads-one
   clean
   grid 256 group 64
   in i32 4 iota
   out i32 256 uninitialised
*/
kernel void everyone_reads_one(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = in[0] + in[3] + i;
}

/* case atomic-slots
   clean
   grid 256 group 64
   next i32 1 zero
   out i32 256 zero
*/
kernel void atomic_slots(global int *next, global int *out) {
    int at = atomic_inc(next);
    out[at] = get_global_id(0);
}

/* case read-by-adding-zero
   clean
   known the compiler makes a plain load of it
   grid 128 group 64
   count i32 1 zero
   out i32 64 uninitialised
*/
kernel void read_by_adding_zero(global int *count, global int *out) {
    int i = get_global_id(0);
    if (i < 64)
        atomic_inc(count);
    else
        out[i - 64] = atomic_add(count, 0);
}

/* case last-group-sums
   clean
   grid 256 group 64
   in i32 256 iota
   part i32 4 zero
   done i32 1 zero
   out i32 1 zero
*/
kernel void last_group_sums(global const int *in, global int *part, global int *done, global int *out) {
    local int sum;
    int l = get_local_id(0);
    if (l == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        atomic_xchg(&part[get_group_id(0)], sum);
        if (atomic_inc(done) == 3) {
            int all = 0;
            for (int g = 0; g < 4; g++)
                all += atomic_xchg(&part[g], 0);
            out[0] = all;
        }
    }
}
