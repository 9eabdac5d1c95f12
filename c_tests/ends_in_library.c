/* A program whose library ends MPI when the process ends, in a function of its own that the loader calls. With -DLIBRARY that library. */
#include "check.h"

void begin(int *argc, char ***argv);

#ifdef LIBRARY
void begin(int *argc, char ***argv) { OK(MPI_Init(argc, argv)); }

__attribute__((destructor)) static void end(void) {
    int begun = 0, ended = 0, one = 1, sum = 0, size = 0;
    OK(MPI_Initialized(&begun));
    OK(MPI_Finalized(&ended));
    REQUIRE(begun && !ended, "MPI has begun: %d, has ended: %d", begun, ended);
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == size, "MPI_Allreduce gave %d among %d ranks", sum, size);
    OK(MPI_Finalize());
}
#else
int main(int argc, char **argv) {
    int one = 1, sum = 0;
    begin(&argc, &argv);
    for (int call = 0; call < 10; call++) OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    return 0;
}
#endif
