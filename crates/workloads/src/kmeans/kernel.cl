// k-means clustering: every point finds its nearest centre; the host moves the centres until no point changes. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// From a point after the other to a feature after the other, so that neighbouring work-items read neighbours.
__kernel void kmeans_swap(__global const float *points, __global float *features, int count, int dimensions) {
    int p = get_global_id(0);
    if (p >= count)
        return;
    ASSUME(dimensions > 0);
    for (int d = 0; d < dimensions; d++)
        features[d * count + p] = points[p * dimensions + d];
}

__kernel void kmeans_nearest(__global const float *features, __global const float *centres, __global int *member, int count,
                             int clusters, int dimensions) {
    int p = get_global_id(0);
    if (p >= count)
        return;
    ASSUME(clusters > 0 && dimensions > 0);
    float least = FLT_MAX;
    int index = 0;
    for (int c = 0; c < clusters; c++) {
        float distance = 0.0f;
        for (int d = 0; d < dimensions; d++) {
            float apart = features[d * count + p] - centres[c * dimensions + d];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            index = c;
        }
    }
    member[p] = index;
}
