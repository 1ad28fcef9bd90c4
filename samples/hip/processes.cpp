// A program that forks after it used HIP: parent and child go on with memory of their own, and both launch kernels.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void add_to(int* data, int n) { data[threadIdx.x] += n; }

static int right(const int* device, int wanted) {
    for (int v : to_host(device, 64))
        if (v != wanted) return 0;
    return 1;
}

int main() {
    int* data = to_device(std::vector<int>(64, 1));
    add_to<<<1, 64>>>(data, 10);
    CHECK(hipDeviceSynchronize());
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        add_to<<<1, 64>>>(data, 100);
        add_to<<<1, 64>>>(data, 100);
        CHECK(hipDeviceSynchronize());
        std::exit(right(data, 211) ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    add_to<<<1, 64>>>(data, 1000);
    CHECK(hipDeviceSynchronize());
    bool good = status == 0 && right(data, 1011);
    std::printf("processes: %s\n", good ? "parent and child right" : "FAILED");
    return good ? 0 : 1;
}
