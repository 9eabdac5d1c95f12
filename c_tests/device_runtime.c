/* Stands in for CUDA's driver library: owns a range of memory, which the program locks for the time in which nobody but the
 * driver is to touch it, and otherwise leaves to the MPI library, which can use it as it would a GPU's. The program takes
 * memory from it by device_take and managed memory, which the host may use too, by managed_take. Every second piece is from a
 * pool, and of no context. Without COPIES it has nothing to copy with. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE = 9, TYPE_DEVICE = 2 };
enum { ROOM = 1 << 16, THE_DEVICE = 3 };

static char device[ROOM] __attribute__((aligned(ROOM))), managed[ROOM] __attribute__((aligned(64)));
static size_t device_used, managed_used;
/* The pieces of the device's memory. */
static char *pieces[1024];
static int number_of_pieces;
static long asked, copied;
static int locked, current, retained, context;

static void *take(char *from, size_t *used, size_t bytes) {
    char *piece = from + *used;
    *used += (bytes + 63) / 64 * 64;
    return *used <= ROOM ? piece : NULL;
}

static void protect(int protection) { mprotect(device, ROOM, protection); }

void *device_take(size_t bytes) {
    pieces[number_of_pieces++] = device + device_used;
    pieces[number_of_pieces] = device + device_used + bytes;
    return take(device, &device_used, bytes);
}
void *managed_take(size_t bytes) { return take(managed, &managed_used, bytes); }
void device_give_all_back(void) { number_of_pieces = 0, device_used = managed_used = 0; }
long device_asked(void) { return asked; }
/* Bytes that were copied. */
long device_copied(void) { return copied; }
/* Contexts that were made current or retained and are still. */
int device_contexts(void) { return current + retained; }

/* From now on nobody but the driver can touch the memory, or everybody. */
void device_lock(int lock) {
    if (lock == locked) return;
    locked = lock;
    protect(lock ? PROT_NONE : PROT_READ | PROT_WRITE);
}

int cuPointerGetAttributes(unsigned number, const int *attributes, void *const *answers, unsigned long long address) {
    const char *at = (const char *)(size_t)address;
    int is_managed = at >= managed && at < managed + ROOM, is_device = at >= device && at < device + ROOM;
    asked++;
    for (unsigned i = 0; i < number; i++) {
        int answer = 0;
        if (attributes[i] == CONTEXT) {
            void *its = is_device && (at - device) / 64 % 2 == 0 ? &context : NULL;
            memcpy(answers[i], &its, sizeof its);
            continue;
        }
        if (attributes[i] == MEMORY_TYPE) answer = is_managed || is_device ? TYPE_DEVICE : 0;
        else if (attributes[i] == IS_MANAGED) answer = is_managed;
        else if (attributes[i] == DEVICE) answer = is_device ? THE_DEVICE : -2;
        else return INVALID_VALUE;
        memcpy(answers[i], &answer, sizeof answer);
    }
    return SUCCESS;
}

#ifdef COPIES
/* The copy to the device that is on its way: it arrives when the stream is waited for. */
static struct {
    char bytes[ROOM], *to;
    size_t number;
} under_way;

int cuCtxGetDevice(int *its) {
    *its = THE_DEVICE;
    return current > 0 ? SUCCESS : INVALID_CONTEXT;
}

int cuCtxPushCurrent_v2(void *its) {
    if (its != &context) return INVALID_CONTEXT;
    current++;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **its) {
    *its = &context;
    return current-- > 0 ? SUCCESS : INVALID_CONTEXT;
}

int cuDevicePrimaryCtxRetain(void **its, int of) {
    if (of != THE_DEVICE) return INVALID_VALUE;
    *its = &context;
    retained++;
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int of) {
    if (of != THE_DEVICE) return INVALID_VALUE;
    retained--;
    return SUCCESS;
}

/* Whether the bytes are all in one piece of the device's memory; all of the host's are. */
static int is_in_one_piece(const char *at, size_t bytes) {
    if (!(at >= device && at < device + ROOM)) return 1;
    for (int i = 0; i < number_of_pieces; i++) {
        const char *end = i + 1 < number_of_pieces ? pieces[i + 1] : device + device_used;
        if (at >= pieces[i] && at < end) return at + bytes <= end;
    }
    return 0;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    char *target = (char *)(size_t)to;
    const char *source = (const char *)(size_t)from;
    if (current == 0) return INVALID_CONTEXT;
    if (!is_in_one_piece(target, bytes) || !is_in_one_piece(source, bytes) || under_way.to != NULL) return INVALID_VALUE;
    copied += (long)bytes;
    if (target >= device && target < device + ROOM) {
        memcpy(under_way.bytes, source, bytes);
        under_way.to = target;
        under_way.number = bytes;
        return SUCCESS;
    }
    if (locked) protect(PROT_READ | PROT_WRITE);
    memcpy(target, source, bytes);
    if (locked) protect(PROT_NONE);
    return SUCCESS;
}

int cuStreamSynchronize(void *stream) {
    if (current == 0 || stream != NULL) return INVALID_CONTEXT;
    if (under_way.to == NULL) return SUCCESS;
    if (locked) protect(PROT_READ | PROT_WRITE);
    memcpy(under_way.to, under_way.bytes, under_way.number);
    if (locked) protect(PROT_NONE);
    under_way.to = NULL;
    return SUCCESS;
}
#endif
