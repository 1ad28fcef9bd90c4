// What kernels can do: ranges with offsets, dimensions, groups of any choice, local memory, atomics, prints, variables that stay.
#include "check.h"

static const char *source =
    "global int kept = 5;\n"
    "kernel void numbers(global int *x) {\n"
    "    size_t i = get_global_id(0) - get_global_offset(0), j = get_global_id(1) - get_global_offset(1);\n"
    "    size_t at = (j * get_global_size(0) + i) * 4;\n"
    "    x[at] = get_global_id(0); x[at + 1] = get_global_id(1); x[at + 2] = get_work_dim(); x[at + 3] = get_local_size(0);\n"
    "}\n"
    "kernel void sums(global const int *in, global int *out, local int *a, local int *b) {\n"
    "    int l = get_local_id(0), n = get_local_size(0);\n"
    "    a[l] = in[get_global_id(0)]; b[n - 1 - l] = a[l];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int s = 0; for (int i = 0; i <= l; ++i) s += a[i] * 2 - b[n - 1 - i];\n"
    "    out[get_global_id(0)] = s;\n"
    "}\n"
    "kernel void count(global int *n) { atomic_inc(n); if (get_global_id(0) == 0) kept += 1; }\n"
    "kernel void tell(global int *n) { *n = kept; }\n"
    "kernel void collect(global int *n) { int s = work_group_reduce_add(1); if (get_local_id(0) == 0) atomic_add(n, s); }\n"
    "kernel void say(float4 v, int k) {\n"
    "    if (get_global_id(0) == 3) printf(\"%d: %s %5.2f %v4hlf %c %x %ld%%\\n\", k, \"text\", 1.5f, v, 'c', 255u, 1L << 40);\n"
    "}\n";

int main(void) {
    begin();
    cl_program program = build(source, "-cl-std=CL2.0");
    enum { W = 10, H = 3 };
    int out[W * H * 4];
    cl_mem buffer = buffer_of(sizeof out, NULL);
    cl_kernel numbers = kernel_of(program, "numbers");
    CHECK(clSetKernelArg(numbers, 0, sizeof buffer, &buffer));
    size_t offset[2] = {100, 7}, global[2] = {W, H};
    CHECK(clEnqueueNDRangeKernel(queue, numbers, 2, offset, global, NULL, 0, NULL, NULL));
    read_back(buffer, out, sizeof out);
    for (int j = 0; j < H; ++j)
        for (int i = 0; i < W; ++i) {
            int *x = out + (j * W + i) * 4;
            TRUE(x[0] == 100 + i && x[1] == 7 + j && x[2] == 2 && x[3] > 0 && W % x[3] == 0);
        }

    // The last group may be smaller in OpenCL C 2.0.
    size_t uneven = 100, group = 64;
    cl_mem many = buffer_of(sizeof(int) * 4 * 100, NULL);
    CHECK(clSetKernelArg(numbers, 0, sizeof many, &many));
    CHECK(clEnqueueNDRangeKernel(queue, numbers, 1, NULL, &uneven, &group, 0, NULL, NULL));
    int last[4];
    CHECK(clEnqueueReadBuffer(queue, many, CL_TRUE, 99 * 16, 16, last, 0, NULL, NULL));
    TRUE(last[0] == 99 && last[2] == 1 && last[3] == 36);

    // Two arguments in local memory.
    int in[256], got[256];
    for (int i = 0; i < 256; ++i) in[i] = i * i;
    cl_mem from = buffer_of(sizeof in, in), to = buffer_of(sizeof in, NULL);
    cl_kernel sums = kernel_of(program, "sums");
    CHECK(clSetKernelArg(sums, 0, sizeof from, &from));
    CHECK(clSetKernelArg(sums, 1, sizeof to, &to));
    CHECK(clSetKernelArg(sums, 2, 64 * sizeof(int), NULL));
    CHECK(clSetKernelArg(sums, 3, 64 * sizeof(int), NULL));
    cl_ulong local_bytes;
    CHECK(clGetKernelWorkGroupInfo(sums, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL));
    TRUE(local_bytes >= 512);
    run(sums, 256, 64);
    read_back(to, got, sizeof got);
    for (int g = 0, i = 0; g < 4; ++g)
        for (int l = 0, s = 0; l < 64; ++l, ++i) {
            s += in[i];
            TRUE(got[i] == s);
        }

    // Atomics, variables of the program, collective functions.
    int zero = 0;
    cl_mem n = buffer_of(sizeof zero, &zero);
    cl_kernel count = kernel_of(program, "count"), tell = kernel_of(program, "tell"), collect = kernel_of(program, "collect");
    CHECK(clSetKernelArg(count, 0, sizeof n, &n));
    CHECK(clSetKernelArg(tell, 0, sizeof n, &n));
    CHECK(clSetKernelArg(collect, 0, sizeof n, &n));
    run(count, 1000, 0);
    run(count, 24, 0);
    read_back(n, &zero, sizeof zero);
    TRUE(zero == 1024);
    run(collect, 256, 128);
    read_back(n, &zero, sizeof zero);
    TRUE(zero == 1280);
    run(tell, 1, 1);
    read_back(n, &zero, sizeof zero);
    TRUE(zero == 7);

    cl_kernel say = kernel_of(program, "say");
    cl_float4 v = {{1, -2, 0.25f, 1e6f}};
    int k = -12;
    CHECK(clSetKernelArg(say, 0, sizeof v, &v));
    CHECK(clSetKernelArg(say, 1, sizeof k, &k));
    run(say, 64, 64);
    CHECK(clFinish(queue));
    printf("kernels: right\n");
    return 0;
}
