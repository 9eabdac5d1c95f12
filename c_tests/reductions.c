/* reduce and allreduce against PMPI: every root, counts around the number of ranks, user operations that do and do not
 * commute on predefined, contiguous and derived types, floating point within rounding and identical on all ranks,
 * in place, about one mebibyte. */
#include "check.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

static int wanted;

/* 2x2 matrices over integers modulo 2^32: their product does not commute. */
static void matrix_product(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    const uint32_t(*left)[4] = in;
    uint32_t(*right)[4] = inout;
    for (int i = 0; i < *len; i++) {
        const uint32_t *a = left[i], *b = right[i];
        uint32_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                               a[2] * b[1] + a[3] * b[3]};
        memcpy(right[i], product, sizeof product);
    }
}

/* x -> ax+b modulo 2^32, both in one predefined element; composition does not commute. */
static void affine_composition(void *in, void *inout, int *len, MPI_Datatype *type) {
    REQUIRE(*type == MPI_UINT64_T, "the user's function got another datatype than the call");
    const uint64_t *left = in;
    uint64_t *right = inout;
    for (int i = 0; i < *len; i++) {
        uint32_t a = left[i] >> 32, b = left[i], c = right[i] >> 32, d = right[i];
        right[i] = (uint64_t)(a * c) << 32 | (uint32_t)(a * d + b);
    }
}

/* Keeps what differs from the other by the larger absolute value; commutes on the values used here. */
static void largest_magnitude(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    const int *left = in;
    int *right = inout;
    for (int i = 0; i < *len; i++)
        if (abs(left[i]) > abs(right[i])) right[i] = left[i];
}

/* Strings of one letter a rank, with a gap between length and text: concatenation, cut at what fits. */
typedef struct {
    int32_t length;
    char gap[4];
    char text[24];
} String;

static void concatenation(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    const String *left = in;
    String *right = inout;
    for (int i = 0; i < *len; i++) {
        char text[48];
        int a = left[i].length, b = right[i].length;
        memcpy(text, left[i].text, (size_t)a);
        memcpy(text + a, right[i].text, (size_t)b);
        right[i].length = a + b;
        memcpy(right[i].text, text, (size_t)(a + b));
    }
}

typedef struct {
    const char *label;
    MPI_Datatype type;
    MPI_Op op;
    double tolerance; /* relative to the sum of the magnitudes; 0: bit for bit */
    void (*fill)(void *at, long element, int rank);
} Case;

static uint32_t mixed(long element, int rank) { return (uint32_t)(element * 2654435761u) ^ (uint32_t)(rank * 40503u + 7); }
static void fill_int(void *at, long i, int rank) { ((int *)at)[i] = (int)(mixed(i, rank) % 2000001u) - 1000000; }
static void fill_magnitude(void *at, long i, int rank) { ((int *)at)[i] = (int)((mixed(i, 0) % 1000) * 16 + rank + 1); }
static void fill_float(void *at, long i, int rank) { ((float *)at)[i] = (float)(mixed(i, rank) % 20011) / 20011 - 0.3f; }
static void fill_double(void *at, long i, int rank) { ((double *)at)[i] = (double)(mixed(i, rank) % 200003) / 200003 - 0.3; }
static void fill_affine(void *at, long i, int rank) {
    ((uint64_t *)at)[i] = (uint64_t)(mixed(i, rank) | 1) << 32 | mixed(i, rank + 31);
}
static void fill_matrix(void *at, long i, int rank) {
    for (int k = 0; k < 4; k++) ((uint32_t *)at)[4 * i + k] = mixed(4 * i + k, rank) % 97 + 1;
}
static void fill_string(void *at, long i, int rank) {
    String *string = (String *)at + i;
    string->length = 1;
    string->text[0] = (char)('a' + (rank + i) % 26);
    memset(string->text + 1, '.', sizeof string->text - 1);
}

static Case cases[10];
static int case_count;
/* With the argument "thin": roots other than the first and the last take turns with types and counts, and the longest
 * vectors, which take nine tenths of the time, are a quarter as long. */
static int thin;

static void one(const Case *c, int count, int root, int in_place, MPI_Comm comm, int rank, int size) {
    CASE("MPI_%s of %s: p %d, root %d, count %d%s", check_names[wanted], c->label, size, root, count,
         in_place ? ", in place" : "");
    const int receives = wanted == ALLREDUCE || rank == root;
    const unsigned seed = 500 + rank;
    Memory send = check_memory(c->type, count, 1), ours = check_memory(c->type, count, seed),
           native = check_memory(c->type, count, seed);
    for (long i = 0; i < count; i++) c->fill(send.at, i, rank);
    void *from = send.at;
    if (in_place && receives) {
        for (long i = 0; i < count; i++) c->fill(ours.at, i, rank);
        from = MPI_IN_PLACE;
    }
    if (wanted == ALLREDUCE) {
        OK(MPI_Allreduce(from, ours.at, count, c->type, c->op, comm));
        OK(PMPI_Allreduce(send.at, native.at, count, c->type, c->op, comm));
    } else {
        OK(MPI_Reduce(from, receives ? ours.at : NULL, count, c->type, c->op, root, comm));
        OK(PMPI_Reduce(send.at, receives ? native.at : NULL, count, c->type, c->op, root, comm));
    }
    Memory fresh = check_memory(c->type, count, 1);
    for (long i = 0; i < count; i++) c->fill(fresh.at, i, rank);
    REQUIRE(memcmp(fresh.base, send.base, send.size) == 0, "the send buffer was written");
    check_free(fresh);
    check_gaps(ours, c->type, count, seed);
    if (receives) {
        int bytes, native_bytes, element;
        unsigned char *a = check_packed(ours.at, count, c->type, &bytes);
        unsigned char *b = check_packed(native.at, count, c->type, &native_bytes);
        PMPI_Type_size(c->type, &element);
        if (c->tolerance == 0) check_same(a, b, (size_t)bytes, (size_t)element);
        for (int i = 0; c->tolerance != 0 && i < count; i++) {
            double x = element == 4 ? ((float *)ours.at)[i] : ((double *)ours.at)[i];
            double y = element == 4 ? ((float *)native.at)[i] : ((double *)native.at)[i];
            if (!(fabs(x - y) <= 2 * c->tolerance * size * size)) fail("element %d: ours %.17g, native %.17g", i, x, y);
        }
        if (wanted == ALLREDUCE && bytes) {
            memcpy(b, a, (size_t)bytes);
            OK(PMPI_Bcast(b, bytes, MPI_BYTE, 0, comm));
            if (memcmp(a, b, (size_t)bytes)) {
                check_same(a, b, (size_t)bytes, (size_t)element);
                fail("the result differs from rank 0's (shown as native)");
            }
        }
        free(a);
        free(b);
    }
    check_free(send);
    check_free(ours);
    check_free(native);
}

static void body(MPI_Comm comm, int rank, int size) {
    const int roots = wanted == ALLREDUCE ? 1 : size;
    const int counts[] = {0, 1, size - 1, size, size + 1, 1009};
    for (int root = 0; root < roots; root++)
        for (int k = 0; k < case_count; k++) {
            for (int c = 0; c < 6; c++)
                if (!thin || root == 0 || root == size - 1 || (root + k + c) % 6 == 0)
                    one(&cases[k], counts[c], root, (root + k + c + root / 2) % 2, comm, rank, size);
            if ((root == 0 || root == size - 1) && k < 4)
                one(&cases[k], (thin ? 65539 : 262147) / (k == 3 ? 2 : 1), root, root != 0, comm, rank, size);
        }
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    MPI_Op product, affine, magnitude, concatenate;
    MPI_Datatype matrix, string, bare;
    OK(MPI_Op_create(matrix_product, 0, &product));
    OK(MPI_Op_create(affine_composition, 0, &affine));
    OK(MPI_Op_create(largest_magnitude, 1, &magnitude));
    OK(MPI_Op_create(concatenation, 0, &concatenate));
    OK(MPI_Type_contiguous(4, MPI_UINT32_T, &matrix));
    OK(MPI_Type_commit(&matrix));
    OK(MPI_Type_create_struct(2, (int[]){1, 24}, (MPI_Aint[]){0, offsetof(String, text)},
                              (MPI_Datatype[]){MPI_INT32_T, MPI_CHAR}, &bare));
    OK(MPI_Type_create_resized(bare, 0, sizeof(String), &string));
    OK(MPI_Type_commit(&string));
    const Case all[] = {
        {"MPI_INT MPI_SUM", MPI_INT, MPI_SUM, 0, fill_int},
        {"MPI_FLOAT MPI_SUM", MPI_FLOAT, MPI_SUM, FLT_EPSILON, fill_float},
        {"MPI_DOUBLE MPI_SUM", MPI_DOUBLE, MPI_SUM, DBL_EPSILON, fill_double},
        {"MPI_UINT64_T affine composition (does not commute)", MPI_UINT64_T, affine, 0, fill_affine},
        {"contiguous matrix product (does not commute)", matrix, product, 0, fill_matrix},
        {"derived string concatenation (does not commute)", string, concatenate, 0, fill_string},
        {"MPI_INT largest magnitude (commutes)", MPI_INT, magnitude, 0, fill_magnitude},
        {"MPI_DOUBLE MPI_MAX", MPI_DOUBLE, MPI_MAX, 0, fill_double},
    };
    case_count = sizeof all / sizeof *all;
    thin = check_thin(argc, argv);
    memcpy(cases, all, sizeof all);
    for (wanted = REDUCE; wanted <= ALLREDUCE; wanted++)
        if (check_wanted(argc, argv, wanted)) check_on_parts(body);
    OK(MPI_Op_free(&product));
    OK(MPI_Op_free(&affine));
    OK(MPI_Op_free(&magnitude));
    OK(MPI_Op_free(&concatenate));
    OK(MPI_Type_free(&matrix));
    OK(MPI_Type_free(&string));
    OK(MPI_Type_free(&bare));
    return check_finish();
}
