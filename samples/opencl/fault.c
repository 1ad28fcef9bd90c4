// A kernel that writes far behind its buffer: the program ends with a message.
#include "check.h"

int main(void) {
    begin();
    cl_kernel kernel = kernel_of(build("kernel void stray(global int *x) { x[1 << 28] = 1; }", ""), "stray");
    cl_mem buffer = buffer_of(64, NULL);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    printf("fault: still here\n");
    return 0;
}
