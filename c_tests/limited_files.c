/* More calls than are kept in a quarter of 1 MiB, after the program has limited the length of files to 64 KiB: it meets none of the
 * signals that Collie's writes would raise, and blocks none. */
#include "check.h"
#include <signal.h>
#include <sys/resource.h>

enum { CALLS = 10000 };

int main(int argc, char **argv) {
    int one = 1, sum;
    sigset_t mask;
    check_start(&argc, &argv);
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    limit.rlim_cur = 64 << 10;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0, "not limited");
    for (int i = 0; i < CALLS; i++) OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGXFSZ), "SIGXFSZ is blocked");
    return check_finish();
}
