// Adds two vectors; the last group is not full.
#include "check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<float> a(n), b(n), wanted(n);
    for (int i = 0; i < n; ++i) {
        a[i] = 0.5f * i;
        b[i] = 3.0f - i;
        wanted[i] = a[i] + b[i];
    }
    float *da = to_device(a), *db = to_device(b), *dc;
    CHECK(hipMalloc(&dc, n * sizeof(float)));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    int code = verdict("vector_add", to_host(dc, n), wanted);
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    return code;
}
