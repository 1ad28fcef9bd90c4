// Values that nobody wrote and that decide something, and those that decide nothing.
// A marked line is the one that loads the value or the first one that uses it.

typedef struct {
    int first, second, third;
} Triple;

typedef struct {
    char small;
    int large;
} Padded;

/* case buffer-never-written
   error uninitialised
   grid 128 group 64
   in i32 128 uninitialised
   out i32 128 zero
*/
kernel void buffer_never_written(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = in[i] * 5 + 1; // ERROR uninitialised
}

/* case buffer-half-written
   error uninitialised
   grid 128 group 64
   work i32 128 uninitialised
   out i32 128 zero
*/
kernel void buffer_half_written(global int *work, global int *out) {
    int i = get_global_id(0);
    if (i % 2 == 0)
        work[i] = i;
    out[i] = work[i] + 3; // ERROR uninitialised
}

/* case local-before-write
   error uninitialised
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void local_before_write(global const int *in, global int *out) {
    local int tile[64];
    int l = get_local_id(0), i = get_global_id(0);
    if (l < 63)
        tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] * 2 + 1; // ERROR uninitialised
}

/* case local-sum-not-cleared
   error uninitialised
   grid 128 group 128
   in i32 128 iota
   out i32 1 uninitialised
*/
kernel void local_sum_not_cleared(global const int *in, global int *out) {
    local int sum;
    int l = get_local_id(0);
    atomic_add(&sum, in[l]); // ERROR uninitialised
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[0] = sum + 1; // ERROR uninitialised
}

/* case private-array-gap
   error uninitialised
   grid 64 group 64
   out i32 64 uninitialised
   n i32:16
*/
kernel void private_array_gap(global int *out, int n) {
    volatile int own[16];
    int i = get_global_id(0), sum = 0;
    for (int k = 1; k < n; k++)
        own[k] = i + k;
    for (int k = 0; k < n; k++)
        sum += own[k]; // ERROR uninitialised
    out[i] = sum; // ERROR uninitialised
}

/* case private-variable
   error uninitialised
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void private_variable(global const int *in, global int *out) {
    volatile int found;
    int i = get_global_id(0);
    if (in[i] < 100)
        found = in[i];
    out[i] = found + 7; // ERROR uninitialised
}

/* case struct-partly-written
   error uninitialised
   grid 64 group 64
   all i32 192 uninitialised
   out i32 64 uninitialised
*/
kernel void struct_partly_written(global Triple *all, global int *out) {
    int i = get_global_id(0);
    all[i].first = i;
    all[i].third = i + 2;
    out[i] = all[i].first + all[i].second; // ERROR uninitialised
}

/* case branch-on-nothing
   error uninitialised
   grid 128 group 64
   flags i32 128 uninitialised
   out i32 128 zero
*/
kernel void branch_on_nothing(global const int *flags, global volatile int *out) {
    int i = get_global_id(0);
    if (flags[i] > 3) // ERROR uninitialised
        out[i] = 1;
}

/* case loop-on-nothing
   error uninitialised
   grid 64 group 64
   count u32 1 uninitialised
   out u32 64 zero
*/
kernel void loop_on_nothing(global const uint *count, global volatile uint *out) {
    int i = get_global_id(0);
    for (uint k = 0; k < (count[0] & 7); k++) // ERROR uninitialised
        out[i] = k;
}

/* case address-from-nothing
   error uninitialised
   grid 64 group 64
   index u32 64 uninitialised
   in u32 64 iota
   out u32 64 uninitialised
*/
kernel void address_from_nothing(global const uint *index, global const uint *in, global uint *out) {
    uint i = get_global_id(0);
    uint at = index[i] & 63; // ERROR uninitialised
    out[i] = in[at]; // ERROR uninitialised
}

/* case arithmetic-then-store
   error uninitialised
   grid 64 group 64
   in f32 64 uninitialised
   scale f32:0.5
   out f32 64 uninitialised
*/
kernel void arithmetic_then_store(global const float *in, float scale, global float *out) {
    int i = get_global_id(0);
    float x = in[i]; // ERROR uninitialised
    float y = x * scale + 1.0f;
    out[i] = y; // ERROR uninitialised
}

/* case one-byte-of-word
   error uninitialised
   grid 64 group 64
   bytes u8 256 uninitialised
   out u32 64 uninitialised
*/
kernel void one_byte_of_word(global uchar *bytes, global uint *out) {
    uint i = get_global_id(0);
    bytes[4 * i] = 1;
    bytes[4 * i + 1] = 2;
    bytes[4 * i + 3] = 4;
    uint sum = (uint)bytes[4 * i] + ((volatile global uchar *)bytes)[4 * i + 2]; // ERROR uninitialised
    out[i] = sum * 3; // ERROR uninitialised
}

/* case second-group-reads
   error uninitialised
   grid 128 group 64
   work i32 64 uninitialised
   out i32 64 zero
*/
kernel void second_group_reads(global int *work, global int *out) {
    int l = get_local_id(0);
    if (get_group_id(0) == 1)
        out[l] = work[l] + 1; // ERROR uninitialised
}

/* case loaded-never-used
   clean
   grid 64 group 64
   in i32 64 uninitialised
   out i32 64 uninitialised
*/
kernel void loaded_never_used(global const volatile int *in, global int *out) {
    int i = get_global_id(0);
    int ignored = in[i];
    (void)ignored;
    out[i] = i;
}

/* case padding-copied
   clean
   grid 128 group 64
   from i32 256 uninitialised
   to i32 256 uninitialised
   out i32 128 uninitialised
*/
kernel void padding_copied(global Padded *from, global Padded *to, global int *out) {
    int i = get_global_id(0), other = i ^ 1;
    from[i].small = 1;
    from[i].large = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    to[other] = from[other];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = to[i].small + to[i].large;
}

/* case exchanged-with-nothing
   clean
   grid 64 group 64
   work i32 64 uninitialised
   out i32 64 uninitialised
*/
kernel void exchanged_with_nothing(global int *work, global int *out) {
    int i = get_global_id(0);
    atomic_xchg(&work[i], i);
    out[i] = work[i] + 1;
}

/* case masked-away
   clean
   grid 64 group 64
   bytes u8 256 uninitialised
   out u32 64 uninitialised
*/
kernel void masked_away(global uchar *bytes, global uint *out) {
    uint i = get_global_id(0);
    bytes[4 * i] = (uchar)i;
    bytes[4 * i + 1] = 2;
    uint word = ((volatile global uint *)bytes)[i];
    out[i] = (word & 0xffffu) + 1;
}

/* case selected-away
   clean
   grid 128 group 64
   in i32 128 uninitialised
   out i32 128 uninitialised
   n i32:0
*/
kernel void selected_away(global const volatile int *in, global int *out, int n) {
    int i = get_global_id(0);
    int maybe = in[i];
    out[i] = i < n ? maybe : i;
}

/* case written-by-other-wave
   clean
   grid 256 group 128
   out i32 256 uninitialised
*/
kernel void written_by_other_wave(global int *out) {
    local int tile[128];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[127 - l] * 2;
}

/* case written-on-both-sides
   clean
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void written_on_both_sides(global const int *in, global int *out) {
    volatile int found;
    int i = get_global_id(0);
    if (in[i] % 3 == 0)
        found = in[i];
    else
        found = -in[i];
    out[i] = found + 7;
}

/* case write-then-read-back
   clean
   grid 128 group 64
   work i32 128 uninitialised
   out i32 128 uninitialised
*/
kernel void write_then_read_back(global volatile int *work, global int *out) {
    int i = get_global_id(0);
    work[i] = i * 3;
    out[i] = work[i] + 1;
}

/* case zero-times-round
   clean
   grid 64 group 64
   in i32 64 uninitialised
   out i32 64 uninitialised
   n i32:0
*/
kernel void zero_times_round(global const int *in, global int *out, int n) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[i] = sum;
}
