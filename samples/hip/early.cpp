// The first wave of every group has nothing to do and returns; the others meet at barriers without it.
#include "check.h"

__global__ void swap_behind(const int* in, int* out) {
    __shared__ int part[256];
    if (threadIdx.x < 64) return;
    part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    // In reverse: the reader is never in the wave that wrote, but for the middle one.
    out[blockIdx.x * 256 + threadIdx.x] = part[319 - threadIdx.x];
}

int main() {
    std::vector<int> in(1024), wanted(1024, 0);
    for (int i = 0; i < 1024; ++i) in[i] = 7 * i;
    for (int g = 0; g < 4; ++g)
        for (int l = 64; l < 256; ++l) wanted[g * 256 + l] = in[g * 256 + 319 - l];
    int *from = to_device(in), *to = to_device(std::vector<int>(1024, 0));
    swap_behind<<<4, 256>>>(from, to);
    CHECK(hipDeviceSynchronize());
    return verdict("early", to_host(to, 1024), wanted);
}
