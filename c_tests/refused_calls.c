/* Calls that are refused on one rank, which the others do not make, on communicators whose error handler is the program's own and
 * returns, or with an argument jumps: such a call is none of those after which all ranks replace their calls together. MPICH 4.3
 * and 5 return MPI_SUCCESS after such a handler, and only the handler knows. */
#include "check.h"
#include <setjmp.h>

enum { JUMPED = -1 };

static int handled, handled_class, jumps;
static MPI_Comm handled_comm;
static jmp_buf back;

static void handle(MPI_Comm *comm, int *code, ...) {
    handled++;
    handled_comm = *comm;
    OK(MPI_Error_class(*code, &handled_class));
    if (jumps) longjmp(back, 1);
}

static int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

static MPI_Datatype raw;

/* One of several wrong calls; by MPI_X or by PMPI_X. */
static int wrong(int kind, int ours, MPI_Comm comm) {
    int a[4] = {0}, b[4] = {0};
    switch (kind) {
    case 0: return ours ? MPI_Bcast(a, 1, MPI_INT, 99, comm) : PMPI_Bcast(a, 1, MPI_INT, 99, comm);
    case 1: return ours ? MPI_Bcast(a, -1, MPI_INT, 0, comm) : PMPI_Bcast(a, -1, MPI_INT, 0, comm);
    case 2: return ours ? MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm) : PMPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm);
    default: return ours ? MPI_Bcast(a, 1, raw, 0, comm) : PMPI_Bcast(a, 1, raw, 0, comm);
    }
}

static int class_of_wrong(int kind, int ours, MPI_Comm comm) {
    if (setjmp(back)) return JUMPED;
    return class_of(wrong(kind, ours, comm));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    jumps = argc > 1;
    MPI_Errhandler handler, kept;
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &raw));
    for (int kind = 0; kind < 4; kind++)
        for (int before = 0; before < 6; before++) {
            MPI_Comm comm;
            int sum;
            CASE("call %d after %d others", kind, before);
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            OK(MPI_Comm_set_errhandler(comm, handler));
            for (int call = 0; call < 10; call++) {
                if (call == before && check_rank == 1) {
                    handled = 0;
                    int ours = class_of_wrong(kind, 1, comm), class = handled_class;
                    REQUIRE(handled == 1 && handled_comm == comm, "the handler ran %d times", handled);
                    int native = class_of_wrong(kind, 0, comm);
                    REQUIRE(ours == native && class == handled_class, "classes %d and %d, natively %d and %d", ours, class, native,
                            handled_class);
                }
                OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
                REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
            }
            OK(MPI_Comm_get_errhandler(comm, &kept));
            REQUIRE(kept == handler, "the communicator has another error handler");
            OK(MPI_Errhandler_free(&kept));
            OK(MPI_Comm_free(&comm));
        }
    /* On MPI_COMM_WORLD so often that clocks are synchronised again. */
    MPI_Errhandler before;
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    CASE("calls on MPI_COMM_WORLD");
    for (int call = 0; call < 1100; call++) {
        int sum;
        if (call == 3 && check_rank == 1) class_of_wrong(0, 1, MPI_COMM_WORLD);
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
    OK(MPI_Errhandler_free(&before));
    OK(MPI_Type_free(&raw));
    OK(MPI_Errhandler_free(&handler));
    return check_finish();
}
