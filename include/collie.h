/*
 * Control of Collie from inside a program. Preloading needs none of this; link with `pkg-config --libs collie`.
 *
 * Written by cbindgen from src/entry/control.rs; `cargo test` checks that it is current, and
 * `COLLIE_TEST_WRITE=1 cargo test --test header` writes it anew.
 */

#ifndef COLLIE_H
#define COLLIE_H

#include <mpi.h>
#include <stdint.h>

// What this rank has counted for an operation since the start, or since `MPI_Pcontrol(2)`.
typedef struct collie_statistics {
  // Calls.
  uint64_t calls;
  // Calls that went to the MPI library's own collective.
  uint64_t native_calls;
  // Signature bytes that this rank contributed.
  uint64_t bytes;
  // Time in the calls, nanoseconds.
  uint64_t nanoseconds;
} collie_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of the library, as `major.minor.patch`; a static string.
const char *collie_version(void);

// Chooses how `operation` ("bcast", "reduce", ...) runs from now on, on every communicator: "auto", "native", or an
// algorithm with parameters, as in the environment variables. All ranks have to choose alike.
//
// Returns 0, or 1 for an unknown operation, algorithm, parameter or value, or a null pointer.
//
// # Safety
// Both are strings that end in a zero byte, or null.
int collie_choose(const char *operation,
                  const char *choice);

// Chooses as `collie_choose`, on the communicator `comm` only, where it comes before what holds everywhere.
//
// Returns 0, 1 as above, or 2 if MPI is not initialised or `comm` is invalid.
//
// # Safety
// Both are strings that end in a zero byte, or null.
int collie_choose_on(MPI_Comm comm,
                     const char *operation,
                     const char *choice);

// Fills `statistics` for `operation`, over all communicators that still exist, but for those that another thread's call is
// in the middle of counting on. Calls under way are not counted yet. No communication.
//
// Returns 0, 1 for an unknown operation or a null pointer, or 2 if MPI is not initialised.
//
// # Safety
// `operation` is a string that ends in a zero byte, or null; `statistics` can be written, or is null.
int collie_read(const char *operation,
                struct collie_statistics *statistics);

// Writes the report now, as `MPI_Finalize` would. Collective over `MPI_COMM_WORLD`.
//
// Returns 0, 2 if MPI is not initialised, or 3 if it could not be written (on rank 0).
int collie_report(void);

// A region of the program begins on this thread: the report tells how long it took, and how much of that collectives and
// messages did. Regions may lie within one another. With `#pragma weak collie_region_begin`, and a look whether it is null, a
// program needs no library to link with. From Fortran: `call collie_region_begin('name')`.
//
// Returns 0, 1 for a null pointer, or 2 if MPI is not initialised.
//
// # Safety
// A string that ends in a zero byte, or null.
int collie_region_begin(const char *name);

// The region of that name that began last on this thread ends.
//
// Returns 0, 1 if none of that name has begun or for a null pointer, or 2 if MPI is not initialised.
//
// # Safety
// A string that ends in a zero byte, or null.
int collie_region_end(const char *name);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COLLIE_H */
