// The kernel that module.cpp loads.
#include <hip/hip_runtime.h>

extern "C" __device__ int offset;
__device__ int offset = 0;

extern "C" __global__ void scale(int* data, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * factor + offset;
}
