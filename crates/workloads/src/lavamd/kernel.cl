// Forces between particles in boxes: every particle with those of its own and the neighbouring boxes. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define MOST 128 // particles of a box
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// `places` has x, y, z and v of each particle; box b has its particles at b * per_box and neighbours[b * 27], own box first.
__kernel void lavamd(__global const int *counts, __global const int *neighbours, __global const float4 *places,
                     __global const float *charges, __global float4 *forces, int per_box, float alpha) {
    __local float4 mine[MOST], others[MOST];
    __local float charge[MOST];
    int box = get_group_id(0), t = get_local_id(0), size = get_local_size(0);
    float a2 = 2.0f * alpha * alpha;
    for (int i = t; i < per_box; i += size)
        mine[i] = places[box * per_box + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int count = counts[box];
    ASSUME(count > 0 && per_box > 0);
    for (int k = 0; k < count; k++) { // loop: boxes
        int other = neighbours[box * 27 + k];
        for (int i = t; i < per_box; i += size) {
            others[i] = places[other * per_box + i];
            charge[i] = charges[other * per_box + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = t; i < per_box; i += size) { // split
            float4 p = mine[i];
            float4 force = forces[box * per_box + i];
#pragma unroll 1
            for (int j = 0; j < per_box; j++) {
                float4 q = others[j];
                float r2 = p.w + q.w - (p.x * q.x + p.y * q.y + p.z * q.z);
                float v = exp(-a2 * r2);
                float f = 2.0f * v;
                force.w += charge[j] * v;
                force.x += charge[j] * (f * (p.x - q.x));
                force.y += charge[j] * (f * (p.y - q.y));
                force.z += charge[j] * (f * (p.z - q.z));
            }
            forces[box * per_box + i] = force;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
