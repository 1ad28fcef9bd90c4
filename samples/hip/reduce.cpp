// Sums in local memory, with local memory of a size chosen at launch, and one atomic add per group.
#include "check.h"

__global__ void sum(const int* in, int n, int* out) {
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main() {
    const int n = 5000;
    std::vector<int> in(n), wanted(1, 0), zero(1, 0);
    for (int i = 0; i < n; ++i) wanted[0] += in[i] = (i * 37) % 101 - 50;
    int *din = to_device(in), *dout = to_device(zero);
    sum<<<(n + 255) / 256, 256, 256 * sizeof(int)>>>(din, n, dout);
    CHECK(hipGetLastError());
    return verdict("reduce", to_host(dout, 1), wanted);
}
