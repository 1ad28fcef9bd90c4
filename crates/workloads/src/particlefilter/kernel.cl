// Follows an object through a video with many guesses (particles): how well each fits, their weights, and new guesses drawn
// by weight. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define B 128
#define ASSUME(x) __builtin_assume(x) // the host sees to it
#define DISC 49 // most points of the object

// A number from 0 to 1 and the next seed.
__attribute__((always_inline)) float uniform_number(__global uint *seeds, int i) {
    uint next = 1103515245u * seeds[i] + 12345u;
    seeds[i] = next;
    return (float)(next >> 8) / 16777216.0f;
}

// Moves each particle, sees how well it fits the frame, and adds up weights by groups.
__kernel void particle_likelihood(__global float *xs, __global float *ys, __global const float *old_x,
                                  __global const float *old_y, __global float *weights, __global const uchar *frame,
                                  __constant int *dx, __constant int *dy, __global uint *seeds, __global float *sums,
                                  int particles, int points, int width, int height) {
    __local float part[B];
    int i = get_global_id(0), t = get_local_id(0);
    float weight = 0.0f;
    ASSUME(points > 0);
    if (i < particles) { // split
        // Two uniform numbers, each around its mean, are noise enough.
        float a = uniform_number(seeds, i), b = uniform_number(seeds, i);
        float x = old_x[i] + 1.0f + 5.0f * (a - 0.5f);
        float y = old_y[i] - 2.0f + 2.0f * (b - 0.5f);
        xs[i] = x;
        ys[i] = y;
        int px = (int)(x + 0.5f), py = (int)(y + 0.5f);
        float likelihood = 0.0f;
        for (int k = 0; k < points; k++) {
            int qx = px + dx[k], qy = py + dy[k];
            float light = 0.0f;
            if (qx >= 0 && qx < width && qy >= 0 && qy < height) // split
                light = (float)frame[qy * width + qx];
            float dark = light - 100.0f, bright = light - 228.0f;
            likelihood += (dark * dark - bright * bright) / 50.0f;
        }
        likelihood = likelihood / (float)points / 100.0f;
        weight = weights[i] * exp(likelihood);
        weights[i] = weight;
    }
    part[t] = weight;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = B / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) // split
            part[t] += part[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        sums[get_group_id(0)] = part[0];
}

__kernel void particle_sum(__global float *sums, int groups) {
    float sum = 0.0f;
    ASSUME(groups > 0);
    if (get_global_id(0) == 0) {
        for (int g = 0; g < groups; g++) // loop: groups
            sum += sums[g];
        sums[0] = sum;
    }
}

__kernel void particle_normalise(__global float *weights, __global const float *sums, int particles) {
    int i = get_global_id(0);
    if (i < particles)
        weights[i] = weights[i] / sums[0];
}

// For each new particle the first old one whose sum of weights reaches its share.
__kernel void particle_find(__global float *xs, __global float *ys, __global const float *old_x,
                            __global const float *old_y, __global const float *cumulative, __global float *weights,
                            float offset, int particles) {
    int i = get_global_id(0);
    if (i >= particles)
        return;
    float share = ((float)i + offset) / (float)particles;
    int index = particles - 1;
    ASSUME(particles > 0);
    for (int k = 0; k < particles; k++) { // loop: find
        if (cumulative[k] >= share) { // split
            index = k;
            break;
        }
    }
    xs[i] = old_x[index];
    ys[i] = old_y[index];
    weights[i] = 1.0f / (float)particles;
}
