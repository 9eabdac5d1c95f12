/* Messages that travel in pieces do not fill the memory of ranks that wait for a late one: those that only send are held up, as
 * they are where the MPI library makes the whole message wait. The last rank is late. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 39 MiB from or to each rank, of which little may lie somewhere. */
enum { BYTES = 64 << 10, ROUNDS = 600, MOST_KIB = 12 << 10 };

/* Memory of this process now, KiB: libraries keep what they took for messages. */
static long resident(void) {
    char line[256];
    long kib = -1, shared = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "RssAnon: %ld", &kib);
        sscanf(line, "RssShmem: %ld", &shared);
    }
    if (status) fclose(status);
    return kib + shared;
}

static void be_late(void) {
    const struct timespec time = {0, 700 * 1000 * 1000};
    OK(PMPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == check_size - 1) nanosleep(&time, NULL);
}

static char *all, *own;

static void gather(int root) { OK(MPI_Gather(own, BYTES, MPI_CHAR, all, BYTES, MPI_CHAR, root, MPI_COMM_WORLD)); }
static void scatter(int root) { OK(MPI_Scatter(all, BYTES, MPI_CHAR, own, BYTES, MPI_CHAR, root, MPI_COMM_WORLD)); }
static void bcast(int root) { OK(MPI_Bcast(own, BYTES, MPI_CHAR, root, MPI_COMM_WORLD)); }

static void hold_up(const char *name, void (*call)(int)) {
    CASE("%s", name);
    /* What libraries keep from the first calls on is there before. */
    for (int round = 0; round < 20; round++) call(0);
    const long before = resident();
    be_late();
    for (int round = 0; round < ROUNDS; round++) {
        own[round] = (char)(check_rank + round);
        if (check_rank == 0) all[(long)(check_size - 1) * BYTES + round] = (char)(2 * round);
        call(0);
        const int expected = call == gather ? check_rank + round : call == scatter ? 2 * round : round;
        if (check_rank == check_size - 1 && call != gather)
            REQUIRE(own[round] == (char)expected, "call %d brought %d", round, own[round]);
        if (check_rank == 0 && call == gather) {
            const char came = all[(long)(check_size - 1) * BYTES + round];
            REQUIRE(came == (char)(check_size - 1 + round), "call %d brought %d", round, came);
        }
    }
    const long grown = resident() - before;
    REQUIRE(before > 0 && grown < MOST_KIB, "grew by %ld KiB", grown);
    OK(PMPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    all = malloc((size_t)check_size * BYTES);
    own = malloc(BYTES);
    memset(all, 1, (size_t)check_size * BYTES);
    memset(own, 1, BYTES);
    hold_up("gather", gather);
    hold_up("scatter", scatter);
    hold_up("bcast", bcast);
    free(all);
    free(own);
    return check_finish();
}
