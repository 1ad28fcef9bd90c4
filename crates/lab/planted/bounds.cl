// Accesses outside of what the kernel was given, and accesses that only look so.
// The comment before a kernel is its case: name, planted kind or `clean`, geometry, arguments in order.

/* case read-past-end
   error out-of-bounds
   grid 256 group 64
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void read_past_end(global const int *in, global int *out) {
    int i = get_global_id(0);
    int next = in[i + 1]; // ERROR out-of-bounds
    out[i] = next;
}

/* case write-past-end
   error out-of-bounds
   grid 256 group 64
   in i32 256 iota
   out i32 255 uninitialised
*/
kernel void write_past_end(global const int *in, global int *out) {
    int i = get_global_id(0);
    int v = in[i];
    out[i] = v + 1; // ERROR out-of-bounds
}

/* case read-before-begin
   error out-of-bounds
   grid 256 group 128
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void read_before_begin(global const int *in, global int *out) {
    int i = get_global_id(0);
    int before = in[i - 1]; // ERROR out-of-bounds
    out[i] = before;
}

/* case write-before-begin
   error out-of-bounds
   grid 128 group 64
   out i32 128 zero
   shift i32:1
*/
kernel void write_before_begin(global int *out, int shift) {
    int i = get_global_id(0);
    out[i - shift] = i; // ERROR out-of-bounds
}

/* case guard-off-by-one
   error out-of-bounds
   grid 256 group 64
   out i32 200 zero
   n i32:200
*/
kernel void guard_off_by_one(global int *out, int n) {
    int i = get_global_id(0);
    if (i <= n)
        out[i] = i; // ERROR out-of-bounds
}

/* case stride-off-by-one
   error out-of-bounds
   grid 64 group 64
   in i32 1024 iota
   out i32 64 uninitialised
   width i32:17
*/
kernel void stride_off_by_one(global const int *in, global int *out, int width) {
    int row = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < 16; k++)
        sum += in[row * width + k]; // ERROR out-of-bounds
    out[row] = sum;
}

/* case vector-half-out
   error out-of-bounds
   grid 64 group 64
   in f32 254 iota
   out f32 64 uninitialised
*/
kernel void vector_half_out(global const float *in, global float *out) {
    int i = get_global_id(0);
    float4 v = vload4(i, in); // ERROR out-of-bounds
    out[i] = v.x + v.y + v.z + v.w;
}

/* case byte-past-end
   error out-of-bounds
   grid 128 group 64
   text u8 128 const=7
   out i32 128 uninitialised
   n i32:128
*/
kernel void byte_past_end(global const uchar *text, global int *out, int n) {
    int i = get_global_id(0);
    int c = text[n - i]; // ERROR out-of-bounds
    out[i] = c * 3;
}

/* case local-argument-past-end
   error out-of-bounds
   grid 128 group 128
   in i32 128 iota
   out i32 128 uninitialised
   tile local:508
*/
kernel void local_argument_past_end(global const int *in, global int *out, local int *tile) {
    int l = get_local_id(0);
    tile[l] = in[l]; // ERROR out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = tile[63 - (l & 63)];
}

/* case local-argument-into-next
   error out-of-bounds
   grid 64 group 64
   in i32 64 iota
   out i32 64 uninitialised
   first local:256
   second local:256
*/
kernel void local_argument_into_next(global const int *in, global int *out, local int *first, local int *second) {
    int l = get_local_id(0);
    second[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    first[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = first[l + 1] + second[l]; // ERROR out-of-bounds
}

/* case local-array-into-next
   error out-of-bounds
   known compilers make one access of two that look alike, so another array may be meant
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
   shift i32:1
*/
kernel void local_array_into_next(global const int *in, global int *out, int shift) {
    local int left[64];
    local int right[64];
    int l = get_local_id(0), i = get_global_id(0);
    left[l] = in[i];
    right[l] = in[i] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    int a = left[l + shift]; // ERROR out-of-bounds
    int b = right[63 - l];
    out[i] = a + b;
}

/* case local-array-past-all
   error out-of-bounds
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
   shift i32:64
*/
kernel void local_array_past_all(global const int *in, global int *out, int shift) {
    local int tile[64];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l + shift]; // ERROR out-of-bounds
}

/* case private-array-past-end
   error out-of-bounds
   grid 64 group 64
   out i32 64 uninitialised
   n i32:40
*/
kernel void private_array_past_end(global int *out, int n) {
    volatile int own[32];
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 32; k++)
        own[k] = i + k;
    for (int k = 0; k < n; k += 8)
        sum += own[k]; // ERROR out-of-bounds
    out[i] = sum;
}

/* case private-array-one-lane
   error out-of-bounds
   grid 128 group 64
   at i32 128 iota
   out i32 128 uninitialised
*/
kernel void private_array_one_lane(global const int *at, global int *out) {
    volatile int own[128];
    int i = get_global_id(0);
    for (int k = 0; k < 128; k++)
        own[k] = k;
    own[at[i] + (i == 99) * 64] = i; // ERROR out-of-bounds
    out[i] = own[at[i] & 63];
}

/* case constant-past-end
   error out-of-bounds
   grid 64 group 64
   table i32 16 iota
   out i32 64 uninitialised
*/
kernel void constant_past_end(constant int *table, global int *out) {
    int i = get_global_id(0);
    out[i] = table[i >> 1]; // ERROR out-of-bounds
}

/* case constant-uniform-past-end
   error out-of-bounds
   grid 128 group 64
   table i32 16 iota
   out i32 128 uninitialised
   at i32:16
*/
kernel void constant_uniform_past_end(constant int *table, global int *out, int at) {
    int v = table[at]; // ERROR out-of-bounds
    out[get_global_id(0)] = v;
}

/* case atomic-past-end
   error out-of-bounds
   grid 256 group 64
   in u32 256 iota
   bins u32 31 zero
*/
kernel void atomic_past_end(global const uint *in, global uint *bins) {
    uint v = in[get_global_id(0)];
    atomic_add(&bins[v % 32], 1u); // ERROR out-of-bounds
}

/* case local-atomic-past-end
   error out-of-bounds
   grid 64 group 64
   out u32 32 uninitialised
   bins local:128
   n u32:33
*/
kernel void local_atomic_past_end(global uint *out, local uint *bins, uint n) {
    uint l = get_local_id(0);
    if (l < 32)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[l % n]); // ERROR out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32)
        out[l] = bins[l];
}

/* case index-from-memory
   error out-of-bounds
   grid 256 group 64
   index i32 256 stride=3,300
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void index_from_memory(global const int *index, global const int *in, global int *out) {
    int i = get_global_id(0);
    int at = index[i];
    out[i] = in[at]; // ERROR out-of-bounds
}

/* case last-group-only
   error out-of-bounds
   grid 320 group 64
   out i32 319 zero
*/
kernel void last_group_only(global int *out) {
    int i = get_global_id(0);
    out[i] = i * i; // ERROR out-of-bounds
}

/* case two-dimensions-swapped
   error out-of-bounds
   grid 32,16 group 16,4
   out i32 512 zero
   height i32:32
*/
kernel void two_dimensions_swapped(global int *out, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * height + y] = x; // ERROR out-of-bounds
}

/* case halo-in-bounds
   clean
   grid 256 group 64
   in i32 258 iota
   out i32 256 uninitialised
*/
kernel void halo_in_bounds(global const int *in, global int *out) {
    int i = get_global_id(0) + 1;
    out[i - 1] = in[i - 1] + in[i] + in[i + 1];
}

/* case guarded-last-group
   clean
   grid 256 group 64
   in i32 200 iota
   out i32 200 uninitialised
   n i32:200
*/
kernel void guarded_last_group(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[n - 1 - i];
}

/* case clamped-neighbours
   clean
   grid 192 group 64
   in i32 192 iota
   out i32 192 uninitialised
   n i32:192
*/
kernel void clamped_neighbours(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int left = in[max(i - 1, 0)], right = in[min(i + 1, n - 1)];
    out[i] = left + right;
}

/* case pointer-past-end-unused
   clean
   grid 64 group 64
   in i32 64 iota
   out i32 64 uninitialised
*/
kernel void pointer_past_end_unused(global const int *in, global int *out) {
    int i = get_global_id(0);
    global const int *end = in + 64;
    int sum = 0;
    for (global const int *p = in + i; p < end; p++)
        sum += *p;
    out[i] = sum;
}

/* case vector-exact
   clean
   grid 64 group 64
   in f32 256 iota
   out f32 64 uninitialised
*/
kernel void vector_exact(global const float *in, global float *out) {
    int i = get_global_id(0);
    float4 v = vload4(i, in);
    out[i] = v.x + v.y + v.z + v.w;
}

/* case local-halo
   clean
   grid 256 group 128
   in i32 256 iota
   out i32 256 uninitialised
*/
kernel void local_halo(global const int *in, global int *out) {
    local int tile[130];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l + 1] = in[i];
    if (l == 0)
        tile[0] = i ? in[i - 1] : 0;
    if (l == 127)
        tile[129] = i < 255 ? in[i + 1] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + tile[l + 1] + tile[l + 2];
}

/* case private-array-full
   clean
   grid 128 group 64
   out i32 128 uninitialised
   n i32:32
*/
kernel void private_array_full(global int *out, int n) {
    volatile int own[32];
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < n; k++)
        own[k] = i ^ k;
    for (int k = n - 1; k >= 0; k--)
        sum += own[k];
    out[i] = sum;
}
