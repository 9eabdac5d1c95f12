/* Three allreduces, then an end without MPI_Finalize on rank 1, by `exit` or `term` (SIGTERM), for which rank 0 waits in vain;
 * with `alone` one rank that has printed something exits with 3;
 * with `waiting` by SIGTERM within MPI, which other threads may call too. With `handled` the program has a handler for SIGTERM before MPI_Init, and with `child` a process that it forks ends either
 * way: both are none of rank 1's ends. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void *terminate_soon(void *thread) {
    usleep(100000);
    pthread_kill(*(pthread_t *)thread, SIGTERM);
    return NULL;
}

static void child_ends(int by_signal) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (by_signal) kill(getpid(), SIGTERM);
        exit(0);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child, "no child");
    int right = by_signal ? WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM : WIFEXITED(status) && !WEXITSTATUS(status);
    REQUIRE(right, "the child's status is %d", status);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int sum;
    if (!strcmp(how, "handled")) signal(SIGTERM, handle);
    check_start_thread(&argc, &argv, !strcmp(how, "waiting") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    for (int i = 0; i < 3; i++) OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (!strcmp(how, "alone")) {
        printf("a result\n");
        exit(3);
    }
    if (!strcmp(how, "child") && check_rank == 1) {
        child_ends(0);
        child_ends(1);
    }
    if (!strcmp(how, "handled") && check_rank == 1) {
        kill(getpid(), SIGTERM);
        REQUIRE(handled == 1, "the program's handler was called %d times", (int)handled);
    }
    if (!strcmp(how, "waiting")) {
        pthread_t own = pthread_self(), other;
        if (check_rank == 1) pthread_create(&other, NULL, terminate_soon, &own);
        OK(PMPI_Recv(&sum, 1, MPI_INT, 1 - check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (!strcmp(how, "exit") || !strcmp(how, "term")) {
        if (check_rank == 1 && !strcmp(how, "exit")) exit(3);
        if (check_rank == 1) kill(getpid(), SIGTERM);
        OK(PMPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return check_finish();
}
