// Finds and follows white blood cells in a video: a score for circles at every pixel, its local maxima, and a vector field that
// pulls outlines to the edges of a cell. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define CIRCLES 3
#define POINTS 20
#define MARGIN 8
#define SIDE 16 // of a cell's area
#define ASSUME(x) __builtin_assume(x) // the host sees to it

// How well circles of several radii around a pixel lie on edges: mean over variance of the gradient across them.
__kernel void leukocyte_gicov(__global const float *grad_x, __global const float *grad_y, __constant float *sines,
                              __constant float *cosines, __constant int *dx, __constant int *dy, __global float *score,
                              int width, int height) {
    int i = get_global_id(0);
    int across = width - 2 * MARGIN;
    int x = i % across + MARGIN, y = i / across + MARGIN;
    if (y >= height - MARGIN)
        return;
    float best = 0.0f;
#pragma unroll 1
    for (int c = 0; c < CIRCLES; c++) {
        float gradient[POINTS];
        float sum = 0.0f;
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            int at = (y + dy[c * POINTS + n]) * width + x + dx[c * POINTS + n];
            gradient[n] = grad_x[at] * cosines[n] + grad_y[at] * sines[n];
            sum += gradient[n];
        }
        float mean = sum / (float)POINTS, variance = 0.0f;
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            float apart = gradient[n] - mean;
            variance += apart * apart;
        }
        variance = variance / (float)(POINTS - 1);
        float fit = mean * mean / variance;
        if (fit > best)
            best = fit;
    }
    score[y * width + x] = best;
}

// Largest value in a disc around each pixel.
__kernel void leukocyte_dilate(__global const float *score, __constant uchar *disc, __global float *dilated, int width,
                               int height, int radius) {
    int i = get_global_id(0);
    int x = i % width, y = i / width;
    if (y >= height)
        return;
    ASSUME(radius >= 0 && radius < 64);
    float most = 0.0f;
    int side = 2 * radius + 1;
    for (int j = 0; j < side; j++) {
        int yy = y + j - radius;
        if (yy >= 0 && yy < height) { // split
            for (int k = 0; k < side; k++) {
                int xx = x + k - radius;
                if (xx >= 0 && xx < width && disc[j * side + k]) // split
                    most = fmax(most, score[yy * width + xx]);
            }
        }
    }
    dilated[y * width + x] = most;
}

// A smooth step from 0 to 1.
float heaviside(float x) {
    return 0.5f + 0.318309886f * atan(10.0f * x);
}

// The field of one cell, a group each, until it changes by less than `cutoff` on average or for `rounds` rounds.
__kernel void leukocyte_field(__global const float *images, __global float *fields, int rounds, float cutoff,
                              __global int *used) {
    __local float field[SIDE * SIDE], sums[SIDE * SIDE];
    __local int done;
    int t = get_local_id(0), cell = get_group_id(0), size = get_local_size(0);
    int x = t % SIDE, y = t / SIDE;
    ASSUME(size >= 2 && rounds > 0);
    float image = images[cell * SIDE * SIDE + t];
    field[t] = image;
    if (t == 0)
        done = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int round = 0;
    do {
        int up = max(y - 1, 0) * SIDE, here = y * SIDE, down = min(y + 1, SIDE - 1) * SIDE;
        int left = max(x - 1, 0), right = min(x + 1, SIDE - 1);
        float old = field[t], change = 0.0f;
        int around[8] = {up + left, up + x, up + right, here + left, here + right, down + left, down + x, down + right};
#pragma unroll 1
        for (int k = 0; k < 8; k++) {
            float apart = field[around[k]] - old;
            change += heaviside(apart) * apart;
        }
        float fresh = old + 0.2f * 0.25f * change - 0.2f * image * (old - image);
        sums[t] = fabs(fresh - old);
        barrier(CLK_LOCAL_MEM_FENCE);
        field[t] = fresh;
        for (int half_size = size / 2; half_size > 0; half_size /= 2) {
            if (t < half_size) // split
                sums[t] += sums[t + half_size];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t == 0) // split
            done = sums[0] / (float)(SIDE * SIDE) < cutoff || round + 1 == rounds;
        round++;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (!done); // loop: rounds
    fields[cell * SIDE * SIDE + t] = field[t];
    if (t == 0)
        used[cell] = round;
}
