/* Every predefined operation on every predefined type that MPI allows it for (section "Predefined Reduction Operations"
 * of the standard), reduce and allreduce, against PMPI; the 8-bit sums that wrap around against arithmetic of our own. */
#include "check.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

typedef enum { SIGNED, UNSIGNED, REAL, COMPLEX, LOGICAL, BOOLEAN, BITS, PAIR } Class;

typedef struct {
    const char *name;
    MPI_Datatype type;
    Class class;
    int bytes; /* of one part: the number itself, half of a complex one, the value of a pair */
    int index; /* offset of a pair's index, in bytes; its own width is `index_bytes` */
    int index_bytes;
    int is_real; /* a pair's value */
    int real_index;
} Type;

#define NUMBER(class, name, c) {#name, name, class, sizeof(c), 0, 0, 0, 0}
#define FORTRAN(class, name, bytes) {#name, name, class, bytes, 0, 0, 0, 0}

typedef struct { float v; int i; } FloatInt;
typedef struct { double v; int i; } DoubleInt;
typedef struct { long v; int i; } LongInt;
typedef struct { short v; int i; } ShortInt;
typedef struct { long double v; int i; } LongDoubleInt;
#define PAIRED(name, c, real) {#name, name, PAIR, sizeof(((c *)0)->v), offsetof(c, i), sizeof(int), real, 0}

static void store_real(void *at, int bytes, double value) {
    if (bytes == 4) *(float *)at = (float)value;
    else if (bytes == 8) *(double *)at = value;
    else *(long double *)at = value;
}

static long double load_real(const void *at, int bytes) {
    return bytes == 4 ? *(const float *)at : bytes == 8 ? *(const double *)at : *(const long double *)at;
}

static void store_whole(void *at, int bytes, int64_t value) { memcpy(at, &value, (size_t)bytes); } /* little endian */

static int extent_of(MPI_Datatype type) {
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    return (int)extent;
}

/* Small numbers for which no sum or product of eight ranks leaves eight bits. */
static void fill(const Type *t, MPI_Op op, void *buffer, int count, int rank) {
    const int extent = extent_of(t->type);
    memset(buffer, 0, (size_t)count * extent);
    for (int i = 0; i < count; i++) {
        char *at = (char *)buffer + (size_t)i * extent;
        int value = op == MPI_PROD ? 1 + ((rank + i) % 3 == 0) : (rank * 31 + i * 7) % 11;
        if (t->class == SIGNED && op != MPI_PROD && i % 5 == 0) value = -value;
        switch (t->class) {
        case SIGNED:
        case UNSIGNED:
        case BITS: store_whole(at, t->bytes, value); break;
        case REAL: store_real(at, t->bytes, value + (op == MPI_PROD ? 0.125 : 0.1)); break;
        case COMPLEX:
            store_real(at, t->bytes, value + 0.1);
            store_real(at + t->bytes, t->bytes, op == MPI_PROD ? 0.2 : value - 3.3);
            break;
        case LOGICAL:
        case BOOLEAN: store_whole(at, t->bytes, (rank + i) % 3 != 0); break;
        case PAIR: {
            int tied = (rank * 5 + i) % 4; /* equal values on several ranks: the lowest index wins */
            if (t->is_real) store_real(at, t->bytes, tied + 0.5);
            else store_whole(at, t->bytes, tied - 1);
            if (t->real_index) store_real(at + t->index, t->index_bytes, rank * 10 + i % 10);
            else store_whole(at + t->index, t->index_bytes, rank * 10 + i % 10);
        }
        }
    }
}

static double epsilon_of(int bytes) { return bytes == 4 ? FLT_EPSILON : bytes == 8 ? DBL_EPSILON : (double)LDBL_EPSILON; }

static void compare(const Type *t, MPI_Op op, const char *ours, const char *native, int count) {
    const int extent = extent_of(t->type);
    const int real = t->class == REAL || t->class == COMPLEX, parts = t->class == COMPLEX ? 2 : 1;
    for (int i = 0; i < count; i++) {
        const char *a = ours + (size_t)i * extent, *b = native + (size_t)i * extent;
        for (int part = 0; real && part < parts; part++) {
            long double x = load_real(a + part * t->bytes, t->bytes), y = load_real(b + part * t->bytes, t->bytes);
            double scale = op == MPI_PROD ? 700 : op == MPI_SUM ? 120 : 0;
            if (!(fabsl(x - y) <= scale * check_size * epsilon_of(t->bytes)))
                fail("element %d part %d: ours %Lg, native %Lg", i, part, x, y);
        }
        if (real) continue;
        if (t->class == PAIR && t->is_real) {
            long double x = load_real(a, t->bytes), y = load_real(b, t->bytes);
            REQUIRE(x == y, "element %d: value ours %Lg, native %Lg", i, x, y);
        } else if (memcmp(a, b, (size_t)t->bytes)) {
            check_same(a, b, (size_t)t->bytes, (size_t)t->bytes);
            fail("element %d of %d", i, count);
        }
        if (t->class == PAIR && memcmp(a + t->index, b + t->index, (size_t)t->index_bytes)) {
            check_same(a + t->index, b + t->index, (size_t)t->index_bytes, (size_t)t->index_bytes);
            fail("index of element %d of %d", i, count);
        }
    }
}

static int allowed(Class class, MPI_Op op) {
    const int order = op == MPI_MAX || op == MPI_MIN, arithmetic = op == MPI_SUM || op == MPI_PROD;
    const int logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
    const int bits = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
    switch (class) {
    case SIGNED:
    case UNSIGNED: return order || arithmetic || bits || logical;
    case REAL: return order || arithmetic;
    case COMPLEX: return arithmetic;
    case LOGICAL:
    case BOOLEAN: return logical;
    case BITS: return bits;
    case PAIR: return op == MPI_MAXLOC || op == MPI_MINLOC;
    }
    return 0;
}

static void one(const Type *t, MPI_Op op, const char *op_name, int count) {
    char send[64 * 40], ours[64 * 40], native[64 * 40], scratch[64 * 40];
    fill(t, op, send, count, check_rank);
    fill(t, op, ours, count, check_rank);
    fill(t, op, native, count, check_rank);
    fill(t, op, scratch, count, check_rank);
    CASE("MPI_Reduce_local %s %s", t->name, op_name);
    /* Optional types and what a library leaves out: its own Reduce_local knows. */
    if (PMPI_Reduce_local(send, scratch, 1, t->type, op) != MPI_SUCCESS) return;
    CASE("MPI_Allreduce %s %s, count %d, p %d", t->name, op_name, count, check_size);
    OK(MPI_Allreduce(send, ours, count, t->type, op, MPI_COMM_WORLD));
    OK(PMPI_Allreduce(send, native, count, t->type, op, MPI_COMM_WORLD));
    compare(t, op, ours, native, count);
    const int root = count % check_size;
    CASE("MPI_Reduce %s %s, count %d, root %d, p %d", t->name, op_name, count, root, check_size);
    OK(MPI_Reduce(send, ours, count, t->type, op, root, MPI_COMM_WORLD));
    OK(PMPI_Reduce(send, native, count, t->type, op, root, MPI_COMM_WORLD));
    if (check_rank == root) compare(t, op, ours, native, count);
}

static void check_same_class(int ours, int native) {
    int classes[2];
    PMPI_Error_class(ours, &classes[0]);
    PMPI_Error_class(native, &classes[1]);
    check_same(&classes[0], &classes[1], sizeof *classes, sizeof *classes);
}

/* Optional types, which some libraries combine by no operation: on all ranks what PMPI says, with no message sent. */
static void optional(void) {
    const struct { const char *name; MPI_Datatype type; } types[] = {
        {"MPI_REAL16", MPI_REAL16}, {"MPI_COMPLEX32", MPI_COMPLEX32}};
    const struct { const char *name; MPI_Op op; } ops[] = {{"MPI_SUM", MPI_SUM}, {"MPI_PROD", MPI_PROD}};
    _Alignas(16) const char zeros[7 * 64] = {0};
    _Alignas(16) char ours[7 * 64] = {0}, native[7 * 64] = {0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (types[t].type == MPI_DATATYPE_NULL) continue;
        for (int o = 0; o < 2; o++)
            for (int count = 1; count < 8; count += 6) {
                CASE("MPI_Allreduce %s %s, count %d", types[t].name, ops[o].name, count);
                int said = MPI_Allreduce(zeros, ours, count, types[t].type, ops[o].op, MPI_COMM_WORLD);
                int expected = PMPI_Allreduce(zeros, native, count, types[t].type, ops[o].op, MPI_COMM_WORLD);
                check_same_class(said, expected);
                CASE("MPI_Reduce %s %s, count %d", types[t].name, ops[o].name, count);
                said = MPI_Reduce(zeros, ours, count, types[t].type, ops[o].op, 0, MPI_COMM_WORLD);
                expected = PMPI_Reduce(zeros, native, count, types[t].type, ops[o].op, 0, MPI_COMM_WORLD);
                check_same_class(said, expected);
                int mine = check_rank, sum = -1, right = check_size * (check_size - 1) / 2;
                CASE("MPI_Allreduce after %s %s, count %d", types[t].name, ops[o].name, count);
                OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
                check_same(&sum, &right, sizeof sum, sizeof sum);
            }
    }
    check_same(ours, native, sizeof ours, 1);
}

/* Open MPI 4.1's own 8-bit sums are not to be trusted for large values: wrap-around arithmetic of our own instead. */
static void pitfall_wrapping_bytes(void) {
    enum { COUNT = 257 };
    uint8_t send[COUNT], ours[COUNT], sum[COUNT] = {0}, product[COUNT];
    memset(product, 1, sizeof product);
    for (int i = 0; i < COUNT; i++) {
        send[i] = (uint8_t)(i * 37 + check_rank * 91 + 100);
        for (int r = 0; r < check_size; r++) {
            sum[i] = (uint8_t)(sum[i] + (uint8_t)(i * 37 + r * 91 + 100));
            product[i] = (uint8_t)(product[i] * (uint8_t)(i * 37 + r * 91 + 100));
        }
    }
    const MPI_Datatype eight_bits[] = {MPI_UINT8_T, MPI_INT8_T, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR};
    for (int t = 0; t < 4; t++) {
        CASE("MPI_Allreduce of 8 bits that wrap around, MPI_SUM, type %d", t);
        OK(MPI_Allreduce(send, ours, COUNT, eight_bits[t], MPI_SUM, MPI_COMM_WORLD));
        check_same(ours, sum, COUNT, 1);
        CASE("MPI_Allreduce of 8 bits that wrap around, MPI_PROD, type %d", t);
        OK(MPI_Allreduce(send, ours, COUNT, eight_bits[t], MPI_PROD, MPI_COMM_WORLD));
        check_same(ours, product, COUNT, 1);
    }
}

/* NaN, infinities and signed zeros: maxima and minima of several orders are all right as long as all ranks agree. */
static void special_values(void) {
    const double values[] = {NAN, -0.0, 0.0, INFINITY, -INFINITY, 5e-324, 1.0, -1.0};
    double send[64], ours[64], first[64];
    for (int i = 0; i < 64; i++) send[i] = values[(i / 8 * (check_rank + 1) + i) % 8];
    const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM};
    for (int o = 0; o < 3; o++) {
        CASE("MPI_Allreduce of special values, operation %d", o);
        OK(MPI_Allreduce(send, ours, 64, MPI_DOUBLE, ops[o], MPI_COMM_WORLD));
        memcpy(first, ours, sizeof first);
        OK(PMPI_Bcast(first, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        check_same(ours, first, sizeof ours, sizeof(double));
    }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    const Type types[] = {
        NUMBER(SIGNED, MPI_SIGNED_CHAR, signed char), NUMBER(SIGNED, MPI_SHORT, short), NUMBER(SIGNED, MPI_INT, int),
        NUMBER(SIGNED, MPI_LONG, long), NUMBER(SIGNED, MPI_LONG_LONG, long long),
        NUMBER(SIGNED, MPI_INT8_T, int8_t), NUMBER(SIGNED, MPI_INT16_T, int16_t), NUMBER(SIGNED, MPI_INT32_T, int32_t),
        NUMBER(SIGNED, MPI_INT64_T, int64_t), NUMBER(UNSIGNED, MPI_UNSIGNED_CHAR, unsigned char),
        NUMBER(UNSIGNED, MPI_UNSIGNED_SHORT, unsigned short), NUMBER(UNSIGNED, MPI_UNSIGNED, unsigned),
        NUMBER(UNSIGNED, MPI_UNSIGNED_LONG, unsigned long), NUMBER(UNSIGNED, MPI_UNSIGNED_LONG_LONG, unsigned long long),
        NUMBER(UNSIGNED, MPI_UINT8_T, uint8_t), NUMBER(UNSIGNED, MPI_UINT16_T, uint16_t),
        NUMBER(UNSIGNED, MPI_UINT32_T, uint32_t), NUMBER(UNSIGNED, MPI_UINT64_T, uint64_t),
        NUMBER(SIGNED, MPI_AINT, MPI_Aint), /* Open MPI 4.1 compares MPI_OFFSET as unsigned. */ NUMBER(UNSIGNED, MPI_OFFSET, MPI_Offset), NUMBER(SIGNED, MPI_COUNT, MPI_Count),
        NUMBER(REAL, MPI_FLOAT, float), NUMBER(REAL, MPI_DOUBLE, double), NUMBER(REAL, MPI_LONG_DOUBLE, long double),
        NUMBER(COMPLEX, MPI_C_FLOAT_COMPLEX, float), NUMBER(COMPLEX, MPI_C_DOUBLE_COMPLEX, double),
        NUMBER(COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, long double), NUMBER(BOOLEAN, MPI_C_BOOL, _Bool),
        NUMBER(BITS, MPI_BYTE, char), FORTRAN(SIGNED, MPI_INTEGER, 4), FORTRAN(SIGNED, MPI_INTEGER1, 1),
        FORTRAN(SIGNED, MPI_INTEGER2, 2), FORTRAN(SIGNED, MPI_INTEGER4, 4), FORTRAN(SIGNED, MPI_INTEGER8, 8),
        FORTRAN(REAL, MPI_REAL, 4), FORTRAN(REAL, MPI_DOUBLE_PRECISION, 8), FORTRAN(REAL, MPI_REAL4, 4),
        FORTRAN(REAL, MPI_REAL8, 8), FORTRAN(COMPLEX, MPI_COMPLEX, 4), FORTRAN(COMPLEX, MPI_DOUBLE_COMPLEX, 8),
        FORTRAN(COMPLEX, MPI_COMPLEX8, 4), FORTRAN(COMPLEX, MPI_COMPLEX16, 8), FORTRAN(LOGICAL, MPI_LOGICAL, 4),
        PAIRED(MPI_FLOAT_INT, FloatInt, 1), PAIRED(MPI_DOUBLE_INT, DoubleInt, 1), PAIRED(MPI_LONG_INT, LongInt, 0),
        PAIRED(MPI_SHORT_INT, ShortInt, 0), PAIRED(MPI_LONG_DOUBLE_INT, LongDoubleInt, 1),
        {"MPI_2INT", MPI_2INT, PAIR, 4, 4, 4, 0, 0}, {"MPI_2INTEGER", MPI_2INTEGER, PAIR, 4, 4, 4, 0, 0},
        {"MPI_2REAL", MPI_2REAL, PAIR, 4, 4, 4, 1, 1},
        {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, PAIR, 8, 8, 8, 1, 1},
    };
    const struct {
        const char *name;
        MPI_Op op;
    } ops[] = {{"MPI_MAX", MPI_MAX},       {"MPI_MIN", MPI_MIN},      {"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD},
               {"MPI_LAND", MPI_LAND},     {"MPI_LOR", MPI_LOR},      {"MPI_LXOR", MPI_LXOR}, {"MPI_BAND", MPI_BAND},
               {"MPI_BOR", MPI_BOR},       {"MPI_BXOR", MPI_BXOR},    {"MPI_MAXLOC", MPI_MAXLOC},
               {"MPI_MINLOC", MPI_MINLOC}};
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int counts[] = {1, 7, 40};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (types[t].type == MPI_DATATYPE_NULL) continue;
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int c = 0; c < 3; c++)
                if (allowed(types[t].class, ops[o].op)) one(&types[t], ops[o].op, ops[o].name, counts[c]);
    }
    optional();
    pitfall_wrapping_bytes();
    special_values();
    return check_finish();
}
