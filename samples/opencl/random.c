// Random calls with random arguments, right and wrong ones mixed: codes may be anything, but the program goes on, and what it
// knows to be in its buffer is there at the end. Arguments: seed, number of calls.
#include "check.h"

static uint64_t state;
static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

enum { MANY = 24 };
static void *pool[MANY];
static cl_event events[MANY];

// Any handle that was ever given out, also released ones, of any type.
static void *any(void) { return pool[draw(MANY)]; }
static void keep(void *handle) {
    if (handle) pool[draw(MANY)] = handle;
}
static size_t number(void) {
    static const size_t odd[] = {0, 1, 2, 3, 4, 8, 16, 64, 100, 128, 256, 1000, 4096, 1u << 20, (size_t)-1, (size_t)-8, (size_t)1 << 40};
    return odd[draw(sizeof odd / sizeof *odd)];
}
static unsigned bits(void) { return draw(3) ? 1u << draw(12) : draw(4096); }

int main(int count_of, char **arguments) {
    state = count_of > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    long calls = count_of > 2 ? atol(arguments[2]) : 2000, good = 0;
    begin();
    cl_program program = build("kernel void k(global int *x, int n) { if (n >= 0 && n < 16) x[n] = n; }", "");
    cl_kernel kernel = kernel_of(program, "k");
    static char room[1 << 16];
    cl_mem known = buffer_of(4096, NULL);
    unsigned word = 0xabcd1234;
    CHECK(clEnqueueFillBuffer(queue, known, &word, 4, 0, 4096, 0, NULL, NULL));
    void *first[] = {context, queue, program, kernel, device, platform};
    for (int i = 0; i < MANY; ++i) pool[i] = first[i % 6];
    cl_mem scratch = buffer_of(4096, NULL);
    for (int i = 0; i < MANY; i += 3) pool[i] = scratch;
    // The device, the context and the queue stay: releases of them are balanced.
    for (int i = 0; i < calls; ++i) {
        CHECK(clRetainContext(context));
        CHECK(clRetainCommandQueue(queue));
        CHECK(clRetainProgram(program));
        CHECK(clRetainKernel(kernel));
    }
    for (long i = 0; i < calls; ++i) {
        cl_int code = CL_INVALID_VALUE;
        size_t sizes[3] = {number(), number(), number()}, out = 0;
        size_t small[3] = {1 + draw(64), 1 + draw(4), 1}, offsets[3] = {number(), draw(8), 0};
        int waits = draw(3);
        cl_event list[2] = {events[draw(MANY)], events[draw(MANY)]};
        if (!list[0] || !list[1]) waits = 0;
        cl_event event = NULL;
        int value = (int)draw(20) - 2;
        switch (draw(32)) {
        case 0: keep(clCreateBuffer(any(), bits(), draw(2) ? number() : 4096, draw(3) ? NULL : room, &code)); break;
        case 1: code = clReleaseMemObject(any()); break;
        case 2: code = clRetainMemObject(any()); break;
        case 3: { cl_buffer_region r = {draw(2) ? 256 * draw(20) : number(), number()};
                  keep(clCreateSubBuffer(any(), bits(), draw(8) ? CL_BUFFER_CREATE_TYPE_REGION : 7, draw(8) ? &r : NULL, &code)); break; }
        case 4: code = clEnqueueReadBuffer(any(), any(), draw(2), number(), draw(4096), draw(8) ? room : NULL, waits, waits ? list : NULL, &event); break;
        case 5: { cl_mem m = any(); if (m == known) break;
                  code = clEnqueueWriteBuffer(any(), m, draw(2), number(), draw(4096), draw(8) ? room : NULL, waits, waits ? list : NULL, &event); break; }
        case 6: { cl_mem m = any(); if (m == known) break;
                  code = clEnqueueCopyBuffer(any(), any(), m, number(), number(), number(), waits, waits ? list : NULL, &event); break; }
        case 7: { cl_mem m = any(); if (m == known) break;
                  code = clEnqueueFillBuffer(any(), m, room, draw(20), number(), number(), waits, waits ? list : NULL, &event); break; }
        case 8: code = clEnqueueReadBufferRect(any(), any(), draw(2), offsets, offsets + 1, small, number(), number(), draw(300), draw(3000), room, 0, NULL, &event); break;
        case 9: { void *p = clEnqueueMapBuffer(any(), any(), draw(2), bits(), number(), number(), waits, waits ? list : NULL, &event, &code);
                  if (p && draw(2)) clEnqueueUnmapMemObject(any(), any(), p, 0, NULL, NULL);
                  break; }
        case 10: code = clSetKernelArg(any(), draw(4), draw(2) ? sizeof(cl_mem) : draw(20), draw(5) ? (void *)&pool[draw(MANY)] : NULL); break;
        case 11: code = clSetKernelArg(kernel, 1, sizeof value, &value); break;
        case 12: code = clSetKernelArg(kernel, 0, sizeof scratch, &scratch); break;
        case 13: code = clEnqueueNDRangeKernel(any(), any(), draw(5), draw(2) ? NULL : offsets, draw(9) ? small : sizes, draw(2) ? NULL : sizes, waits, waits ? list : NULL, &event); break;
        case 14: code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, small, NULL, 0, NULL, &event); break;
        case 15: code = clGetDeviceInfo(any(), 0x1000 + draw(0x90), draw(2) ? sizeof room : draw(8), draw(8) ? room : NULL, &out); break;
        case 16: code = clGetMemObjectInfo(any(), 0x1100 + draw(12), draw(64), room, &out); break;
        case 17: code = clGetKernelInfo(any(), 0x1190 + draw(8), draw(64), room, &out); break;
        case 18: code = clGetKernelArgInfo(any(), draw(4), 0x1196 + draw(6), draw(64), room, &out); break;
        case 19: code = clGetKernelWorkGroupInfo(any(), draw(2) ? device : any(), 0x11B0 + draw(6), draw(64), room, &out); break;
        case 20: code = clGetProgramBuildInfo(any(), device, 0x1181 + draw(6), sizeof room, room, &out); break;
        case 21: { size_t name = draw(14); if (name == 6) break; code = clGetProgramInfo(any(), 0x1160 + name, sizeof room, room, &out); break; }
        case 22: keep(clCreateUserEvent(any(), &code)); break;
        case 23: code = clSetUserEventStatus(any(), (int)draw(4) - 2); break;
        case 24: code = clGetEventInfo(events[draw(MANY)] ? events[draw(MANY)] : any(), 0x11D0 + draw(6), draw(16), room, &out); break;
        case 25: code = clGetEventProfilingInfo(any(), 0x1280 + draw(6), 8, room, &out); break;
        case 26: code = clEnqueueMarkerWithWaitList(any(), waits, waits ? list : NULL, &event); break;
        case 27: keep(clCreateKernel(any(), draw(2) ? "k" : "nobody", &code)); break;
        case 28: code = draw(2) ? clReleaseKernel(any()) : clReleaseEvent(any()); break;
        case 29: code = draw(2) ? clReleaseContext(any()) : clReleaseCommandQueue(any()); break;
        case 30: keep(clCreateCommandQueue(any(), draw(2) ? device : any(), draw(6), &code)); break;
        case 31: { void *p = clSVMAlloc(any(), bits(), draw(2) ? 4096 : number(), draw(3) ? 0 : draw(600)); if (p) clSVMFree(context, p); code = clReleaseProgram(any()); break; }
        }
        good += code == CL_SUCCESS;
        if (event) { events[draw(MANY)] = event; keep(event); }
    }
    unsigned back[1024];
    cl_command_queue fresh = clCreateCommandQueue(context, device, 0, &error);
    CHECK(error);
    CHECK(clEnqueueReadBuffer(fresh, known, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
    for (int i = 0; i < 1024; ++i) TRUE(back[i] == word);
    TRUE(good > calls / 50);
    printf("random: %ld of %ld calls were good\n", good, calls);
    return 0;
}
