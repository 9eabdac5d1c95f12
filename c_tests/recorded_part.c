/* Two ranks: of a first part with ten calls nothing is recorded in the end, nor of a pause with five; in between rank 0 waits 200 ms
 * for rank 1 in a barrier. A region spans that, the pause, and 50 ms after it. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    for (int i = 0; i < 10; i++) OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(200000);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2);
    MPI_Pcontrol(1, "spanning");
    if (check_rank == 1) usleep(200000);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Pcontrol(0);
    for (int i = 0; i < 5; i++) OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(200000);
    MPI_Pcontrol(1);
    usleep(50000);
    MPI_Pcontrol(-1, "spanning");
    /* What the end of MPI takes belongs to no part. */
    MPI_Pcontrol(0);
    return check_finish();
}
