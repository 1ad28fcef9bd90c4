// Queues with and without order, events of the program's own, callbacks, functions of the host among the commands, times.
#include "check.h"
#include <pthread.h>

static const char *source =
    "kernel void advance(global int *x, int a) { size_t i = get_global_id(0); x[i] = x[i] * 3 + a; }\n"
    "kernel void long_one(global int *x, int n) { int s = 0; for (int i = 0; i < n; ++i) s = s * 5 + x[get_global_id(0)]; x[get_global_id(0)] = s; }\n";

static int called, status_seen = 99;
static void CL_CALLBACK notice(cl_event event, cl_int status, void *data) {
    cl_uint kind;
    CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof kind, &kind, NULL));
    called += *(int *)data;
    status_seen = status;
}

struct native { int *values; int add; };
static void CL_CALLBACK native(void *argument) {
    struct native *n = argument;
    for (int i = 0; i < 64; ++i) n->values[i] += n->add;
}

static cl_event gate;
static void *opener(void *unused) {
    (void)unused;
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    return NULL;
}

static cl_int status_of(cl_event event) {
    cl_int status;
    CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

int main(void) {
    begin();
    cl_program program = build(source, "");
    cl_kernel step = kernel_of(program, "advance");
    int x[64], out[64], a = 1;
    for (int i = 0; i < 64; ++i) x[i] = i;
    cl_mem buffer = buffer_of(sizeof x, x);
    CHECK(clSetKernelArg(step, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(step, 1, sizeof a, &a));

    // In order, behind an event that the program completes: nothing runs before.
    gate = clCreateUserEvent(context, &error);
    CHECK(error);
    size_t n = 64;
    cl_event first, last;
    CHECK(clEnqueueNDRangeKernel(queue, step, 1, NULL, &n, NULL, 1, &gate, &first));
    a = 2;
    CHECK(clSetKernelArg(step, 1, sizeof a, &a));
    CHECK(clEnqueueNDRangeKernel(queue, step, 1, NULL, &n, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof out, out, 0, NULL, &last));
    static int one = 1, ten = 10;
    CHECK(clSetEventCallback(last, CL_COMPLETE, notice, &one));
    CHECK(clSetEventCallback(first, CL_RUNNING, notice, &ten));
    CHECK(clFlush(queue));
    TRUE(status_of(first) > CL_RUNNING && status_of(last) == CL_QUEUED && called == 0);
    pthread_t thread;
    TRUE(pthread_create(&thread, NULL, opener, NULL) == 0);
    CHECK(clWaitForEvents(1, &last));
    pthread_join(thread, NULL);
    for (int i = 0; i < 64; ++i) TRUE(out[i] == (i * 3 + 1) * 3 + 2);
    TRUE(called == 11 && status_of(last) == CL_COMPLETE);
    CHECK(clSetEventCallback(last, CL_COMPLETE, notice, &one));
    TRUE(called == 12 && status_seen == CL_COMPLETE);
    IS(clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);

    // Without order: only what is waited for counts, and barriers.
    cl_command_queue free_queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    CHECK(error);
    cl_event closed = clCreateUserEvent(context, &error), blocked, passed, marker, behind;
    CHECK(clEnqueueNDRangeKernel(free_queue, step, 1, NULL, &n, NULL, 1, &closed, &blocked));
    CHECK(clEnqueueReadBuffer(free_queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, &passed));
    TRUE(status_of(blocked) > 0 && status_of(passed) == CL_COMPLETE);
    CHECK(clEnqueueMarkerWithWaitList(free_queue, 0, NULL, &marker));
    CHECK(clEnqueueBarrierWithWaitList(free_queue, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(free_queue, buffer, CL_FALSE, 0, sizeof out, out, 0, NULL, &behind));
    TRUE(status_of(marker) > 0 && status_of(behind) > 0);
    CHECK(clSetUserEventStatus(closed, CL_COMPLETE));
    CHECK(clFinish(free_queue));
    TRUE(status_of(behind) == CL_COMPLETE && out[1] == ((1 * 3 + 1) * 3 + 2) * 3 + 2);

    // An event that failed: what waits for it fails, too.
    cl_event broken = clCreateUserEvent(context, &error), victim;
    CHECK(clEnqueueNDRangeKernel(queue, step, 1, NULL, &n, NULL, 1, &broken, &victim));
    CHECK(clSetUserEventStatus(broken, -5));
    TRUE(status_of(victim) < 0);
    IS(clWaitForEvents(1, &victim), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);

    // A function of the host, with the address of a buffer among its arguments.
    struct native arguments = {NULL, 1000};
    const void *place = &arguments.values;
    read_back(buffer, x, sizeof x);
    CHECK(clEnqueueNativeKernel(queue, native, &arguments, sizeof arguments, 1, &buffer, &place, 0, NULL, NULL));
    read_back(buffer, out, sizeof out);
    for (int i = 0; i < 64; ++i) TRUE(out[i] == x[i] + 1000);

    // Times are those of the simulated GPU: more work takes longer, and the same work as long.
    cl_kernel work = kernel_of(program, "long_one");
    CHECK(clSetKernelArg(work, 0, sizeof buffer, &buffer));
    cl_ulong times[3];
    int rounds[3] = {10, 1000, 1000};
    for (int i = 0; i < 3; ++i) {
        cl_event event;
        cl_ulong start, end, queued;
        CHECK(clSetKernelArg(work, 1, sizeof(int), &rounds[i]));
        CHECK(clEnqueueNDRangeKernel(queue, work, 1, NULL, &n, &n, 0, NULL, &event));
        CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL));
        CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
        CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        TRUE(queued <= start && start < end);
        times[i] = end - start;
        CHECK(clReleaseEvent(event));
    }
    TRUE(times[1] > 5 * times[0]);
    IS(clGetEventProfilingInfo(passed, CL_PROFILING_COMMAND_END, 8, times, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
    printf("events: right\n");
    return 0;
}
