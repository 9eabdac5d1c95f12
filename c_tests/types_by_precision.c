/* Types made of types that are asked for by precision and range, which are predefined and have no names: Collie's ways leave
 * them to the program, and results are those of the MPI library. */
#include "check.h"

static void in_calls(const char *what, MPI_Datatype made) {
    int bytes;
    PMPI_Type_size(made, &bytes);
    const int count = 3;
    Memory send = check_memory(made, count, 1 + check_rank), ours = check_memory(made, count * check_size, 9),
           native = check_memory(made, count * check_size, 9);
    CASE("MPI_Allgather of %s", what);
    OK(MPI_Allgather(send.at, count, made, ours.at, count, made, MPI_COMM_WORLD));
    OK(PMPI_Allgather(send.at, count, made, native.at, count, made, MPI_COMM_WORLD));
    check_same(ours.base, native.base, native.size, 1);
    CASE("MPI_Bcast of %s", what);
    OK(MPI_Bcast(ours.at, count, made, check_size - 1, MPI_COMM_WORLD));
    OK(PMPI_Bcast(native.at, count, made, check_size - 1, MPI_COMM_WORLD));
    check_same(ours.base, native.base, native.size, 1);
    check_free(send);
    check_free(ours);
    check_free(native);
}

/* MPI defines its own operations on these types, too. */
static void in_sums(MPI_Datatype type) {
    double send[2] = {1.5 + check_rank, 2.5}, ours[2] = {0}, native[2] = {0};
    CASE("MPI_Allreduce of a type by precision");
    OK(MPI_Allreduce(send, ours, 1, type, MPI_SUM, MPI_COMM_WORLD));
    OK(PMPI_Allreduce(send, native, 1, type, MPI_SUM, MPI_COMM_WORLD));
    check_same(ours, native, sizeof ours, sizeof *ours);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Datatype inner[3];
    OK(MPI_Type_create_f90_real(15, 307, &inner[0]));
    OK(MPI_Type_create_f90_complex(6, 37, &inner[1]));
    OK(MPI_Type_create_f90_integer(9, &inner[2]));
    for (int times = 0; times < 3; times++) {
        for (int i = 0; i < 3; i++) {
            MPI_Datatype contiguous, vector, copy;
            OK(MPI_Type_contiguous(2, inner[i], &contiguous));
            OK(MPI_Type_vector(2, 1, 2, inner[i], &vector));
            OK(MPI_Type_dup(inner[i], &copy));
            OK(MPI_Type_commit(&contiguous));
            OK(MPI_Type_commit(&vector));
            in_calls("one type", inner[i]);
            in_sums(inner[i]);
            in_calls("a contiguous type", contiguous);
            in_calls("a vector", vector);
            in_calls("a copy", copy);
            OK(MPI_Type_free(&contiguous));
            OK(MPI_Type_free(&vector));
            OK(MPI_Type_free(&copy));
        }
        const int lengths[3] = {1, 2, 1};
        const MPI_Aint places[3] = {0, 8, 24};
        MPI_Datatype structure;
        OK(MPI_Type_create_struct(3, lengths, places, inner, &structure));
        OK(MPI_Type_commit(&structure));
        in_calls("a structure", structure);
        OK(MPI_Type_free(&structure));
    }
    return check_finish();
}
