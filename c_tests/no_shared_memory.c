/* Preloaded: shared memory of Collie's that cannot be had, as NO_SHARED_MEMORY says: `room` as on a /dev/shm that is full, `unseen`
 * as of ranks whose /dev/shm are different ones, `refused` as where it is not allowed. With `unreadable` it can be had, but no rank
 * may read another one's own memory, as Yama or a container has it; with `named`, none may look at another one's open files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_asked(const char *what) {
    const char *mode = getenv("NO_SHARED_MEMORY");
    return mode && !strcmp(mode, what);
}

static int is_ours(const char *path) { return !strncmp(path, "/dev/shm/collie-", 16); }

/* A file that has no name yet. */
static int is_nameless(const char *path) { return !strncmp(path, "/dev/shm/#", 10); }

static int is_anothers_file(const char *path) {
    return !strncmp(path, "/proc/", 6) && strstr(path, "/fd/") && strncmp(path, "/proc/self", 10);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    char link[64], path[256] = "";
    int (*next)(int, off_t, off_t);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (is_asked("room") && readlink(link, path, sizeof path - 1) > 0 && (is_ours(path) || is_nameless(path)))
        return ENOSPC;
    *(void **)&next = dlsym(RTLD_NEXT, "posix_fallocate");
    return next(file, offset, length);
}

/* The two words that ranks try each other with: what the MPI library reads that way is much longer, and not ours to refuse. */
ssize_t process_vm_readv(pid_t process, const struct iovec *own, unsigned long owns, const struct iovec *other, unsigned long others,
                         unsigned long flags) {
    ssize_t (*next)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
    if (is_asked("unreadable") && owns == 1 && own->iov_len == 16) {
        errno = EPERM;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "process_vm_readv");
    return next(process, own, owns, other, others, flags);
}

int open64(const char *path, int flags, ...) {
    int (*next)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    int is_new = !strcmp(path, "/dev/shm") && (flags & O_TMPFILE) == O_TMPFILE;
    if (is_new && is_asked("refused")) {
        errno = EACCES;
        return -1;
    }
    if (is_ours(path) && (is_asked("refused") || (is_asked("unseen") && !(flags & O_CREAT)))) {
        errno = is_asked("refused") ? EACCES : ENOENT;
        return -1;
    }
    if (is_anothers_file(path) && (is_asked("unseen") || is_asked("named"))) {
        errno = EACCES;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}
