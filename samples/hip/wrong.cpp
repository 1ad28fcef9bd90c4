// A kernel with an error that shows in no result, of the kind its argument says: for `wavebound hip --sanitize`.
#include "check.h"
#include <cstring>

__global__ void add(const int* a, int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) b[i] += a[i];
}

__global__ void turn(const int* in, int* out) {
    __shared__ int part[128];
    part[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void count(int* sum) { *sum += 1; }

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "none";
    auto is = [&](const char* what) { return std::strcmp(how, what) == 0; };
    const int n = 100;
    std::vector<int> ones(128, 1);
    int* a = to_device(ones);
    int* b;
    CHECK(hipMalloc(&b, n * sizeof(int)));
    if (!is("unset")) CHECK(hipMemset(b, 0, n * sizeof(int)));
    if (is("freed")) CHECK(hipFree(a));
    if (is("race")) turn<<<1, 128>>>(a, a);
    else if (is("step")) turn<<<1, 64>>>(a, b);
    else if (is("count")) count<<<2, 64>>>(b);
    else add<<<1, 128>>>(a, b, is("beyond") ? n : n - 1);
    CHECK(hipDeviceSynchronize());
    std::vector<int> got = to_host(b, n);
    if (!is("freed")) CHECK(hipFree(a));
    CHECK(hipFree(b));
    std::printf("wrong: the last of %zu is %d\n", got.size(), got[n - 1]);
    return 0;
}
