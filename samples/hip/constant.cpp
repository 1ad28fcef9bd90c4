// A polynomial whose coefficients are in constant memory, a counter in a device variable, a pointer to a variable, and a
// managed variable that host and kernel both use.
#include "check.h"

__constant__ float coefficients[4];
__device__ int calls = 5;
__device__ int* where = &calls;
__managed__ int limit = 7;

__global__ void polynomial(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 3; k >= 0; --k) sum = sum * x[i] + coefficients[k];
    y[i] = i < limit ? -1.0f : sum;
    atomicAdd(where, 1);
}

int main() {
    const int n = 100;
    const float c[4] = {1, -2, 0.5f, 3};
    std::vector<float> x(n), wanted(n);
    limit = 10;
    for (int i = 0; i < n; ++i) {
        x[i] = 0.125f * i;
        for (int k = 3; k >= 0; --k) wanted[i] = wanted[i] * x[i] + c[k];
        if (i < 10) wanted[i] = -1;
    }
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), c, sizeof c));
    float *dx = to_device(x), *dy;
    CHECK(hipMalloc(&dy, n * sizeof(float)));
    polynomial<<<2, 64>>>(dx, dy, n);
    int counted = 0;
    CHECK(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(calls), sizeof counted));
    size_t size;
    CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(coefficients)));
    if (counted != n + 5 || size != sizeof c) {
        std::printf("constant: FAILED: %d calls, %zu bytes\n", counted, size);
        return 1;
    }
    return verdict("constant", to_host(dy, n), wanted, 1e-5);
}
