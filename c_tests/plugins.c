/* A plugin that is opened and closed again and again, under two names: the second may be mapped where the first was, so
 * that the same addresses are of different files. Compiled with -DPLUGIN -shared it is that plugin. */
#ifdef PLUGIN
#include <mpi.h>

void work(int times) {
    int one = 1, sum;
    while (times--) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
#else
#include "check.h"
#include <dlfcn.h>

static void use(const char *file, int times) {
    void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(plugin != NULL, "%s cannot be opened", file);
    void (*work)(int) = (void (*)(int))dlsym(plugin, "work");
    REQUIRE(work != NULL, "%s has no work", file);
    work(times);
    REQUIRE(dlclose(plugin) == 0, "%s cannot be closed", file);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    REQUIRE(argc == 3, "two plugins are wanted");
    use(argv[1], 3);
    use(argv[2], 5);
    use(argv[1], 3);
    return check_finish();
}
#endif
