// A kernel with an error that shows in no result, of the kind its argument says: for `wavebound cl --sanitize`.
#include "check.h"

static const char *source =
    "kernel void add(global const int *a, global int *b, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i <= n) b[i] += a[i];\n"
    "}\n"
    "kernel void turn(global const int *in, global int *out, local int *part) {\n"
    "    part[get_local_id(0)] = in[get_global_id(0)];\n"
    "    out[get_global_id(0)] = part[127 - get_local_id(0)];\n"
    "}\n";

int main(int argc, char **argv) {
    enum { N = 100 };
    const char *how = argc > 1 ? argv[1] : "none";
    static int ones[128], zeros[N], got[N];
    int race = !strcmp(how, "race"), n = strcmp(how, "beyond") ? N - 1 : N;
    for (int i = 0; i < 128; ++i) ones[i] = 1;
    begin();
    cl_program program = build(source, "");
    cl_mem a = buffer_of(sizeof ones, ones);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof zeros, NULL, &error);
    CHECK(error);
    if (strcmp(how, "unset")) CHECK(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    cl_kernel kernel = kernel_of(program, race ? "turn" : "add");
    CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
    CHECK(clSetKernelArg(kernel, 1, sizeof b, race ? &a : &b));
    CHECK(race ? clSetKernelArg(kernel, 2, 128 * sizeof(int), NULL) : clSetKernelArg(kernel, 2, sizeof n, &n));
    size_t items = 128;
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL));
    read_back(b, got, sizeof got);
    CHECK(clReleaseMemObject(a));
    CHECK(clReleaseMemObject(b));
    printf("wrong: the last of %d is %d\n", N, got[N - 1]);
    return 0;
}
