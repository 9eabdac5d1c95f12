/* A null operation in a call on a communicator that returns errors, where MPI_COMM_WORLD's end the job: after calls with
 * types and operations made for them. */
#include "check.h"

static void first(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static int class_of(int code) {
    int class = -1;
    PMPI_Error_class(code, &class);
    return class;
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int given[4] = {1, 2, 3, 4}, result[4];
    for (int call = 0; call < 8; call++) {
        MPI_Datatype type;
        MPI_Op op;
        OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        OK(MPI_Op_create(first, 1, &op));
        OK(PMPI_Bcast(given, 1, type, 0, comm));
        OK(MPI_Bcast(given, 1, type, 0, comm));
        OK(MPI_Allreduce(given, result, 4, MPI_INT, op, comm));
        OK(MPI_Op_free(&op));
        OK(MPI_Type_free(&type));
        if (call < 4) continue;
        CASE("call %d with a null operation", call);
        const int code = class_of(PMPI_Allreduce(given, result, 4, MPI_INT, MPI_OP_NULL, comm));
        const int ours = class_of((MPI_Allreduce)(given, result, 4, MPI_INT, MPI_OP_NULL, comm));
        REQUIRE(ours == code && ours != MPI_SUCCESS, "class %d, natively %d", ours, code);
    }
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
