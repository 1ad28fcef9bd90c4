// Work captured from two streams becomes a graph, which is launched several times.
#include "check.h"

__global__ void add(int* data, int n, int amount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += amount;
}

int main() {
    const int n = 200, rounds = 3;
    std::vector<int> zero(n, 0), wanted(n, rounds * (5 + 2));
    int *data = to_device(zero), *other = to_device(zero);
    hipStream_t one, two;
    hipEvent_t fork, join;
    CHECK(hipStreamCreate(&one));
    CHECK(hipStreamCreate(&two));
    CHECK(hipEventCreate(&fork));
    CHECK(hipEventCreate(&join));
    CHECK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
    CHECK(hipEventRecord(fork, one));
    CHECK(hipStreamWaitEvent(two, fork, 0));
    add<<<4, 64, 0, one>>>(data, n, 5);
    add<<<4, 64, 0, two>>>(other, n, 1);
    CHECK(hipEventRecord(join, two));
    CHECK(hipStreamWaitEvent(one, join, 0));
    add<<<4, 64, 0, one>>>(data, n, 2);
    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK(hipStreamEndCapture(one, &graph));
    if (to_host(data, n) != zero) {
        std::printf("graph: FAILED: captured work was done\n");
        return 1;
    }
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int r = 0; r < rounds; ++r) CHECK(hipGraphLaunch(exec, one));
    CHECK(hipStreamSynchronize(one));
    int code = verdict("graph", to_host(data, n), wanted) | verdict("graph", to_host(other, n), std::vector<int>(n, rounds));
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipGraphDestroy(graph));
    return code;
}
