// What the samples share: every HIP call is checked, every result is compared with a reference on the host.
#pragma once
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                        \
    do {                                                                                                   \
        hipError_t error_ = (call);                                                                        \
        if (error_ != hipSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_)); \
            std::exit(2);                                                                                  \
        }                                                                                                  \
    } while (0)

// Prints the verdict; returns the exit code.
template <typename T> int verdict(const char* name, const std::vector<T>& got, const std::vector<T>& wanted, double tolerance = 0) {
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (!(std::fabs(double(got[i]) - double(wanted[i])) <= tolerance * (1 + std::fabs(double(wanted[i]))))) {
            std::printf("%s: FAILED at %zu: %g, expected %g\n", name, i, double(got[i]), double(wanted[i]));
            return 1;
        }
    }
    std::printf("%s: %zu values right\n", name, wanted.size());
    return 0;
}

template <typename T> T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CHECK(hipMalloc(&device, host.size() * sizeof(T)));
    CHECK(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    return device;
}

template <typename T> std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CHECK(hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
    return host;
}
