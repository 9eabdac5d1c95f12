/* Reductions for mode verify to judge. Without arguments, such as the order of the contributions decides: where a NaN comes
 * through, where a partial result overflows, and which zero is the result; and sums whose roundings are large beside what is left.
 * With a number, that many rounds of three with a large neighbour to the element that miscounting_tool.c gets wrong. */
#include "check.h"
#include <float.h>
#include <math.h>

enum { NUMBERS = 6, ELEMENT = 3, MANY = 700 };

static const MPI_Op choices[2] = {MPI_MIN, MPI_MAX};

static void reduce(const void *from, int count, MPI_Datatype type, MPI_Op op) {
    static double into[2 * MANY];
    for (int root = 0; root < check_size; root++) OK(MPI_Reduce(from, into, count, type, op, root, MPI_COMM_WORLD));
    OK(MPI_Allreduce(from, into, count, type, op, MPI_COMM_WORLD));
    memcpy(into, from, (size_t)count * (type == MPI_DOUBLE ? 8 : type == MPI_FLOAT ? 4 : 16));
    OK(MPI_Allreduce(MPI_IN_PLACE, into, count, type, op, MPI_COMM_WORLD));
}

static void of_orders(void) {
    static double numbers[2 * MANY];
    static float floats[MANY];
    static struct {
        double value;
        int place;
    } pairs[MANY];
    CASE("NaNs and zeros");
    for (int i = 0; i < MANY; i++) {
        numbers[i] = i % 7 == check_rank ? NAN : i % 5 ? (check_rank + i) % 9 : check_rank % 2 ? -0.0 : 0.0;
        pairs[i].value = numbers[i], pairs[i].place = i % 5 ? check_rank : 1, floats[i] = (float)numbers[i];
    }
    for (int i = 0; i < 2; i++) {
        reduce(numbers, MANY, MPI_DOUBLE, choices[i]);
        reduce(floats, MANY, MPI_FLOAT, choices[i]);
    }
    reduce(numbers, MANY, MPI_DOUBLE, MPI_SUM);
    reduce(pairs, MANY, MPI_DOUBLE_INT, MPI_MINLOC);
    reduce(pairs, MANY, MPI_DOUBLE_INT, MPI_MAXLOC);
    CASE("overflow and underflow");
    for (int i = 0; i < MANY; i++) numbers[i] = 1.7e308 * ((check_rank + i) % 3 ? 1 : -1);
    reduce(numbers, MANY, MPI_DOUBLE, MPI_SUM);
    for (int i = 0; i < MANY; i++) numbers[i] = (check_rank + i) % 2 ? 1e300 : 1e-300, floats[i] = (check_rank + i) % 2 ? 1e30f : 1e-30f;
    reduce(numbers, MANY, MPI_DOUBLE, MPI_PROD);
    reduce(floats, MANY, MPI_FLOAT, MPI_PROD);
    CASE("cancellation");
    srand(check_rank + 1);
    for (int i = 0; i < 2 * MANY; i++) numbers[i] = (check_rank % 2 ? -1 : 1) * pow(10, rand() % 30 - 10) * rand() / RAND_MAX;
    for (int i = 0; i < MANY; i++) floats[i] = (float)numbers[i];
    reduce(numbers, MANY, MPI_DOUBLE, MPI_SUM);
    reduce(floats, MANY, MPI_FLOAT, MPI_SUM);
    reduce(numbers, MANY, MPI_C_DOUBLE_COMPLEX, MPI_SUM);
    reduce(numbers, MANY, MPI_C_DOUBLE_COMPLEX, MPI_PROD);
}

static void of_neighbours(int rounds) {
    double numbers[NUMBERS], into[NUMBERS];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < NUMBERS; i++) numbers[i] = i == ELEMENT ? 7 + check_rank : DBL_MAX;
        OK(MPI_Allreduce(numbers, into, NUMBERS, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
        for (int i = 0; i < NUMBERS; i++) numbers[i] = i == ELEMENT ? 7 : 1e19;
        OK(MPI_Allreduce(numbers, into, NUMBERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < NUMBERS; i++) numbers[i] = 1e-10;
        OK(MPI_Allreduce(numbers, into, NUMBERS, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (argc > 1) {
        of_neighbours(atoi(argv[1]));
    } else {
        of_orders();
    }
    return check_finish();
}
