// Breadth-first search, level by level; the host goes on while a flag in device memory says so.
#include "check.h"
#include <queue>

__global__ void step(const int* first, const int* edges, int* level, int nodes, int depth, int* again) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != depth) return;
    for (int e = first[node]; e < first[node + 1]; ++e) {
        int to = edges[e];
        if (level[to] < 0) {
            level[to] = depth + 1;
            *again = 1;
        }
    }
}

int main() {
    const int nodes = 500;
    std::vector<int> first(nodes + 1), edges;
    unsigned random = 12345;
    for (int i = 0; i < nodes; ++i) {
        first[i] = int(edges.size());
        for (int k = 0; k < i % 5; ++k) {
            random = random * 1664525u + 1013904223u;
            edges.push_back(int((random >> 8) % nodes));
        }
        edges.push_back((i + 7) % nodes);
    }
    first[nodes] = int(edges.size());

    std::vector<int> wanted(nodes, -1), start(nodes, -1);
    std::queue<int> queue;
    wanted[0] = start[0] = 0;
    queue.push(0);
    while (!queue.empty()) {
        int node = queue.front();
        queue.pop();
        for (int e = first[node]; e < first[node + 1]; ++e)
            if (wanted[edges[e]] < 0) {
                wanted[edges[e]] = wanted[node] + 1;
                queue.push(edges[e]);
            }
    }

    int *dfirst = to_device(first), *dedges = to_device(edges), *dlevel = to_device(start), *dagain;
    CHECK(hipMalloc(&dagain, sizeof(int)));
    int again = 1;
    for (int depth = 0; again; ++depth) {
        CHECK(hipMemset(dagain, 0, sizeof(int)));
        step<<<(nodes + 127) / 128, 128>>>(dfirst, dedges, dlevel, nodes, depth, dagain);
        CHECK(hipMemcpy(&again, dagain, sizeof(int), hipMemcpyDeviceToHost));
    }
    return verdict("bfs", to_host(dlevel, nodes), wanted);
}
