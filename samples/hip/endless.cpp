// A short launch, and one that would take hours: for Ctrl-C.
#include "check.h"

__global__ void spin(int* values, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = values[i];
    for (int round = 0; round < rounds; ++round) v = v * 1664525 + 1013904223 + (v >> (round & 3));
    values[i] = v;
}

int main() {
    int* values = to_device(std::vector<int>(1024, 1));
    spin<<<4, 256>>>(values, 10);
    spin<<<4, 256>>>(values, 2000000000);
    CHECK(hipDeviceSynchronize());
    return 0;
}
