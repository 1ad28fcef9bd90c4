// More device memory than most hosts could fill; only what is touched costs anything.
#include "check.h"

__global__ void touch(int* data, size_t step) { data[threadIdx.x * step] = threadIdx.x; }

int main() {
    const size_t bytes = size_t(6) << 30, step = bytes / sizeof(int) / 64;
    int* data;
    CHECK(hipMalloc(&data, bytes));
    touch<<<1, 64>>>(data, step);
    CHECK(hipDeviceSynchronize());
    std::vector<int> got, wanted;
    for (int i = 0; i < 64; ++i) {
        got.push_back(to_host(data + i * step, 1)[0]);
        wanted.push_back(i);
    }
    return verdict("large", got, wanted);
}
