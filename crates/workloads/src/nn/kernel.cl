// Nearest neighbours: distance of every record from a place; the host picks the nearest. Our own.
#pragma OPENCL FP_CONTRACT OFF

__kernel void nn(__global const float2 *places, __global float *distances, int records, float latitude, float longitude) {
    int i = get_global_id(0);
    if (i < records) {
        float2 p = places[i];
        float north = latitude - p.x, east = longitude - p.y;
        distances[i] = sqrt(north * north + east * east);
    }
}
