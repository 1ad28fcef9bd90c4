// Prints what several kernels compute, byte by byte, for a comparison of devices: only operations whose results OpenCL fixes.
#include "check.h"

static const char *source =
    "kernel void scramble(global uint *x, uint n) {\n"
    "    uint i = get_global_id(0), s = i * 2654435761u;\n"
    "    for (uint r = 0; r < n; ++r) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; if (s & 1) s = rotate(s, 7u); else s = mul_hi(s, 0x9e3779b9u) + popcount(s); }\n"
    "    x[i] = s;\n"
    "}\n"
    "kernel void floats(global const float *a, global float *b) {\n"
    "    uint i = get_global_id(0);\n"
    "    float x = a[i], y = a[i ^ 1];\n"
    "    b[i] = fma(x, y, floor(x)) + fmin(x, y) - fabs(rint(y)) + convert_float(convert_int_rtz(x));\n"
    "}\n"
    "kernel void reverse(global uchar4 *x, local uchar4 *l) {\n"
    "    uint i = get_local_id(0), n = get_local_size(0);\n"
    "    l[i] = x[get_global_id(0)].wzyx;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x[get_global_id(0)] = l[n - 1 - i] + (uchar4)(1, 2, 3, 4);\n"
    "}\n"
    "kernel void doubles(global double *x) { uint i = get_global_id(0); double y = x[i]; x[i] = fma(y, y, -0.5) * (double)(long)(y * 16.0); }\n"
    "kernel void histogram(global const uint *x, global uint *h, uint n) { for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&h[x[i] & 15], x[i] >> 28); }\n";

static void show(const char *name, const void *data, size_t bytes) {
    printf("%s:", name);
    for (size_t i = 0; i < bytes; ++i) printf("%s%02x", i % 32 ? "" : "\n", ((const unsigned char *)data)[i]);
    printf("\n");
}

int main(void) {
    begin();
    cl_program program = build(source, "");
    enum { N = 256 };
    static uint32_t words[N], counts[16];
    static float in[N], out[N];
    static double doubles[N];
    for (int i = 0; i < N; ++i) { in[i] = (i - 128) * 0.37f; doubles[i] = (i - 100) * 1.25; }
    cl_uint n = 37, all = N;
    cl_mem a = buffer_of(sizeof words, NULL), f = buffer_of(sizeof in, in), g = buffer_of(sizeof out, NULL);
    cl_mem d = buffer_of(sizeof doubles, doubles), h = buffer_of(sizeof counts, counts);

    cl_kernel mix = kernel_of(program, "scramble");
    CHECK(clSetKernelArg(mix, 0, sizeof a, &a));
    CHECK(clSetKernelArg(mix, 1, sizeof n, &n));
    run(mix, N, 64);
    read_back(a, words, sizeof words);
    show("scramble", words, sizeof words);

    cl_kernel floats = kernel_of(program, "floats");
    CHECK(clSetKernelArg(floats, 0, sizeof f, &f));
    CHECK(clSetKernelArg(floats, 1, sizeof g, &g));
    run(floats, N, 32);
    read_back(g, out, sizeof out);
    show("floats", out, sizeof out);

    cl_kernel histogram = kernel_of(program, "histogram");
    CHECK(clSetKernelArg(histogram, 0, sizeof a, &a));
    CHECK(clSetKernelArg(histogram, 1, sizeof h, &h));
    CHECK(clSetKernelArg(histogram, 2, sizeof all, &all));
    run(histogram, 64, 16);
    read_back(h, counts, sizeof counts);
    show("histogram", counts, sizeof counts);

    cl_kernel reverse = kernel_of(program, "reverse");
    CHECK(clSetKernelArg(reverse, 0, sizeof a, &a));
    CHECK(clSetKernelArg(reverse, 1, 64 * 4, NULL));
    run(reverse, N, 64);
    read_back(a, words, sizeof words);
    show("reverse", words, sizeof words);

    cl_kernel twos = kernel_of(program, "doubles");
    CHECK(clSetKernelArg(twos, 0, sizeof d, &d));
    run(twos, N, 64);
    read_back(d, doubles, sizeof doubles);
    show("doubles", doubles, sizeof doubles);
    return 0;
}
