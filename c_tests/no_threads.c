/* Preloaded: on rank 1 Collie cannot start threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    Create *create;
    Dl_info from;
    if (!rank) rank = getenv("PMI_RANK");
    if (rank && !strcmp(rank, "1") && dladdr(__builtin_return_address(0), &from) && strstr(from.dli_fname, "libcollie"))
        return EAGAIN;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}
