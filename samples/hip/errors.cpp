// Errors are told, not ignored: bad sizes, bad pointers, bad launches, and the last error is kept until it is asked for.
#include "check.h"
#include <cstring>

__global__ void nothing() {}

static int failures = 0;

static void expect(hipError_t got, hipError_t wanted, const char* what) {
    if (got != wanted) {
        std::printf("errors: FAILED: %s: %s, expected %s\n", what, hipGetErrorName(got), hipGetErrorName(wanted));
        ++failures;
    }
}

int main() {
    int host[4] = {1, 2, 3, 4}, *device, *huge = nullptr, count = 0;
    CHECK(hipMalloc(&device, sizeof host));
    expect(hipMalloc((void**)&huge, size_t(1) << 60), hipErrorOutOfMemory, "an enormous allocation");
    expect(hipGetLastError(), hipErrorOutOfMemory, "the last error");
    expect(hipGetLastError(), hipSuccess, "the last error once more");
    expect(hipMemcpy(device, host, 2 * sizeof host, hipMemcpyHostToDevice), hipErrorInvalidValue, "a copy that is too large");
    expect(hipMemcpy(host, nullptr, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue, "a copy from nowhere");
    expect(hipFree(device + 1), hipErrorInvalidValue, "freeing the middle of an allocation");
    expect(hipSetDevice(5), hipErrorInvalidDevice, "a device that does not exist");
    expect(hipGetDeviceCount(&count), hipSuccess, "the number of devices");
    (void)hipGetLastError();
    nothing<<<1, 2000>>>();
    expect(hipPeekAtLastError(), hipErrorInvalidConfiguration, "a group that is too large");
    expect(hipGetLastError(), hipErrorInvalidConfiguration, "the error of the launch");
    nothing<<<1, 64>>>();
    expect(hipGetLastError(), hipSuccess, "a launch that is right");
    expect(hipFree(device), hipSuccess, "freeing");
    expect(hipFree(device), hipErrorInvalidValue, "freeing twice");
    if (count != 1 || std::strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue") != 0) ++failures;
    if (!failures) std::printf("errors: all as they should be\n");
    return failures != 0;
}
