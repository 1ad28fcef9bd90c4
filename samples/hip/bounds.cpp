// Two kernels: nobody knows how often the loop of `collatz` goes round, all the more of `scale`.
#include "check.h"

__global__ void scale(int* data) { data[threadIdx.x] *= 3; }
__global__ void collatz(int* data) {
    int steps = 0;
    for (unsigned n = data[threadIdx.x]; n > 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    data[threadIdx.x] = steps;
}

int main() {
    std::vector<int> in(64), wanted(64);
    for (int i = 0; i < 64; ++i) {
        in[i] = i + 1;
        for (unsigned n = 3 * in[i]; n > 1; ++wanted[i]) n = n % 2 ? 3 * n + 1 : n / 2;
    }
    int* data = to_device(in);
    scale<<<1, 64>>>(data);
    collatz<<<1, 64>>>(data);
    CHECK(hipDeviceSynchronize());
    return verdict("bounds", to_host(data, 64), wanted);
}
