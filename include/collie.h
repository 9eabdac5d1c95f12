/*
 * Control of Collie from inside a program. Preloading needs none of this; link with `pkg-config --libs collie`.
 *
 * Written by cbindgen from src/entry/control.rs; `cargo test` checks that it is current, and
 * `COLLIE_TEST_WRITE=1 cargo test --test header` regenerates it.
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
// algorithm with parameters, as in the environment variables. All ranks have to make the same choice.
//
// `operation` and `choice` are NUL-terminated strings. Returns 0, or 1 for an unknown operation, algorithm, parameter
// or value, or a null pointer.
int collie_choose(const char *operation,
                  const char *choice);

// As `collie_choose`, but on the communicator `comm` only, where it takes precedence over `collie_choose`.
//
// `operation` and `choice` are NUL-terminated strings. Returns 0, 1 as above, or 2 if MPI is not initialised or `comm`
// is invalid.
int collie_choose_on(MPI_Comm comm,
                     const char *operation,
                     const char *choice);

// Fills `statistics` for `operation`, over all communicators that still exist, except communicators that another
// thread is updating at that moment. Calls under way are not counted yet. Local: no communication.
//
// `operation` is a NUL-terminated string. Returns 0, 1 for an unknown operation or a null pointer, or 2 if MPI is not
// initialised.
int collie_read(const char *operation,
                struct collie_statistics *statistics);

// Writes the report now, as `MPI_Finalize` would. Collective over `MPI_COMM_WORLD`.
//
// Returns 0, 2 if MPI is not initialised, or 3 (on rank 0) if the report could not be written.
int collie_report(void);

// Begins a region of the program on this thread: the report says how long it took, and how much of that was spent in
// collectives and messages. Regions may be nested. A program that declares `#pragma weak collie_region_begin` and
// checks that the function is not null need not be linked with Collie. In Fortran: `call collie_region_begin('name')`.
//
// `name` is a NUL-terminated string. Returns 0, 1 for a null pointer, or 2 if MPI is not initialised.
int collie_region_begin(const char *name);

// Ends the region of that name that began last on this thread.
//
// `name` is a NUL-terminated string. Returns 0, 1 if no such region has begun or for a null pointer, or 2 if MPI is
// not initialised.
int collie_region_end(const char *name);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COLLIE_H */
