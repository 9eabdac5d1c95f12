/* A library of large numbers whose functions are named like procedures of MPI (with -DLIBRARY), and a program for it: no
 * MPI is there. */
#include <stdarg.h>
#include <stdio.h>

typedef struct {
    int sign;
    long limbs;
} mpi;

void mpi_init(mpi *number, ...);
int mpi_init_thread(mpi *number, const int *sign, long limbs);

#ifdef LIBRARY
/* All numbers up to a null pointer, of which no more than six words are in registers. */
void mpi_init(mpi *number, ...) {
    va_list others;
    va_start(others, number);
    for (; number; number = va_arg(others, mpi *)) *number = (mpi){1, 0};
    va_end(others);
}

int mpi_init_thread(mpi *number, const int *sign, long limbs) {
    *number = (mpi){*sign, limbs};
    return 42;
}
#else
int main(void) {
    mpi one = {7, 7}, other = {7, 7};
    const int sign = -1;
    mpi two = {7, 7}, three = {7, 7};
    mpi_init(&one, &two, &three, (mpi *)NULL);
    const int given = mpi_init_thread(&other, &sign, 1L << 40);
    printf("%d %ld, %d %ld, %d\n", one.sign + two.sign + three.sign, one.limbs, other.sign, other.limbs, given);
    return 0;
}
#endif
