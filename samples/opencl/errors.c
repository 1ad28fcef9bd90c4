// Wrong calls are answered by codes, never by a crash: handles of other objects, released ones, sizes and flags that cannot be.
#include "check.h"

int main(void) {
    begin();
    cl_program program = build("kernel void k(global int *x, local int *l, int n) { l[0] = n; x[0] = l[0]; }", "");
    cl_kernel kernel = kernel_of(program, "k");
    cl_mem buffer = buffer_of(64, NULL);
    int n = 1;
    size_t one = 1, big = 4096, zero = 0;

    // Handles of something else.
    IS(clRetainContext((cl_context)queue), CL_INVALID_CONTEXT);
    IS(clRetainCommandQueue((cl_command_queue)context), CL_INVALID_COMMAND_QUEUE);
    IS(clRetainMemObject((cl_mem)kernel), CL_INVALID_MEM_OBJECT);
    IS(clRetainProgram((cl_program)buffer), CL_INVALID_PROGRAM);
    IS(clRetainKernel((cl_kernel)program), CL_INVALID_KERNEL);
    IS(clRetainEvent((cl_event)program), CL_INVALID_EVENT);
    IS(clGetDeviceInfo((cl_device_id)platform, CL_DEVICE_NAME, 0, NULL, &one), CL_INVALID_DEVICE);
    IS(clRetainSampler((cl_sampler)buffer), CL_INVALID_SAMPLER);
    IS(clFinish((cl_command_queue)buffer), CL_INVALID_COMMAND_QUEUE);
    one = 1;

    // Released ones.
    cl_mem gone = buffer_of(64, NULL);
    CHECK(clReleaseMemObject(gone));
    IS(clReleaseMemObject(gone), CL_INVALID_MEM_OBJECT);
    IS(clSetKernelArg(kernel, 0, sizeof gone, &gone), CL_INVALID_MEM_OBJECT);
    IS(clEnqueueReadBuffer(queue, gone, CL_TRUE, 0, 4, &n, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);

    // Buffers.
    clCreateBuffer(context, 0, 0, NULL, &error);
    IS(error, CL_INVALID_BUFFER_SIZE);
    clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &error);
    IS(error, CL_INVALID_VALUE);
    clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4, NULL, &error);
    IS(error, CL_INVALID_HOST_PTR);
    clCreateBuffer(context, 0, 4, &n, &error);
    IS(error, CL_INVALID_HOST_PTR);
    clCreateBuffer(context, 0, (size_t)-1, NULL, &error);
    IS(error, CL_INVALID_BUFFER_SIZE);
    IS(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 60, 8, &n, 0, NULL, NULL), CL_INVALID_VALUE);
    IS(clEnqueueReadBuffer(queue, buffer, CL_TRUE, (size_t)-4, 8, &n, 0, NULL, NULL), CL_INVALID_VALUE);
    IS(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    IS(clEnqueueFillBuffer(queue, buffer, &n, 3, 0, 6, 0, NULL, NULL), CL_INVALID_VALUE);
    cl_buffer_region odd = {3, 4}, far = {256, 4};
    clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &error);
    IS(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &far, &error);
    IS(error, CL_INVALID_VALUE);
    cl_mem secret = clCreateBuffer(context, CL_MEM_HOST_NO_ACCESS, 64, NULL, &error);
    CHECK(error);
    IS(clEnqueueReadBuffer(queue, secret, CL_TRUE, 0, 4, &n, 0, NULL, NULL), CL_INVALID_OPERATION);
    clEnqueueMapBuffer(queue, secret, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &error);
    IS(error, CL_INVALID_OPERATION);

    // Arguments.
    IS(clEnqueueTask(queue, kernel, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    IS(clSetKernelArg(kernel, 3, 4, &n), CL_INVALID_ARG_INDEX);
    IS(clSetKernelArg(kernel, 2, 8, &n), CL_INVALID_ARG_SIZE);
    IS(clSetKernelArg(kernel, 2, 4, NULL), CL_INVALID_ARG_VALUE);
    IS(clSetKernelArg(kernel, 1, 4, &n), CL_INVALID_ARG_VALUE);
    IS(clSetKernelArg(kernel, 1, 0, NULL), CL_INVALID_ARG_SIZE);
    IS(clSetKernelArg(kernel, 0, 4, &buffer), CL_INVALID_ARG_SIZE);
    IS(clSetKernelArgSVMPointer(kernel, 0, &n), CL_INVALID_ARG_VALUE);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(kernel, 1, 64, NULL));
    CHECK(clSetKernelArg(kernel, 2, 4, &n));

    // Ranges.
    IS(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    IS(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &big, &big, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE);
    IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &zero, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    size_t hundred = 100, group = 64;
    IS(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &hundred, &group, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL));
    CHECK(clSetKernelArg(kernel, 1, 1 << 20, NULL));
    IS(clEnqueueTask(queue, kernel, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    CHECK(clSetKernelArg(kernel, 1, 64, NULL));

    // Lists of events.
    cl_event event;
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, &event));
    IS(clEnqueueTask(queue, kernel, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    IS(clEnqueueTask(queue, kernel, 0, &event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    cl_event no_event = (cl_event)buffer;
    IS(clEnqueueTask(queue, kernel, 1, &no_event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    IS(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_EVENT);
    IS(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    cl_context second = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    cl_command_queue other = clCreateCommandQueue(second, device, 0, &error);
    CHECK(error);
    IS(clEnqueueTask(other, kernel, 0, NULL, NULL), CL_INVALID_CONTEXT);
    IS(clEnqueueReadBuffer(other, buffer, CL_TRUE, 0, 4, &n, 0, NULL, NULL), CL_INVALID_CONTEXT);
    IS(clEnqueueMarkerWithWaitList(other, 1, &event, NULL), CL_INVALID_CONTEXT);

    // What is not there says so.
    cl_bool images;
    CHECK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    TRUE(!images);
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {CL_MEM_OBJECT_IMAGE2D, 4, 4, 1, 1, 0, 0, 0, 0, {NULL}};
    TRUE(!clCreateImage(context, 0, &format, &desc, NULL, &error));
    IS(error, CL_INVALID_OPERATION);
    TRUE(!clCreateImage2D(context, 0, &format, 4, 4, 0, NULL, &error));
    IS(error, CL_INVALID_OPERATION);
    TRUE(!clCreateImage3D(context, 0, &format, 4, 4, 4, 0, 0, NULL, &error));
    IS(error, CL_INVALID_OPERATION);
    TRUE(!clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error));
    IS(error, CL_INVALID_OPERATION);
    TRUE(!clCreatePipe(context, 0, 4, 4, NULL, &error));
    IS(error, CL_INVALID_OPERATION);
    cl_uint formats = 9;
    CHECK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &formats));
    TRUE(formats == 0);
    TRUE(clGetExtensionFunctionAddressForPlatform(platform, "clNobodyKHR") == NULL);
    IS(clCreateSubDevices(device, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    IS(clGetDeviceInfo(device, CL_DEVICE_NAME, 1, &n, NULL), CL_INVALID_VALUE);
    IS(clGetDeviceInfo(device, 0x9999, 0, NULL, &one), CL_INVALID_VALUE);
    printf("errors: right\n");
    return 0;
}
