/* Derived datatypes that data-movement programs try: gaps, order, bounds and extents of every kind. */
#ifndef TYPES_H
#define TYPES_H

#include "check.h"
#include <stddef.h>

/* Number of elements up to which the interleaved type (extent smaller than its true extent) does not overlap itself. */
enum { INTERLEAVE = 512 };

typedef struct {
    const char *name;
    MPI_Datatype type;
    int ints; /* the signature is so many ints; 0: of several types */
} Derived;

typedef struct {
    char a;
    double b;
    int c;
} Padded;

UNUSED static int derived_types(Derived *types) {
    int n = 0;
    MPI_Datatype type, inner;
#define ADD(label, number) \
    do { \
        OK(MPI_Type_commit(&type)); \
        types[n++] = (Derived){label, type, number}; \
    } while (0)
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    ADD("contiguous", 3);
    OK(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
    ADD("vector", 2);
    OK(MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){0, 2, 6}, MPI_INT, &type));
    ADD("indexed with gaps", 4);
    OK(MPI_Type_indexed(3, (int[]){1, 1, 1}, (int[]){4, 0, 2}, MPI_INT, &type));
    ADD("indexed out of address order", 3);
    OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){-8, 4}, MPI_INT, &type));
    ADD("negative lower bound", 2);
    OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, INTERLEAVE * sizeof(int)}, MPI_INT, &inner));
    OK(MPI_Type_create_resized(inner, 0, sizeof(int), &type));
    OK(MPI_Type_free(&inner));
    ADD("resized smaller", 2);
    OK(MPI_Type_create_resized(MPI_INT, -4, 20, &type));
    ADD("resized larger", 1);
    OK(MPI_Type_create_struct(3, (int[]){1, 1, 1},
                              (MPI_Aint[]){offsetof(Padded, a), offsetof(Padded, b), offsetof(Padded, c)},
                              (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &inner));
    OK(MPI_Type_create_resized(inner, 0, sizeof(Padded), &type));
    OK(MPI_Type_free(&inner));
    ADD("padded struct", 0);
    OK(MPI_Type_create_struct(3, (int[]){1, 1, 1},
                              (MPI_Aint[]){offsetof(Padded, c), offsetof(Padded, b), offsetof(Padded, a)},
                              (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR}, &inner));
    OK(MPI_Type_create_resized(inner, 0, sizeof(Padded), &type));
    OK(MPI_Type_free(&inner));
    ADD("permuted struct", 0);
    /* Its pieces touch, so it looks contiguous, yet its order is not the order of the addresses. */
    OK(MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_INT, &type));
    ADD("swapped pair", 2);
#undef ADD
    return n;
}

enum { DERIVED_MAX = 16 };

UNUSED static void derived_free(Derived *types, int n) {
    for (int i = 0; i < n; i++) OK(MPI_Type_free(&types[i].type));
}

#endif
