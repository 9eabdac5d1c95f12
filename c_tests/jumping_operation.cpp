// A reduction function that leaves the call which runs it: on rank 1, in its call number N, by longjmp or by an exception.
// Rank 1 then goes on with another call of MPI. The messages of the algorithm that was left are still under way, so that
// no call after it can be trusted: none may return. The other ranks are in a collective meanwhile.
//
//   jumping_operation N (jump|throw) (collective|deeper|observed|finalize) (single|multiple)
#include <mpi.h>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static jmp_buf before;
static int rank, size, calls, last;
static bool throws;

static void sum(void *in, void *inout, int *count, MPI_Datatype *) {
    if (rank == 1 && calls == last) {
        if (throws) throw 1;
        longjmp(before, 1);
    }
    for (int i = 0; i < *count; i++) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

static void allreduce(MPI_Op op) {
    int own = rank + 1, all = 0;
    calls++;
    MPI_Allreduce(&own, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    if (all != size * (size + 1) / 2) std::fprintf(stderr, "rank %d: wrong sum %d in call %d\n", rank, all, calls);
}

// Deeper in the stack than the call that was left.
static int __attribute__((noinline)) deep(int levels, MPI_Op op) {
    volatile char untouched[4096];
    if (levels > 0) {
        untouched[levels] = 1;
        return deep(levels - 1, op) + untouched[levels];
    }
    allreduce(op);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    last = std::atoi(argv[1]);
    throws = std::strcmp(argv[2], "throw") == 0;
    const char *next = argv[3];
    int provided;
    MPI_Init_thread(&argc, &argv, std::strcmp(argv[4], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op op;
    MPI_Op_create(sum, 1, &op);
    bool left = false;
    try {
        if (setjmp(before) == 0)
            while (calls < last + 2) allreduce(op);
        else
            left = true;
    } catch (int) {
        left = true;
    }
    if (left) {
        std::fprintf(stderr, "rank %d: left call %d\n", rank, calls);
        int data = 0;
        if (std::strcmp(next, "collective") == 0) allreduce(op);
        if (std::strcmp(next, "deeper") == 0) deep(16, op);
        if (std::strcmp(next, "observed") == 0) MPI_Scan(&rank, &data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (std::strcmp(next, "finalize") == 0) MPI_Finalize();
        std::fprintf(stderr, "rank %d: the call after it returned\n", rank);
        std::_Exit(0);
    }
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
