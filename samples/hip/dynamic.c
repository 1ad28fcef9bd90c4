// A program that is not linked with HIP: it opens the library when it runs, as plugins and interpreters do, and finds the
// functions by name. The code object is built from module_kernel.hip; its file is the program's argument.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 300 };

static void *library;

static void *find(const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        printf("dynamic: FAILED: no %s\n", name);
        exit(1);
    }
    return function;
}

static void check(const char *what, int code) {
    if (code != 0) {
        printf("dynamic: FAILED: %s gives %d\n", what, code);
        exit(1);
    }
}

int main(int argc, char **argv) {
    library = dlopen("libamdhip64.so.5", RTLD_NOW);
    if (!library) {
        printf("dynamic: FAILED: %s\n", dlerror());
        return 1;
    }
    int (*load)(void **, const char *) = find("hipModuleLoad");
    int (*function)(void **, void *, const char *) = find("hipModuleGetFunction");
    int (*allocate)(void **, size_t) = find("hipMalloc");
    int (*copy)(void *, const void *, size_t, int) = find("hipMemcpy");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        find("hipModuleLaunchKernel");

    int values[N], factor = 3, count = N;
    for (int i = 0; i < N; ++i) values[i] = i;
    void *module, *scale, *data;
    check("hipModuleLoad", load(&module, argc > 1 ? argv[1] : "module_kernel.co"));
    check("hipModuleGetFunction", function(&scale, module, "scale"));
    check("hipMalloc", allocate(&data, sizeof values));
    check("hipMemcpy", copy(data, values, sizeof values, 1));
    void *arguments[] = {&data, &count, &factor};
    check("hipModuleLaunchKernel", launch(scale, (N + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    check("hipMemcpy", copy(values, data, sizeof values, 2));
    int right = 0;
    for (int i = 0; i < N; ++i) right += values[i] == i * factor;
    printf("dynamic: %s\n", right == N ? "300 values right" : "FAILED");
    return right == N ? 0 : 1;
}
