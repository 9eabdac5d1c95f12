/* Preloaded into the ranks of MPICH in tests only: MPICH polls without pause, so that eight ranks on two cores wait for
 * one another's time slices, 50 ms a collective. Giving the core away when a poll found nothing makes that 0.1 ms and
 * changes nothing else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*next)(void *);
    if (next == NULL) next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned events = next(worker);
    if (events == 0) sched_yield();
    return events;
}
