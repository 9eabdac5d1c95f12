/* A call on what is no communicator: MPI_COMM_WORLD's handler hears of it once, and may make collective calls that the other ranks
 * make elsewhere, or jump. Only where handles are numbers: what is no address of a communicator may crash other libraries. */
#include "check.h"
#include <setjmp.h>

#if defined MPICH_NUMVERSION && !defined MPI_ABI

static int handled, handled_class, jumps;
static jmp_buf back;

static void sum_up(void) {
    int sum = -1;
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
}

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    handled++;
    OK(MPI_Error_class(*code, &handled_class));
    sum_up();
    if (jumps) longjmp(back, 1);
}

/* By MPI_X or by PMPI_X. */
static int wrong(int kind, int ours, MPI_Comm comm) {
    int a[2] = {0}, b[2] = {0}, class = MPI_SUCCESS;
    if (setjmp(back)) return -1;
    int code;
    switch (kind) {
    case 0: code = ours ? MPI_Bcast(a, 1, MPI_INT, 0, comm) : PMPI_Bcast(a, 1, MPI_INT, 0, comm); break;
    case 1: code = ours ? MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, comm) : PMPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, comm); break;
    default: code = ours ? MPI_Send(a, 1, MPI_INT, 0, 0, comm) : PMPI_Send(a, 1, MPI_INT, 0, 0, comm);
    }
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    jumps = argc > 1;
    MPI_Errhandler handler;
    MPI_Comm after;
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    for (int round = 0; round < 6; round++)
        for (int kind = 0; kind < 3; kind++) {
            CASE("round %d, call %d", round, kind);
            /* Nobody's, and a datatype's. */
            const MPI_Comm bad = round % 2 ? (MPI_Comm)0x12345 : (MPI_Comm)MPI_INT;
            if (check_rank == 1) {
                handled = 0;
                int ours = wrong(kind, 1, bad), class = handled_class;
                REQUIRE(handled == 1, "the handler ran %d times", handled);
                int native = wrong(kind, 0, bad);
                REQUIRE(ours == native && class == handled_class, "classes %d and %d, natively %d and %d", ours, class, native,
                        handled_class);
            } else {
                sum_up();
                sum_up();
            }
            /* New communicators are still found. */
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &after));
            OK(MPI_Barrier(after));
            OK(MPI_Comm_free(&after));
        }
    OK(MPI_Errhandler_free(&handler));
    return check_finish();
}

#else

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    return check_finish();
}

#endif
