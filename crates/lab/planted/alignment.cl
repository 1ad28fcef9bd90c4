// Pointers cast to types whose alignment they do not have, and accesses that may lie anywhere.
// The use of a vector is marked, too: compilers may load its parts there.

/* case int-at-odd-byte
   error misaligned
   grid 64 group 64
   in u8 260 const=3
   out i32 64 uninitialised
   shift i32:1
*/
kernel void int_at_odd_byte(global const uchar *in, global int *out, int shift) {
    int i = get_global_id(0);
    out[i] = *(global const int *)(in + 4 * i + shift); // ERROR misaligned
}

/* case int-store-at-two
   error misaligned
   grid 64 group 64
   out u8 260 zero
   shift i32:2
*/
kernel void int_store_at_two(global uchar *out, int shift) {
    int i = get_global_id(0);
    *(global int *)(out + 4 * i + shift) = i; // ERROR misaligned
}

/* case short-at-odd-byte
   error misaligned
   grid 128 group 64
   in u8 260 const=3
   out i32 128 uninitialised
   shift i32:1
*/
kernel void short_at_odd_byte(global const uchar *in, global int *out, int shift) {
    int i = get_global_id(0);
    out[i] = *(global const short *)(in + 2 * i + shift); // ERROR misaligned
}

/* case int2-at-byte-six
   error misaligned
   grid 64 group 64
   in u8 520 const=3
   out i32 64 uninitialised
   shift i32:6
*/
kernel void int2_at_byte_six(global const uchar *in, global int *out, int shift) {
    int i = get_global_id(0);
    int2 v = *(global const int2 *)(in + 8 * i + shift); // ERROR misaligned
    out[i] = v.x + v.y; // ERROR misaligned
}

/* case float4-at-byte-two
   error misaligned
   grid 64 group 64
   in u8 1040 zero
   out f32 64 uninitialised
   shift i32:2
*/
kernel void float4_at_byte_two(global const uchar *in, global float *out, int shift) {
    int i = get_global_id(0);
    float4 v = *(global const float4 *)(in + 16 * i + shift); // ERROR misaligned
    out[i] = v.x + v.w; // ERROR misaligned
}

/* case float4-at-byte-four
   error misaligned
   known the compiler makes the same instruction of it as of vload4, which is right here
   grid 64 group 64
   in f32 260 iota
   out f32 64 uninitialised
   shift i32:1
*/
kernel void float4_at_byte_four(global const float *in, global float *out, int shift) {
    int i = get_global_id(0);
    float4 v = *(global const float4 *)(in + 4 * i + shift); // ERROR misaligned
    out[i] = v.x + v.w; // ERROR misaligned
}

/* case local-int2-at-four
   error misaligned
   grid 64 group 64
   out i32 64 uninitialised
   shift i32:1
*/
kernel void local_int2_at_four(global int *out, int shift) {
    local int tile[130];
    int l = get_local_id(0);
    tile[2 * l] = l;
    tile[2 * l + 1] = l + 1;
    if (l < 2)
        tile[128 + l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int2 v = *(local const int2 *)(tile + 2 * l + shift); // ERROR misaligned
    out[l] = v.x + v.y; // ERROR misaligned
}

/* case misaligned-atomic
   error misaligned
   grid 64 group 64
   bins u8 32 zero
   shift i32:2
*/
kernel void misaligned_atomic(global uchar *bins, int shift) {
    atomic_add((volatile global int *)(bins + shift), 1); // ERROR misaligned
}

/* case misaligned-one-lane
   error misaligned
   grid 128 group 64
   at i32 128 iota
   in u8 516 const=3
   out i32 128 uninitialised
*/
kernel void misaligned_one_lane(global const int *at, global const uchar *in, global int *out) {
    int i = get_global_id(0);
    int byte = 4 * at[i] + (at[i] == 100);
    out[i] = *(global const int *)(in + byte); // ERROR misaligned
}

/* case vload-anywhere
   clean
   grid 64 group 64
   in i32 260 iota
   out i32 64 uninitialised
   shift i32:1
*/
kernel void vload_anywhere(global const int *in, global int *out, int shift) {
    int i = get_global_id(0);
    int4 v = vload4(i, in + shift);
    int2 w = vload2(i, in + shift);
    out[i] = v.x + v.w + w.y;
}

/* case bytes-put-together
   clean
   grid 64 group 64
   in u8 260 const=3
   out u32 64 uninitialised
   shift i32:1
*/
kernel void bytes_put_together(global const uchar *in, global uint *out, int shift) {
    int i = get_global_id(0);
    global const uchar *p = in + 4 * i + shift;
    out[i] = p[0] | p[1] << 8 | p[2] << 16 | (uint)p[3] << 24;
}

/* case packed-structure
   clean
   grid 64 group 64
   in u8 448 const=3
   out u32 64 uninitialised
*/
typedef struct __attribute__((packed)) {
    uchar tag;
    uint value;
    ushort rest;
} Packed;
kernel void packed_structure(global const Packed *in, global uint *out) {
    int i = get_global_id(0);
    out[i] = in[i].tag + in[i].value + in[i].rest;
}

/* case cast-that-is-aligned
   clean
   grid 64 group 64
   in u8 1040 zero
   out f32 64 uninitialised
   shift i32:16
*/
kernel void cast_that_is_aligned(global const uchar *in, global float *out, int shift) {
    int i = get_global_id(0);
    float4 v = *(global const float4 *)(in + 16 * i + shift);
    out[i] = v.x + v.w;
}
