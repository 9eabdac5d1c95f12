// Collectives after `main`: MPI ends in the destructor of a static object, or in a function registered with atexit, when
// the main thread's thread-local objects are gone.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int rank, size;

static void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    PMPI_Abort(MPI_COMM_WORLD, 3);
}

// Short and long data, data with gaps, what is only observed, and repeats, which go the short way.
static void collectives() {
    MPI_Datatype column;
    MPI_Type_vector(50, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    std::vector<double> mine(20000, rank + 1.0), sum(20000);
    std::vector<int> gaps(100, rank == 0 ? 7 : 0), all(size);
    for (int repeat = 0; repeat < 5; repeat++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        require(sum.front() == size * (size + 1) / 2.0 && sum.back() == sum.front(), "long allreduce");
        int own = rank, least = -1;
        MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        require(least == 0, "short allreduce");
        MPI_Bcast(gaps.data(), 1, column, 0, MPI_COMM_WORLD);
        require(gaps[98] == 7 && (rank == 0 || gaps[99] == 0), "bcast of a column");
        MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
        require(all[size - 1] == size - 1, "allgather");
        MPI_Scan(&own, &least, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
}

static void end() {
    collectives();
    MPI_Finalize();
    if (rank == 0) std::printf("ended after main\n");
}

struct Environment {
    bool used = false;
    ~Environment() {
        if (used) end();
    }
};

static Environment environment;

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "atexit") == 0) std::atexit(end);
    else environment.used = true;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2) collectives();  // Thread-local objects that were made are gone in another way than those never made.
    return 0;
}
