// Memory that host and kernel share: host-mapped, managed, registered, and several host threads that launch at once.
#include "check.h"
#include <thread>

__global__ void twice(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}

int main() {
    const int n = 128, threads = 4;
    int *mapped, *managed, *view;
    std::vector<int> own(n), got, wanted;
    CHECK(hipHostMalloc((void**)&mapped, n * sizeof(int), hipHostMallocMapped));
    CHECK(hipMallocManaged((void**)&managed, n * sizeof(int)));
    CHECK(hipHostRegister(own.data(), n * sizeof(int), hipHostRegisterMapped));
    CHECK(hipHostGetDevicePointer((void**)&view, own.data(), 0));
    for (int i = 0; i < n; ++i) mapped[i] = managed[i] = own[i] = i;
    twice<<<2, 64>>>(mapped, n);
    twice<<<2, 64>>>(managed, n);
    twice<<<2, 64>>>(view, n);
    CHECK(hipDeviceSynchronize());
    for (int* list : {mapped, managed, own.data()})
        for (int i = 0; i < n; ++i) {
            got.push_back(list[i]);
            wanted.push_back(2 * i);
        }
    std::vector<std::thread> pool;
    std::vector<int*> data(threads);
    for (int t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            data[t] = to_device(std::vector<int>(n, t + 1));
            for (int r = 0; r < 3; ++r) twice<<<2, 64>>>(data[t], n);
        });
    for (auto& thread : pool) thread.join();
    for (int t = 0; t < threads; ++t)
        for (int x : to_host(data[t], n)) {
            got.push_back(x);
            wanted.push_back(8 * (t + 1));
        }
    CHECK(hipHostUnregister(own.data()));
    return verdict("mapped", got, wanted);
}
