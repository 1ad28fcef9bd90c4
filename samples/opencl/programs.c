// Programs: options, logs, binaries, compiling and linking, what is known about kernels and arguments.
#include "check.h"

static int built;
static void CL_CALLBACK notice(cl_program program, void *data) {
    (void)program;
    built += *(int *)data;
}

static int result_of(cl_program program, const char *name) {
    int value = 0;
    cl_mem out = buffer_of(sizeof value, NULL);
    cl_kernel kernel = kernel_of(program, name);
    CHECK(clSetKernelArg(kernel, 0, sizeof out, &out));
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    read_back(out, &value, sizeof value);
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseMemObject(out));
    return value;
}

static cl_uint type_of(cl_program program) {
    cl_uint type;
    CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    return type;
}

int main(void) {
    begin();
    char text[4096];
    // Options of the program reach the compiler, its messages come back.
    cl_program plain = build("kernel void k(global int *x) { *x = A + B; }", "-D A=40 -DB=2 -cl-fast-relaxed-math");
    TRUE(result_of(plain, "k") == 42);
    CHECK(clGetProgramBuildInfo(plain, device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, NULL));
    TRUE(strcmp(text, "-D A=40 -DB=2 -cl-fast-relaxed-math") == 0);
    const char *wrong = "kernel void k(global int *x) {\n    *x = nobody;\n}\n";
    cl_program bad = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
    static int one = 1;
    IS(clBuildProgram(bad, 0, NULL, "", notice, &one), CL_BUILD_PROGRAM_FAILURE);
    TRUE(built == 1);
    CHECK(clGetProgramBuildInfo(bad, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    TRUE(strstr(text, "nobody") && strstr(text, ".cl:2:"));
    clCreateKernel(bad, "k", &error);
    IS(error, CL_INVALID_PROGRAM_EXECUTABLE);
    IS(clBuildProgram(bad, 0, NULL, "-o stolen", NULL, NULL), CL_INVALID_BUILD_OPTIONS);

    // Binaries load again.
    size_t size;
    CHECK(clGetProgramInfo(plain, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    CHECK(clGetProgramInfo(plain, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    cl_int status;
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &status, &error);
    CHECK(error);
    CHECK(status);
    CHECK(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
    TRUE(result_of(again, "k") == 42);
    binary[0] = 0;
    clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &status, &error);
    TRUE(error == CL_INVALID_BINARY && status == CL_INVALID_BINARY);

    // Compile with a header, link with a library.
    const char *header_text = "int helper(int x);\n#define FACTOR 3\n", *helper_text = "int helper(int x) { return x + 1; }\n";
    const char *main_text = "#include \"parts/helper.h\"\nkernel void m(global int *x) { *x = helper(10) * FACTOR; }\n";
    const char *name = "parts/helper.h";
    cl_program header = clCreateProgramWithSource(context, 1, &header_text, NULL, &error);
    cl_program main_part = clCreateProgramWithSource(context, 1, &main_text, NULL, &error);
    cl_program helper_part = clCreateProgramWithSource(context, 1, &helper_text, NULL, &error);
    CHECK(clCompileProgram(main_part, 1, &device, "", 1, &header, &name, NULL, NULL));
    CHECK(clCompileProgram(helper_part, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    TRUE(type_of(main_part) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    cl_program library = clLinkProgram(context, 1, &device, "-create-library", 1, &helper_part, NULL, NULL, &error);
    CHECK(error);
    TRUE(type_of(library) == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program parts[2] = {main_part, library};
    cl_program linked = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &error);
    CHECK(error);
    TRUE(type_of(linked) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE && result_of(linked, "m") == 33);
    cl_program alone = clLinkProgram(context, 1, &device, "", 1, &main_part, NULL, NULL, &error);
    IS(error, CL_LINK_PROGRAM_FAILURE);
    CHECK(clGetProgramBuildInfo(alone, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    TRUE(strstr(text, "helper"));

    // What the device lists is what its compiler has: features of OpenCL C 3.0, and extensions.
    static cl_name_version features[64];
    static char source[65536];
    CHECK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &size));
    TRUE(size > sizeof features[0]);
    strcpy(source, "#if defined(__opencl_c_images) || defined(__opencl_c_pipes) || defined(__IMAGE_SUPPORT__)\n#error more\n#endif\n");
    for (size_t i = 0; i < size / sizeof features[0]; ++i)
        sprintf(source + strlen(source), "#ifndef %s\n#error %s\n#endif\n", features[i].name, features[i].name);
    CHECK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        // This one is about the host.
        if (strcmp(word, "cl_khr_extended_versioning"))
            sprintf(source + strlen(source), "#ifndef %s\n#error %s\n#endif\n", word, word);
    strcat(source, "global int kept = 4;\nkernel void f(global int *x) { int *p = x; *p = kept + (sub_group_broadcast(*p, 0) ? 0 : 1); }\n");
    TRUE(result_of(build(source, "-cl-std=CL3.0"), "f") >= 4);

    // What is known about kernels and their arguments.
    cl_program known = build(
        "__attribute__((reqd_work_group_size(8, 4, 1))) kernel void fixed(global int *x) { x[get_global_id(1) * 16 + get_global_id(0)] = 1; }\n"
        "kernel void args(global const float *restrict in, constant int *table, local int *scratch, volatile global uint *n, float4 v, int k)\n"
        "{ scratch[get_local_id(0)] = table[k]; n[0] = scratch[0] + (int)(v.x + in[0]); }\n",
        "-cl-kernel-arg-info");
    CHECK(clGetProgramInfo(known, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    TRUE(strstr(text, "fixed") && strstr(text, "args") && strchr(text, ';'));
    cl_kernel fixed = kernel_of(known, "fixed"), args = kernel_of(known, "args");
    size_t group[3], global[2] = {16, 8}, other[2] = {16, 2};
    CHECK(clGetKernelWorkGroupInfo(fixed, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL));
    TRUE(group[0] == 8 && group[1] == 4 && group[2] == 1);
    CHECK(clGetKernelInfo(fixed, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    TRUE(strstr(text, "reqd_work_group_size(8,4,1)"));
    cl_mem out = buffer_of(16 * 8 * sizeof(int), NULL);
    CHECK(clSetKernelArg(fixed, 0, sizeof out, &out));
    IS(clEnqueueNDRangeKernel(queue, fixed, 2, NULL, global, other, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    CHECK(clEnqueueNDRangeKernel(queue, fixed, 2, NULL, global, group, 0, NULL, NULL));
    static const struct { const char *name, *type; cl_uint address; cl_bitfield qualifiers; } wanted[6] = {
        {"in", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT},
        {"table", "int*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
        {"scratch", "int*", CL_KERNEL_ARG_ADDRESS_LOCAL, 0},
        {"n", "uint*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE},
        {"v", "float4", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
        {"k", "int", CL_KERNEL_ARG_ADDRESS_PRIVATE, 0},
    };
    for (cl_uint i = 0; i < 6; ++i) {
        cl_uint address;
        cl_bitfield qualifiers;
        CHECK(clGetKernelArgInfo(args, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
        TRUE(strcmp(text, wanted[i].name) == 0);
        CHECK(clGetKernelArgInfo(args, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
        TRUE(strcmp(text, wanted[i].type) == 0);
        CHECK(clGetKernelArgInfo(args, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
        CHECK(clGetKernelArgInfo(args, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL));
        TRUE(address == wanted[i].address && qualifiers == wanted[i].qualifiers);
    }
    IS(clBuildProgram(known, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
    printf("programs: right\n");
    return 0;
}
