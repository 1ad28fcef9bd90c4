// Integer division by zero, and divisions that are never by zero.

/* case divide-int
   error division-by-zero
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void divide_int(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = 1000 / in[i]; // ERROR division-by-zero
}

/* case divide-uint
   error division-by-zero
   grid 128 group 64
   in u32 128 iota
   out u32 128 uninitialised
*/
kernel void divide_uint(global const uint *in, global uint *out) {
    int i = get_global_id(0);
    out[i] = 1000u / in[127 - i]; // ERROR division-by-zero
}

/* case modulo-int
   error division-by-zero
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void modulo_int(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = 1000 % in[i]; // ERROR division-by-zero
}

/* case modulo-uint
   error division-by-zero
   grid 256 group 128
   in u32 256 iota
   out u32 256 uninitialised
*/
kernel void modulo_uint(global const uint *in, global uint *out) {
    int i = get_global_id(0);
    out[i] = (uint)i % (in[i] >> 1); // ERROR division-by-zero
}

/* case divide-uniform
   error division-by-zero
   grid 128 group 64
   out u32 128 uninitialised
   n u32:1000
   d u32:0
*/
kernel void divide_uniform(global uint *out, uint n, uint d) {
    uint each = n / d; // ERROR division-by-zero
    out[get_global_id(0)] = each;
}

/* case divide-long
   error division-by-zero
   grid 64 group 64
   in i64 64 iota
   out i64 64 uninitialised
   n i64:100000000000
*/
kernel void divide_long(global const long *in, global long *out, long n) {
    int i = get_global_id(0);
    out[i] = n / in[i]; // ERROR division-by-zero
}

/* case modulo-ulong
   error division-by-zero
   grid 64 group 64
   in u64 64 iota
   out u64 64 uninitialised
   n u64:100000000000
*/
kernel void modulo_ulong(global const ulong *in, global ulong *out, ulong n) {
    int i = get_global_id(0);
    out[i] = n % in[i]; // ERROR division-by-zero
}

/* case divide-vector
   error division-by-zero
   grid 64 group 64
   in i32 256 iota
   out i32 256 uninitialised
   n i32:1000
*/
kernel void divide_vector(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int4 d = vload4(i, in);
    int4 q = (int4)(n) / d; // ERROR division-by-zero
    vstore4(q, i, out);
}

/* case divide-in-one-lane
   error division-by-zero
   grid 128 group 64
   in u32 128 iota
   out u32 128 uninitialised
*/
kernel void divide_in_one_lane(global const uint *in, global uint *out) {
    uint i = get_global_id(0);
    uint d = in[(i + 51) & 127];
    if (i & 1)
        out[i] = 5000u / d; // ERROR division-by-zero
    else
        out[i] = d;
}

/* case divide-short
   error division-by-zero
   grid 64 group 64
   in i16 64 iota
   out i16 64 uninitialised
*/
kernel void divide_short(global const short *in, global short *out) {
    int i = get_global_id(0);
    out[i] = (short)(1000 / in[i]); // ERROR division-by-zero
}

/* case divide-guarded
   clean
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void divide_guarded(global const int *in, global int *out) {
    int i = get_global_id(0);
    int d = in[i];
    if (d != 0)
        out[i] = 1000 / d;
    else
        out[i] = 0;
}

/* case divide-at-least-one
   clean
   grid 128 group 64
   in i32 128 iota
   out i32 128 uninitialised
*/
kernel void divide_at_least_one(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = 1000 / max(in[i], 1);
}

/* case divide-float-by-zero
   clean
   grid 64 group 64
   in f32 64 iota
   out f32 64 uninitialised
*/
kernel void divide_float_by_zero(global const float *in, global float *out) {
    int i = get_global_id(0);
    out[i] = 1.0f / in[i];
}

/* case zero-divided
   clean
   grid 64 group 64
   in i64 64 iota
   out i64 64 uninitialised
   n i64:0
*/
kernel void zero_divided(global const long *in, global long *out, long n) {
    int i = get_global_id(0);
    out[i] = n / (in[i] + 1) + n % (in[i] + 3);
}
