/* Messages of the program's own that are under way while other ranks wait in a collective: the rank that receives is in the
 * collective already, and the one that sends comes to it only when the message is gone. With `late` it sends so late that the
 * others' messages of the collective have long arrived.
 *   own_messages [late] */
#include "check.h"
#include <unistd.h>

enum { LONG = 4 << 20 };

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    char *bytes = malloc(LONG);
    REQUIRE(bytes && check_size > 1, "two ranks with memory");
    for (int round = 0; round < 5; round++) {
        int sum = 0;
        MPI_Request request;
        if (check_rank == 0) OK(MPI_Irecv(bytes, LONG, MPI_BYTE, check_size - 1, 5, MPI_COMM_WORLD, &request));
        if (check_rank == check_size - 1) {
            memset(bytes, round, LONG);
            if (argc > 1) usleep(100000);
            OK(MPI_Send(bytes, LONG, MPI_BYTE, 0, 5, MPI_COMM_WORLD));
        }
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
        if (check_rank == 0) {
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            REQUIRE(bytes[0] == round && bytes[LONG - 1] == round, "not what was sent");
        }
    }
    free(bytes);
    return check_finish();
}
