/* Allreduces until there is a checkpoint of every rank in the folder that the first argument names; then, with `kill`, an end by
 * SIGKILL on all ranks, of which nobody can tell anything. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char name[4096];
    int all = 0;
    check_start(&argc, &argv);
    REQUIRE(argc > 2, "usage: killed FOLDER end|kill");
    snprintf(name, sizeof name, "%s/rank%d.json", argv[1], check_rank);
    while (!all) {
        int there = access(name, F_OK) == 0;
        OK(MPI_Allreduce(&there, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
        usleep(1000);
    }
    if (!strcmp(argv[2], "kill")) raise(SIGKILL);
    return check_finish();
}
