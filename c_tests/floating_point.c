/* The program's floating-point environment: exceptions that it traps, and those that have come up, are its own. All
 * that its calls combine is exact, so that none comes up. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <fenv.h>

/* Not inexact results, which every division has. */
static const int watched = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;

enum { LONGEST = 8192 };

static double from[LONGEST], to[LONGEST];
static int from_int[LONGEST], to_int[LONGEST];

/* An operand that is no normal number has come up: it is no exception of C's. */
static int denormal(void) {
#ifdef __x86_64__
    unsigned word;
    __asm__ volatile("stmxcsr %0" : "=m"(word));
    return (word & 2) != 0;
#else
    return 0;
#endif
}

static void body(MPI_Comm comm, int rank, int size) {
    const int counts[] = {1, 3, 17, 128, 700, LONGEST};
    for (int i = 0; i < LONGEST; i++) from[i] = from_int[i] = 1 + i % 7;
    for (int call = 0; call < 600; call++) {
        const int n = counts[call % 6], root = call % size;
        CASE("call %d of %d elements, p %d", call, n, size);
        OK(MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, comm));
        REQUIRE(to[n - 1] == size * from[n - 1], "%g", to[n - 1]);
        OK(MPI_Allreduce(from_int, to_int, n, MPI_INT, MPI_SUM, comm));
        OK(MPI_Reduce(from, to, n, MPI_DOUBLE, MPI_MAX, root, comm));
        OK(MPI_Bcast(from, n, MPI_DOUBLE, root, comm));
        OK(MPI_Allgather(from_int, n / size, MPI_INT, to_int, n / size, MPI_INT, comm));
        const int up = fetestexcept(watched);
        REQUIRE(up == 0 && !denormal(), "exceptions %x, denormal operands %d", up, denormal());
        REQUIRE((fegetexcept() & watched) == watched, "traps %x", fegetexcept());
    }
    (void)rank;
}

/* hwloc reads the machine by a library whose versions of 2025 divide zero by zero when they begin. */
static void begin_xml(void) {
    void *xml = dlopen("libxml2.so.2", RTLD_NOW);
    void (*begin)(void) = xml ? (void (*)(void))dlsym(xml, "xmlInitParser") : NULL;
    if (begin) begin();
}

int main(int argc, char **argv) {
    begin_xml();
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(watched);
    check_start(&argc, &argv);
    /* What the MPI library itself does at its start is not ours. */
    feclearexcept(FE_ALL_EXCEPT);
    check_on_parts(body);
    return check_finish();
}
