/* Invalid arguments: MPI_X returns the error class that PMPI_X returns, and the error handler of the program's own
 * communicator is called, once, with that communicator. With an argument, errors of MPI_COMM_WORLD and MPI_COMM_SELF end the
 * job: no question of Collie's may come there. */
#include "check.h"
#include <unistd.h>

static int handled, handled_class;
static MPI_Comm handled_comm;

static void handler(MPI_Comm *comm, int *code, ...) {
    handled++;
    handled_comm = *comm;
    MPI_Error_class(*code, &handled_class);
}

static int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

#define SAME_CLASS(what, ...) \
    do { \
        CASE("%s", what); \
        int ours_ = class_of(MPI_##__VA_ARGS__), native_ = class_of(PMPI_##__VA_ARGS__); \
        REQUIRE(ours_ == native_, "ours returned class %d, native %d", ours_, native_); \
        REQUIRE(native_ != MPI_SUCCESS, "the native library accepts it"); \
    } while (0)

#define SAME_HANDLING(what, comm, ...) \
    do { \
        CASE("%s, with a handler", what); \
        handled = 0; \
        int ours_ = class_of(MPI_##__VA_ARGS__), calls_ = handled, class_ = handled_class; \
        REQUIRE(calls_ == 1 && handled_comm == (comm), "handler called %d times", calls_); \
        handled = 0; \
        int native_ = class_of(PMPI_##__VA_ARGS__); \
        REQUIRE(ours_ == native_ && calls_ == handled && class_ == handled_class, "ours %d (%d calls), native %d (%d calls)", \
                ours_, calls_, native_, handled); \
    } while (0)

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const int fatal = argc > 1;
    int a[64] = {0}, b[64] = {0};
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN));
    const int far = check_size + 3;
    SAME_CLASS("root too large, bcast", Bcast(a, 1, MPI_INT, far, comm));
    SAME_CLASS("root negative, bcast", Bcast(a, 1, MPI_INT, -77, comm));
    SAME_CLASS("root too large, reduce", Reduce(a, b, 1, MPI_INT, MPI_SUM, far, comm));
    SAME_CLASS("root too large, gather", Gather(a, 1, MPI_INT, b, 1, MPI_INT, far, comm));
    SAME_CLASS("root too large, scatter", Scatter(a, 1, MPI_INT, b, 1, MPI_INT, far, comm));
    if (!fatal) {
        SAME_CLASS("no communicator, bcast", Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL));
        SAME_CLASS("no communicator, allreduce", Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    }
    SAME_CLASS("no datatype, bcast", Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm));
    SAME_CLASS("no datatype, allreduce", Allreduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    SAME_CLASS("no operation, allreduce", Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, comm));
    SAME_CLASS("no operation, reduce", Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    SAME_CLASS("operation of windows, allreduce", Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, comm));
    SAME_CLASS("operation of windows, reduce", Reduce(a, b, 1, MPI_INT, MPI_NO_OP, 0, comm));
    MPI_Datatype zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    SAME_CLASS("zeroed datatype, bcast", Bcast(a, 1, zeroed, 0, comm));
#if defined MPICH_NUMVERSION && !defined MPI_ABI_VERSION
    /* Handles are numbers, which tell what they are of. */
    SAME_CLASS("a number, bcast", Bcast(a, 1, (MPI_Datatype)0x12345, 0, comm));
    SAME_CLASS("a datatype for an operation, allreduce", Allreduce(a, b, 1, MPI_INT, (MPI_Op)MPI_INT, comm));
#endif
    SAME_CLASS("operation not for the type, allreduce", Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm));
    SAME_CLASS("operation not for the type, reduce", Reduce(a, b, 1, MPI_FLOAT, MPI_BXOR, 0, comm));
    SAME_CLASS("negative count, bcast", Bcast(a, -1, MPI_INT, 0, comm));
    SAME_CLASS("negative count, gather", Gather(a, -1, MPI_INT, b, -1, MPI_INT, 0, comm));
    SAME_CLASS("negative count, allgather", Allgather(a, -1, MPI_INT, b, -1, MPI_INT, comm));
    SAME_CLASS("negative count, alltoall", Alltoall(a, -1, MPI_INT, b, -1, MPI_INT, comm));
    int bad[64] = {0}, good[64] = {0}, places[64] = {0};
    bad[check_size - 1] = -1;
    SAME_CLASS("negative count, alltoallv", Alltoallv(a, bad, places, MPI_INT, b, good, places, MPI_INT, comm));
    SAME_CLASS("negative count to receive, alltoallv", Alltoallv(a, good, places, MPI_INT, b, bad, places, MPI_INT, comm));
    SAME_CLASS("no datatype, alltoallv", Alltoallv(a, good, places, MPI_INT, b, bad, places, MPI_DATATYPE_NULL, comm));
    if (!fatal)
        SAME_CLASS("no communicator, alltoallv", Alltoallv(a, good, places, MPI_INT, b, good, places, MPI_INT, MPI_COMM_NULL));
    MPI_Datatype raw;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &raw));
    SAME_CLASS("datatype not committed, bcast", Bcast(a, 1, raw, 0, comm));
    OK(MPI_Type_free(&raw));
    SAME_CLASS("no datatype, send", Send(a, 1, MPI_DATATYPE_NULL, 0, 0, comm));
    /* Errors of files are returned, whatever those of communicators are. */
    MPI_File file;
    char name[64];
    snprintf(name, sizeof name, "/tmp/collie-errors-%d", (int)getpid());
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    SAME_CLASS("no datatype, file_write", File_write(file, a, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    if (!fatal) {
        /* While a collective's request is known. */
        MPI_Request request;
        OK(MPI_Ibarrier(comm, &request));
        SAME_CLASS("no request, request_free", Request_free(NULL));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }

    MPI_Errhandler errhandler;
    OK(MPI_Comm_create_errhandler(handler, &errhandler));
    OK(MPI_Comm_set_errhandler(comm, errhandler));
    SAME_HANDLING("root too large, bcast", comm, Bcast(a, 1, MPI_INT, far, comm));
    SAME_HANDLING("no datatype, allreduce", comm, Allreduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    SAME_HANDLING("root too large, scatter", comm, Scatter(a, 1, MPI_INT, b, 1, MPI_INT, far, comm));

    /* Collectives still work after it, and an error of a message of ours comes up on the program's communicator. */
    int sum;
    CASE("after the errors");
    OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    if (check_size == 2) {
        CASE("MPI_Bcast that is longer at the root");
        handled = 0;
        int code = class_of(MPI_Bcast(a, check_rank == 0 ? 10 : 5, MPI_INT, 0, comm));
        if (check_rank == 1)
            REQUIRE(code == MPI_ERR_TRUNCATE && handled == 1 && handled_comm == comm, "class %d, handler called %d times", code,
                    handled);
    }
    OK(MPI_Errhandler_free(&errhandler));
    OK(PMPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
