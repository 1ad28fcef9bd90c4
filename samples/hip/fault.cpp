// A kernel that goes wrong, in the way its argument says: null, wild, beyond, freed, refused, … The program does not survive it.
#include "check.h"
#include <cstring>

__global__ void wild(int* data, long offset) { data[offset + threadIdx.x] = 1; }
__global__ void trap() { __builtin_trap(); }
__global__ void endless(volatile int* data) {
    while (*data == 0) {}
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "null";
    int* data;
    CHECK(hipMalloc(&data, 1024));
    CHECK(hipMemset(data, 0, 1024));
    if (!std::strcmp(how, "null")) wild<<<1, 64>>>(nullptr, 0);
    if (!std::strcmp(how, "wild")) wild<<<1, 64>>>(data, 1L << 40);
    if (!std::strcmp(how, "trap")) trap<<<1, 64>>>();
    if (!std::strcmp(how, "endless")) endless<<<1, 64>>>(data);
    if (!std::strcmp(how, "beyond")) wild<<<1, 64>>>(data, 1000000);
    if (!std::strcmp(how, "neighbour")) {
        int* next;
        CHECK(hipMalloc(&next, 1024));
        wild<<<1, 64>>>(data, 256 - 32);
    }
    if (!std::strcmp(how, "freed")) {
        int* much;
        CHECK(hipMalloc(&much, 1 << 20));
        CHECK(hipFree(much));
        wild<<<1, 64>>>(much, 1 << 17);
    }
    if (!std::strcmp(how, "refused")) {
        int* much = nullptr;
        (void)hipMalloc(&much, size_t(1) << 42);
        wild<<<1, 64>>>(much, 0);
    }
    if (!std::strcmp(how, "missing")) (void)hipDeviceGetByPCIBusId(nullptr, nullptr);
    CHECK(hipDeviceSynchronize());
    std::printf("fault: still here\n");
    return 0;
}
