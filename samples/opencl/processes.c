// Programs that end badly or in several processes and threads. The argument says how: leave, exit, fork, threads, or
// loop for short launches without an end.
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_program program;

static int square(int x) {
    cl_int code;
    int y = 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, &x, &code);
    CHECK(code);
    cl_kernel kernel = clCreateKernel(program, "square", &code);
    CHECK(code);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof y, &y, 0, NULL, NULL));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseMemObject(buffer));
    return y;
}

static void *worker(void *number) {
    for (int i = 0; i < 20; ++i) TRUE(square((int)(size_t)number + i) == ((int)(size_t)number + i) * ((int)(size_t)number + i));
    return NULL;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "leave";
    begin();
    program = build("kernel void square(global int *x) { *x *= *x; }", "");
    TRUE(square(7) == 49);
    if (!strcmp(how, "exit")) {
        // In the middle: work that waits for ever, nothing released.
        cl_event gate = clCreateUserEvent(context, &error);
        size_t one = 1;
        cl_kernel kernel = kernel_of(program, "square");
        cl_mem buffer = buffer_of(4, NULL);
        CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &gate, NULL));
        exit(7);
    }
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) exit(square(5) == 25 ? 0 : 1);
        int status;
        TRUE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        TRUE(square(9) == 81);
    }
    if (!strcmp(how, "threads")) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; ++i) TRUE(pthread_create(&threads[i], NULL, worker, (void *)(i * 100)) == 0);
        for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    }
    if (!strcmp(how, "loop"))
        for (;;) TRUE(square(3) == 9);
    printf("processes: %s, right\n", how);
    return 0;
}
