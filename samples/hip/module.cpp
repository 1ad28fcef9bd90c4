// Loads a code object at run time and launches its kernel by name, with arguments as a list and as a buffer.
// The code object is built from module_kernel.hip; its file is the program's argument.
#include "check.h"

int main(int argc, char** argv) {
    const char* file = argc > 1 ? argv[1] : "module_kernel.co";
    const int n = 300;
    std::vector<int> in(n), wanted(n);
    for (int i = 0; i < n; ++i) {
        in[i] = i - 100;
        wanted[i] = (in[i] * 3 + 11) * 3 + 11;
    }
    hipModule_t module;
    hipFunction_t scale, none;
    CHECK(hipModuleLoad(&module, file));
    CHECK(hipModuleGetFunction(&scale, module, "scale"));
    if (hipModuleGetFunction(&none, module, "no_such_kernel") != hipErrorNotFound) {
        std::printf("module: FAILED: a kernel that does not exist was found\n");
        return 1;
    }
    // The amount to add is a variable of the module.
    hipDeviceptr_t offset;
    size_t bytes;
    CHECK(hipModuleGetGlobal(&offset, &bytes, module, "offset"));
    int eleven = 11;
    if (bytes != sizeof eleven) return 1;
    CHECK(hipMemcpyHtoD(offset, &eleven, sizeof eleven));

    int *data = to_device(in), count = n, factor = 3;
    void* list[] = {&data, &count, &factor};
    CHECK(hipModuleLaunchKernel(scale, (n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, list, nullptr));
    struct {
        int* data;
        int count, factor;
    } packed = {data, count, factor};
    size_t size = sizeof packed;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    CHECK(hipModuleLaunchKernel(scale, (n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
    int code = verdict("module", to_host(data, n), wanted);
    CHECK(hipModuleUnload(module));
    return code;
}
