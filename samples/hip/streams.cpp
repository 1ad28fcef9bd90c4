// Streams, asynchronous copies and events; times are simulated, so longer work takes longer, exactly and always.
#include "check.h"

__global__ void work(float* data, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = data[i];
    for (int r = 0; r < rounds; ++r) x = x * 0.5f + 1.0f;
    data[i] = x;
}

int main() {
    const int n = 512, rounds[2] = {4, 64};
    hipStream_t streams[2];
    hipEvent_t start[2], stop[2];
    float *host[2], *device[2], ms[2] = {0, 0};
    std::vector<float> wanted, got;
    for (int s = 0; s < 2; ++s) {
        CHECK(hipStreamCreate(&streams[s]));
        CHECK(hipEventCreate(&start[s]));
        CHECK(hipEventCreate(&stop[s]));
        CHECK(hipHostMalloc(&host[s], n * sizeof(float), hipHostMallocDefault));
        CHECK(hipMalloc(&device[s], n * sizeof(float)));
        for (int i = 0; i < n; ++i) {
            float x = host[s][i] = float(i + s);
            for (int r = 0; r < rounds[s]; ++r) x = x * 0.5f + 1.0f;
            wanted.push_back(x);
        }
        CHECK(hipMemcpyAsync(device[s], host[s], n * sizeof(float), hipMemcpyHostToDevice, streams[s]));
        CHECK(hipEventRecord(start[s], streams[s]));
        work<<<n / 64, 64, 0, streams[s]>>>(device[s], n, rounds[s]);
        CHECK(hipEventRecord(stop[s], streams[s]));
        CHECK(hipMemcpyAsync(host[s], device[s], n * sizeof(float), hipMemcpyDeviceToHost, streams[s]));
    }
    CHECK(hipStreamWaitEvent(streams[0], stop[1], 0));
    for (int s = 0; s < 2; ++s) {
        CHECK(hipStreamSynchronize(streams[s]));
        CHECK(hipEventSynchronize(stop[s]));
        CHECK(hipEventElapsedTime(&ms[s], start[s], stop[s]));
        got.insert(got.end(), host[s], host[s] + n);
    }
    std::printf("streams: %.6f ms for %d rounds, %.6f ms for %d\n", ms[0], rounds[0], ms[1], rounds[1]);
    if (!(ms[0] > 0 && ms[1] > ms[0])) {
        std::printf("streams: FAILED: more work takes no longer\n");
        return 1;
    }
    for (int s = 0; s < 2; ++s) {
        CHECK(hipHostFree(host[s]));
        CHECK(hipFree(device[s]));
        CHECK(hipEventDestroy(start[s]));
        CHECK(hipEventDestroy(stop[s]));
        CHECK(hipStreamDestroy(streams[s]));
    }
    return verdict("streams", got, wanted, 1e-6);
}
