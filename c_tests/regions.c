/* Regions by collie.h and by MPI_Pcontrol with a name: an outer one with an inner one ten times, each with two allreduces and a
 * sleep; regions that are ended without having begun, which is told once; one that MPI_Pcontrol begins and nobody ends, which is
 * none; one that was left without its end, which hides no later one of its name. */
#include "check.h"
#include <collie.h>
#include <unistd.h>

static void allreduce(void) {
    int sum;
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    REQUIRE(collie_region_begin("too early") == 2, "before MPI_Init");
    check_start(&argc, &argv);
    REQUIRE(collie_region_begin("outer") == 0, "begin");
    for (int i = 0; i < 10; i++) {
        collie_region_begin("inner");
        allreduce();
        usleep(2000);
        allreduce();
        REQUIRE(collie_region_end("inner") == 0, "end");
    }
    REQUIRE(collie_region_end("outer") == 0, "end");
    for (int i = 0; i < 3; i++) {
        REQUIRE(collie_region_end("never begun") == 1, "end of nothing");
        MPI_Pcontrol(-1, "never begun either");
        MPI_Pcontrol(17);
    }
    collie_region_begin("left");
    for (int i = 0; i < 3; i++) {
        collie_region_begin("left");
        allreduce();
        collie_region_end("left");
        allreduce();
    }
    MPI_Pcontrol(1, "by pcontrol");
    allreduce();
    MPI_Pcontrol(-1, "by pcontrol");
    MPI_Pcontrol(1, "never ended");
    allreduce();
    collie_region_begin("until the end");
    allreduce();
    return check_finish();
}
