// Buffers in all their ways: parts, fills, rectangles, maps, memory of the program, destructors.
#include "check.h"

static int destroyed;
static void CL_CALLBACK gone(cl_mem buffer, void *data) {
    (void)buffer;
    destroyed = destroyed * 10 + *(int *)data;
}

int main(void) {
    begin();
    enum { N = 4096 };
    static unsigned char bytes[N], out[N];
    for (int i = 0; i < N; ++i) bytes[i] = i * 7;
    cl_mem whole = buffer_of(N, bytes);

    // A part of it, which holds the whole.
    cl_buffer_region region = {1024, 512};
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    CHECK(error);
    size_t offset;
    cl_mem parent;
    CHECK(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    CHECK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    TRUE(offset == 1024 && parent == whole);
    read_back(part, out, 512);
    TRUE(memcmp(out, bytes + 1024, 512) == 0);
    cl_uint count;
    CHECK(clGetMemObjectInfo(whole, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
    TRUE(count == 2);

    // Fills and copies.
    unsigned pattern[2] = {0xdeadbeef, 0x01020304};
    CHECK(clEnqueueFillBuffer(queue, part, pattern, sizeof pattern, 8, 64, 0, NULL, NULL));
    for (int i = 0; i < 64; ++i) bytes[1032 + i] = ((unsigned char *)pattern)[i % 8];
    CHECK(clEnqueueCopyBuffer(queue, part, whole, 0, 3000, 512, 0, NULL, NULL));
    memcpy(bytes + 3000, bytes + 1024, 512);
    read_back(whole, out, N);
    TRUE(memcmp(out, bytes, N) == 0);
    IS(clEnqueueCopyBuffer(queue, whole, whole, 0, 100, 200, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);

    // Rectangles: 4 x 3 x 2 bytes of a cube of 16 x 8 x 4, and back to another place.
    unsigned char box[4 * 3 * 2];
    size_t at[3] = {5, 2, 1}, zero[3] = {0, 0, 0}, size[3] = {4, 3, 2}, to[3] = {1, 1, 2};
    CHECK(clEnqueueReadBufferRect(queue, whole, CL_TRUE, at, zero, size, 16, 128, 0, 0, box, 0, NULL, NULL));
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            TRUE(memcmp(box + z * 12 + y * 4, bytes + 5 + (2 + y) * 16 + (1 + z) * 128, 4) == 0);
    CHECK(clEnqueueWriteBufferRect(queue, whole, CL_TRUE, to, zero, size, 16, 128, 0, 0, box, 0, NULL, NULL));
    CHECK(clEnqueueCopyBufferRect(queue, whole, part, to, zero, size, 16, 128, 16, 128, 0, NULL, NULL));
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y) {
            memcpy(bytes + 1 + (1 + y) * 16 + (2 + z) * 128, box + z * 12 + y * 4, 4);
            memcpy(bytes + 1024 + y * 16 + z * 128, box + z * 12 + y * 4, 4);
        }
    read_back(whole, out, N);
    TRUE(memcmp(out, bytes, N) == 0);

    // Maps: what is written there is in the buffer.
    unsigned char *map = clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 100, 50, 0, NULL, NULL, &error);
    CHECK(error);
    TRUE(memcmp(map, bytes + 100, 50) == 0);
    memset(map, 99, 50);
    memset(bytes + 100, 99, 50);
    CHECK(clGetMemObjectInfo(whole, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE(count == 1);
    CHECK(clEnqueueUnmapMemObject(queue, whole, map, 0, NULL, NULL));
    IS(clEnqueueUnmapMemObject(queue, whole, map, 0, NULL, NULL), CL_INVALID_VALUE);
    read_back(whole, out, N);
    TRUE(memcmp(out, bytes, N) == 0);

    // Memory of the program: up to date when it is mapped.
    static int own[256];
    for (int i = 0; i < 256; ++i) own[i] = i;
    cl_mem host = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof own, own, &error);
    CHECK(error);
    cl_kernel twice = kernel_of(build("kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }", NULL), "twice");
    CHECK(clSetKernelArg(twice, 0, sizeof host, &host));
    run(twice, 256, 64);
    int *seen = clEnqueueMapBuffer(queue, host, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, sizeof own, 0, NULL, NULL, &error);
    CHECK(error);
    TRUE(seen == own);
    for (int i = 0; i < 256; ++i) TRUE(own[i] == 2 * i);
    for (int i = 0; i < 256; ++i) own[i] = -i;
    CHECK(clEnqueueUnmapMemObject(queue, host, seen, 0, NULL, NULL));
    run(twice, 256, 64);
    int back[256];
    read_back(host, back, sizeof back);
    for (int i = 0; i < 256; ++i) TRUE(back[i] == -2 * i);

    // Shared memory: a pointer for both.
    int *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof own, 0);
    TRUE(shared);
    for (int i = 0; i < 256; ++i) shared[i] = 3 * i;
    CHECK(clSetKernelArgSVMPointer(twice, 0, shared));
    run(twice, 256, 64);
    CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, shared, sizeof own, 0, NULL, NULL));
    for (int i = 0; i < 256; ++i) TRUE(shared[i] == 6 * i);
    CHECK(clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL));
    CHECK(clEnqueueSVMMemcpy(queue, CL_TRUE, back, shared, sizeof back, 0, NULL, NULL));
    TRUE(back[5] == 30);
    clSVMFree(context, shared);

    // Destructors: the last one first, when nobody has the buffer any more.
    static int one = 1, two = 2;
    CHECK(clSetMemObjectDestructorCallback(whole, gone, &one));
    CHECK(clSetMemObjectDestructorCallback(whole, gone, &two));
    CHECK(clReleaseMemObject(whole));
    TRUE(destroyed == 0);
    CHECK(clReleaseMemObject(part));
    TRUE(destroyed == 21);
    IS(clReleaseMemObject(whole), CL_INVALID_MEM_OBJECT);
    printf("buffers: right\n");
    return 0;
}
