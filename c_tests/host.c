/* Loads a module that needs MPI, and keeps its libraries from the rest of the process, as Python does. Needs no MPI itself. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : NULL;
    if (run == NULL) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 3;
    }
    return run();
}
