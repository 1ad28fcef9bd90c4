// Kernels print: numbers, text, in the order of their lanes.
#include "check.h"

__global__ void say(const int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0) printf("lane %d has %d, half of it is %.1f, it is %s\n", i, data[i], data[i] / 2.0, data[i] % 2 ? "odd" : "even");
}

int main() {
    std::vector<int> data;
    for (int i = 0; i < 10; ++i) data.push_back(i * i);
    say<<<1, 64>>>(to_device(data), 10);
    CHECK(hipDeviceSynchronize());
    std::printf("printf: done\n");
    return 0;
}
