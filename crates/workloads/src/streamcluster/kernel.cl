// Clusters of a stream of points: would it pay to open a centre at point x? Every point sees whether x is nearer than its own
// centre, and what that saves; the host adds up and decides. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define MOST 64 // dimensions
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// `lower` has a row of `centres` + 1 numbers for each point: what its centre loses if it goes, and last what x saves.
__kernel void streamcluster_gain(__global const float *points, __global const float *weights, __global const float *costs,
                                 __global const int *assigned, __global const int *table, __global uchar *moves,
                                 __global float *lower, int count, int dimensions, int x, int centres) {
    __local float candidate[MOST];
    int i = get_global_id(0), t = get_local_id(0);
    ASSUME(dimensions > 0);
    if (t == 0) { // split
#pragma unroll 1
        for (int d = 0; d < dimensions; d++)
            candidate[d] = points[d * count + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= count)
        return;
    float distance = 0.0f;
#pragma unroll 1
    for (int d = 0; d < dimensions; d++) {
        float apart = points[d * count + i] - candidate[d];
        distance += apart * apart;
    }
    float cost = distance * weights[i], now = costs[i];
    if (cost < now) { // split
        moves[i] = 1;
        lower[i * (centres + 1) + centres] += cost - now;
    } else {
        int place = table[assigned[i]];
        lower[i * (centres + 1) + place] += now - cost;
    }
}
