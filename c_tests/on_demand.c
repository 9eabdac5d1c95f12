/* Rank 1 gets SIGUSR2 between collectives: a report of its own after the third allreduce. With the argument `before` the
 * program has a handler before MPI_Init, with `after` it sets one later. In the end, where it has one, rank 0 wakes a thread
 * up with it that waits in a system call; where it has none, a process that it has forked dies of the signal. */
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void allreduces(int number) {
    int sum;
    while (number--) {
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
}

/* System calls that it interrupts end. */
static void set_handler(void) {
    struct sigaction action = {.sa_handler = handle};
    OK(sigaction(SIGUSR2, &action, NULL));
}

static volatile sig_atomic_t woken;

static void *wait_for_nothing(void *pipe) {
    char byte;
    long got = read(*(int *)pipe, &byte, 1);
    woken = got < 0 && errno == EINTR ? 1 : 2;
    return NULL;
}

static void wakes_a_thread(void) {
    int ends[2];
    pthread_t thread;
    OK(pipe(ends));
    OK(pthread_create(&thread, NULL, wait_for_nothing, ends));
    for (int tries = 0; tries < 10000 && !woken; tries++) {
        pthread_kill(thread, SIGUSR2);
        usleep(1000);
    }
    REQUIRE(woken == 1, "the thread has %s", woken ? "read something" : "not been woken up");
    OK(pthread_join(thread, NULL));
}

static void ends_a_child(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    kill(child, SIGUSR2);
    for (int tries = 0; tries < 10000 && waitpid(child, &status, WNOHANG) == 0; tries++) usleep(1000);
    REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2, "the child has ended with %d", status);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "before")) set_handler();
    check_start(&argc, &argv);
    if (!strcmp(how, "after")) set_handler();
    allreduces(3);
    if (check_rank == 1) kill(getpid(), SIGUSR2);
    allreduces(4);
    REQUIRE(handled == (check_rank == 1 && *how), "the program's handler was called %d times", (int)handled);
    if (check_rank == 0 && *how) wakes_a_thread();
    if (check_rank == 0 && !*how) ends_a_child();
    return check_finish();
}
