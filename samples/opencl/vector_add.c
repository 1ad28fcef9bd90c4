// The first program of every book, with its time in simulated nanoseconds.
#include "check.h"

static const char *source =
    "kernel void add(global const float *a, global const float *b, global float *c, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i < n) c[i] = a[i] + b[i];\n"
    "}\n";

int main(void) {
    enum { N = 1000, GRID = 1024 };
    static float a[N], b[N], c[N];
    int n = N;
    for (int i = 0; i < N; ++i) { a[i] = i; b[i] = 0.5f * i; }
    begin();
    cl_kernel add = kernel_of(build(source, ""), "add");
    cl_mem buffers[3] = {buffer_of(sizeof a, a), buffer_of(sizeof b, b), buffer_of(sizeof c, NULL)};
    for (int i = 0; i < 3; ++i) CHECK(clSetKernelArg(add, i, sizeof(cl_mem), &buffers[i]));
    CHECK(clSetKernelArg(add, 3, sizeof n, &n));
    size_t global = GRID, local = 64;
    cl_event event;
    CHECK(clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, &local, 0, NULL, &event));
    read_back(buffers[2], c, sizeof c);
    for (int i = 0; i < N; ++i) TRUE(c[i] == 1.5f * i);
    cl_ulong start, end;
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    TRUE(end > start);
    printf("vector_add: %d sums, right\n", N);
    return 0;
}
