/* Another file has the number of standard error when the report is written: one of the program's data (`data`), or a
 * log that the program puts there on purpose (`log`). Each rank has one of its own, whose name begins with the second
 * argument. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, sum;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s%d", argv[2], rank);
    if (strcmp(argv[1], "data") == 0) {
        close(STDERR_FILENO);
        if (open(name, O_CREAT | O_TRUNC | O_RDWR, 0644) != STDERR_FILENO) MPI_Abort(MPI_COMM_WORLD, 2);
    } else if (!freopen(name, "w", stderr)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    dprintf(STDERR_FILENO, "begin ");
    for (int i = 0; i < 10; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    dprintf(STDERR_FILENO, "end");
    return 0;
}
