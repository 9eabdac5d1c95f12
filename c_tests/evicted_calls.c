/* More different calls than there is room to keep, in turns with one that comes again and again: so many counts, from
 * first to last and back, in MPI_Allreduce and MPI_Bcast. Whatever is kept or has gone, results are right. */
#include "check.h"

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int counts = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 1;
    int *send = malloc(sizeof(int) * (size_t)counts), *receive = malloc(sizeof(int) * (size_t)counts);
    const int ranks = check_size * (check_size + 1) / 2;
    long calls = 0;
    for (int round = 0; round < rounds; round++)
        for (int place = 1; place <= counts; place++) {
            const int count = round % 2 ? counts + 1 - place : place, root = count % check_size;
            CASE("round %d, count %d", round, count);
            for (int i = 0; i < count; i++) send[i] = (check_rank + 1) * (i + count + round), receive[i] = -1;
            OK(MPI_Allreduce(send, receive, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            int wrong = 0;
            for (int i = 0; i < count; i++) wrong += receive[i] != ranks * (i + count + round);
            REQUIRE(wrong == 0, "%d wrong sums", wrong);
            for (int i = 0; i < count; i++) receive[i] = check_rank == root ? i + place : -1;
            OK(MPI_Bcast(receive, count, MPI_INT, root, MPI_COMM_WORLD));
            wrong = 0;
            for (int i = 0; i < count; i++) wrong += receive[i] != i + place;
            REQUIRE(wrong == 0, "%d wrong elements", wrong);
            int sum = 0;
            OK(MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            REQUIRE(sum == count * check_size, "wrong sum of the call that comes again");
            calls++;
        }
    if (check_rank == 0) {
        printf("check: allreduce calls %ld\n", 2 * calls * check_size);
        printf("check: bcast calls %ld\n", calls * check_size);
    }
    free(send);
    free(receive);
    return check_finish();
}
