/* Control from inside the program, linked with -lcollie: choices for all communicators and for one, refusals, statistics. */
#include "check.h"
#include <collie.h>

static void some_allreduces(MPI_Comm comm, int n) {
    int sum;
    for (int i = 0; i < n; i++) {
        OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        REQUIRE(sum == check_size * (check_size - 1) / 2, "the sum is %d", sum);
    }
}

static void expect_calls(const char *operation, uint64_t calls, uint64_t native) {
    collie_statistics statistics = {0};
    int code = collie_read(operation, &statistics);
    REQUIRE(code == 0 && statistics.calls == calls && statistics.native_calls == native,
            "collie_read(%s) gave %d: %lu calls, %lu native", operation, code, (unsigned long)statistics.calls,
            (unsigned long)statistics.native_calls);
}

int main(int argc, char **argv) {
    int code, message = 0;
    MPI_Comm comm;
    check_start(&argc, &argv);
    CASE("collie_version");
    REQUIRE(strchr(collie_version(), '.') != NULL, "'%s'", collie_version());
    CASE("collie_choose");
    some_allreduces(MPI_COMM_WORLD, 2);
    code = collie_choose("allreduce", "ring");
    REQUIRE(code == 0, "ring: %d", code);
    some_allreduces(MPI_COMM_WORLD, 3);
    code = collie_choose("allreduce", "rnig");
    REQUIRE(code == 1, "an unknown algorithm: %d", code);
    code = collie_choose("alreduce", "ring");
    REQUIRE(code == 1, "an unknown operation: %d", code);
    code = collie_choose("allreduce", "native");
    REQUIRE(code == 0, "native: %d", code);
    some_allreduces(MPI_COMM_WORLD, 4);
    expect_calls("allreduce", 9, 4);
    CASE("collie_choose_on");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    code = collie_choose_on(comm, "bcast", "linear");
    REQUIRE(code == 0, "linear: %d", code);
    OK(MPI_Bcast(&message, 1, MPI_INT, 0, comm));
    expect_calls("bcast", 1, 0);
    code = collie_choose_on(MPI_COMM_NULL, "bcast", "linear");
    REQUIRE(code == 2, "MPI_COMM_NULL: %d", code);
    CASE("null pointers");
    REQUIRE(collie_choose(NULL, "ring") == 1 && collie_choose("bcast", NULL) == 1, "collie_choose takes them");
    REQUIRE(collie_choose_on(comm, NULL, "ring") == 1 && collie_choose_on(comm, "bcast", NULL) == 1,
            "collie_choose_on takes them");
    REQUIRE(collie_read(NULL, &(collie_statistics){0}) == 1 && collie_read("bcast", NULL) == 1, "collie_read takes them");
    REQUIRE(collie_region_begin(NULL) == 1 && collie_region_end(NULL) == 1, "regions take them");
    CASE("collie_report");
    code = collie_report();
    REQUIRE(code == 0, "%d", code);
    OK(MPI_Comm_free(&comm));
    return check_finish();
}
