// Larger launches without errors, for the times of the checkers.

/* case timed-compute
   clean
   timed
   grid 16384 group 64
   in f32 16384 iota
   out f32 16384 uninitialised
   n i32:64
*/
kernel void timed_compute(global const float *in, global float *out, int n) {
    int i = get_global_id(0);
    float x = in[i] * 0.001f, y = 0.5f;
    for (int k = 0; k < n; k++) {
        y = mad(y, x, 0.25f);
        x = mad(x, 0.999f, y * 0.001f);
    }
    out[i] = x + y;
}

/* case timed-stencil
   clean
   timed
   grid 256,256 group 16,16
   in f32 65536 iota
   out f32 65536 uninitialised
*/
kernel void timed_stencil(global const float *in, global float *out) {
    local float tile[18][18];
    int x = get_local_id(0), y = get_local_id(1);
    int gx = get_global_id(0), gy = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    for (int dy = y; dy < 18; dy += 16)
        for (int dx = x; dx < 18; dx += 16) {
            int cx = clamp(gx + dx - x - 1, 0, w - 1), cy = clamp(gy + dy - y - 1, 0, h - 1);
            tile[dy][dx] = in[cy * w + cx];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += tile[y + dy][x + dx];
    out[gy * w + gx] = sum / 9.0f;
}

/* case timed-histogram
   clean
   timed
   grid 65536 group 256
   in u32 65536 random=5
   bins u32 64 zero
*/
kernel void timed_histogram(global const uint *in, global uint *bins) {
    local uint own[64];
    uint l = get_local_id(0), v = in[get_global_id(0)];
    if (l < 64)
        own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++)
        atomic_inc(&own[v >> (8 * k) & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        atomic_add(&bins[l], own[l]);
}

/* case timed-reduction
   clean
   timed
   grid 65536 group 256
   in i32 65536 iota
   out i32 256 uninitialised
*/
kernel void timed_reduction(global const int *in, global int *out) {
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
