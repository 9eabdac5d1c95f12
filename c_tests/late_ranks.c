/* Four ranks, some of which come late to an allreduce or a broadcast, in ways that how often a rank is last does not tell apart:
 *   rarely  rank 2 comes 100 ms late to every tenth call, rank 3 a little late to all the others;
 *   often   rank 1 comes 12 ms late to every call but one, to which rank 3 comes 100 ms late;
 *   two     rank 1 comes 12 ms late to every call, and rank 2 a millisecond after it;
 *   ahead   the calls are broadcasts, whose root waits for nobody: all others come to each 3 ms after the one before. */
#include "check.h"
#include <time.h>

enum { ROUNDS = 60 };

static void sleep_us(long microseconds) {
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (microseconds > 0) nanosleep(&time, NULL);
}

static long lateness_us(const char *kind, int round) {
    if (strcmp(kind, "rarely") == 0)
        return check_rank == 2 && round % 10 == 9 ? 100000 : check_rank == 3 && round % 10 != 9 ? 500 : 0;
    if (strcmp(kind, "often") == 0) return round == 20 ? (check_rank == 3 ? 100000 : 0) : check_rank == 1 ? 12000 : 0;
    if (strcmp(kind, "ahead") == 0) return check_rank == 0 ? 0 : 3000;
    return check_rank == 1 ? 12000 : check_rank == 2 ? 13000 : 0;
}

int main(int argc, char **argv) {
    int sum;
    check_start(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "two";
    for (int round = 0; round < ROUNDS; round++) {
        CASE("round %d", round);
        sleep_us(lateness_us(kind, round));
        if (strcmp(kind, "ahead") == 0) {
            sum = check_rank == 0 ? round : -1;
            OK(MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD));
            REQUIRE(sum == round, "the root sent %d", sum);
            continue;
        }
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
    return check_finish();
}
