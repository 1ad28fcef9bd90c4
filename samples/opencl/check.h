// What every sample needs: a device, a program, and an end with a message where something is not as it should be.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS(call, code) do { cl_int got_ = (call); if (got_ != (code)) { \
    fprintf(stderr, "%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #call, got_, (int)(code)); exit(1); } } while (0)
#define CHECK(call) IS(call, CL_SUCCESS)
#define TRUE(condition) do { if (!(condition)) { \
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); exit(1); } } while (0)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_int error;

__attribute__((unused)) static void begin(void) {
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    CHECK(error);
}

__attribute__((unused)) static cl_program build(const char *source, const char *options) {
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    CHECK(error);
    if (clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        exit(1);
    }
    return program;
}

__attribute__((unused)) static cl_kernel kernel_of(cl_program program, const char *name) {
    cl_kernel kernel = clCreateKernel(program, name, &error);
    CHECK(error);
    return kernel;
}

__attribute__((unused)) static cl_mem buffer_of(size_t bytes, const void *from) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, (void *)from, &error);
    CHECK(error);
    return buffer;
}

__attribute__((unused)) static void run(cl_kernel kernel, size_t global, size_t local) {
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
}

__attribute__((unused)) static void read_back(cl_mem buffer, void *to, size_t bytes) {
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}
