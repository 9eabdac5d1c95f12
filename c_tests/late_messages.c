/* Two ranks: of many short receives of rank 1 a few wait 50 ms each. It tells how long all of them took. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    char byte = 0;
    double seconds = 0;
    check_start(&argc, &argv);
    REQUIRE(check_size == 2, "for two ranks");
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i <= 1000; i++) {
            if (check_rank == 0) {
                if (i == 1000) usleep(50000);
                OK(MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
            } else {
                double start = MPI_Wtime();
                OK(MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                seconds += MPI_Wtime() - start;
            }
        }
    }
    if (check_rank == 1) printf("receiving took %.6f s\n", seconds);
    return check_finish();
}
