// Gaussian elimination without pivoting: column `k` is eliminated by two kernels. Our own.
#pragma OPENCL FP_CONTRACT OFF

// Factors of the rows below k.
__kernel void gaussian_factors(__global float *factor, __global const float *a, int n, int k) {
    int i = get_global_id(0);
    if (i < n - 1 - k)
        factor[n * (i + k + 1) + k] = a[n * (i + k + 1) + k] / a[n * k + k];
}

// Subtracts multiples of row k from the rows below it.
__kernel void gaussian_subtract(__global const float *factor, __global float *a, __global float *b, int n, int k) {
    int row = get_global_id(0), column = get_global_id(1);
    if (row >= n - 1 - k || column >= n - k)
        return;
    int r = row + k + 1, c = column + k;
    a[n * r + c] -= factor[n * r + k] * a[n * k + c];
    if (column == 0)
        b[r] -= factor[n * r + k] * b[k];
}
