/* Stands in for CUDA's driver library: claims a range of host memory, which the MPI library can use as it would a GPU's. The
 * program takes memory from it by device_take and managed memory, which the host may use too, by managed_take. */
#include <stddef.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, TYPE_DEVICE = 2 };

static char device[1 << 16] __attribute__((aligned(64))), managed[1 << 16] __attribute__((aligned(64)));
static size_t device_used, managed_used;
static long asked;

static void *take(char *from, size_t *used, size_t bytes) {
    char *piece = from + *used;
    *used += (bytes + 63) / 64 * 64;
    return *used <= sizeof device ? piece : NULL;
}

void *device_take(size_t bytes) { return take(device, &device_used, bytes); }
void *managed_take(size_t bytes) { return take(managed, &managed_used, bytes); }
void device_give_all_back(void) { device_used = managed_used = 0; }
long device_asked(void) { return asked; }

int cuPointerGetAttribute(void *answer, int attribute, unsigned long long address) {
    const char *at = (const char *)(size_t)address;
    int is_managed = at >= managed && at < managed + sizeof managed;
    asked++;
    if (!is_managed && !(at >= device && at < device + sizeof device)) return INVALID_VALUE;
    if (attribute != MEMORY_TYPE && attribute != IS_MANAGED) return INVALID_VALUE;
    int number = attribute == MEMORY_TYPE ? TYPE_DEVICE : is_managed;
    memcpy(answer, &number, sizeof number);
    return SUCCESS;
}
