/* A library of large numbers whose functions are named like procedures of MPI (with -DLIBRARY), and a program for it: no
 * MPI is there. */
#include <stdio.h>

typedef struct {
    int sign;
    long limbs;
} mpi;

void mpi_init(mpi *number);
int mpi_init_thread(mpi *number, const int *sign, long limbs);

#ifdef LIBRARY
void mpi_init(mpi *number) { *number = (mpi){1, 0}; }

int mpi_init_thread(mpi *number, const int *sign, long limbs) {
    *number = (mpi){*sign, limbs};
    return 42;
}
#else
int main(void) {
    mpi one = {7, 7}, other = {7, 7};
    const int sign = -1;
    mpi_init(&one);
    const int given = mpi_init_thread(&other, &sign, 1L << 40);
    printf("%d %ld, %d %ld, %d\n", one.sign, one.limbs, other.sign, other.limbs, given);
    return 0;
}
#endif
