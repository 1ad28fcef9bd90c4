// Speckle-reducing anisotropic diffusion of an image: blur that stops at edges. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define B 256

__kernel void srad_extract(__global float *image, int n) {
    int i = get_global_id(0);
    if (i < n)
        image[i] = exp(image[i] / 255.0f);
}

// Values and their squares, to be added up.
__kernel void srad_prepare(__global const float *image, __global float *sums, __global float *squares, int n) {
    int i = get_global_id(0);
    if (i < n) {
        sums[i] = image[i];
        squares[i] = image[i] * image[i];
    }
}

// Adds up blocks of 256 values that lie `stride` apart; the last block may be shorter.
__kernel void srad_reduce(__global float *sums, __global float *squares, int count, int stride) {
    __local float sum[B], square[B];
    int t = get_local_id(0), b = get_group_id(0);
    int i = b * B + t;
    if (i < count) { // split
        sum[t] = sums[i * stride];
        square[t] = squares[i * stride];
    } else {
        sum[t] = 0.0f;
        square[t] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int step = 2; step <= B; step *= 2) {
        if ((t + 1) % step == 0) { // split
            sum[t] += sum[t - step / 2];
            square[t] += square[t - step / 2];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == B - 1) {
        sums[b * B * stride] = sum[t];
        squares[b * B * stride] = square[t];
    }
}

// Differences to the four neighbours and the diffusion coefficient.
__kernel void srad_coefficient(__global const float *image, __global float4 *change, __global float *coefficient, int rows,
                               int columns, __global const float *speckle) {
    int i = get_global_id(0);
    if (i >= rows * columns)
        return;
    int y = i / columns, x = i % columns;
    float here = image[i];
    float north = image[max(y - 1, 0) * columns + x] - here;
    float south = image[min(y + 1, rows - 1) * columns + x] - here;
    float west = image[y * columns + max(x - 1, 0)] - here;
    float east = image[y * columns + min(x + 1, columns - 1)] - here;
    float gradient = (north * north + south * south + west * west + east * east) / (here * here);
    float laplace = (north + south + west + east) / here;
    float numerator = 0.5f * gradient - (1.0f / 16.0f) * (laplace * laplace);
    float denominator = 1.0f + 0.25f * laplace;
    float q0 = speckle[0];
    float q = numerator / (denominator * denominator);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    if (c < 0.0f) // split
        c = 0.0f;
    else if (c > 1.0f)
        c = 1.0f;
    change[i] = (float4)(north, south, west, east);
    coefficient[i] = c;
}

__kernel void srad_update(__global float *image, __global const float4 *change, __global const float *coefficient, int rows,
                          int columns, float lambda) {
    int i = get_global_id(0);
    if (i >= rows * columns)
        return;
    int y = i / columns, x = i % columns;
    float here = coefficient[i];
    float south = coefficient[min(y + 1, rows - 1) * columns + x];
    float east = coefficient[y * columns + min(x + 1, columns - 1)];
    float4 d = change[i];
    float divergence = here * d.x + south * d.y + here * d.z + east * d.w;
    image[i] += 0.25f * lambda * divergence;
}

__kernel void srad_compress(__global float *image, int n) {
    int i = get_global_id(0);
    if (i < n)
        image[i] = log(image[i]) * 255.0f;
}
