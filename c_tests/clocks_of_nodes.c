/* Preloaded after Collie, with several_nodes.c: ranks from 2 on seem to Collie to be on a machine that was started 1,000 s
 * earlier and whose time of day is 5 s ahead. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_ahead(void) {
    const char *variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int place = 0; place < 2; place++) {
        const char *rank = getenv(variables[place]);
        if (rank) return atoi(rank) >= 2;
    }
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*next)(clockid_t, struct timespec *);
    Dl_info asker;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    const int code = next(clock, time);
    const int is_collie =
        dladdr(__builtin_return_address(0), &asker) && strstr(asker.dli_fname, "libcollie.so") && is_ahead();
    if (is_collie && clock == CLOCK_REALTIME) time->tv_sec += 5;
    if (is_collie && clock == CLOCK_MONOTONIC) time->tv_sec += 1000;
    return code;
}
