//! The exported symbols, C and Fortran; each names its arguments and hands them on.
//!
//! * [`symbols`], [`fortran`], `fortran_collectives`: what is replaced, and the start and the end of MPI.
//! * [`observed`]: what is passed on, timed and counted; its Fortran entries for Open MPI in `observed_fortran`, with
//!   `part_fortran` for the bytes.
//! * [`messages`], [`messages_fortran`]: the calls that send and receive messages.
//! * [`passed_on`], [`passed_on_fortran`]: one-sided communication, files, and the rest of what deals with messages.
//! * [`requests`], [`requests_fortran`]: the calls that deal with requests.
//! * [`makers`], [`makers_fortran`]: what makes communicators. [`freeing`]: what frees them.
//!   [`revoking`]: what ends communication on them.
//! * [`sessions`]: what MPI 4 has beside `MPI_Init`.
//! * `names`: what Fortran procedures are called; `namesake`: functions of programs without MPI that are called so.
//!   `native`: the MPI library's own, as functions.
//! * [`control`]: what `collie.h` declares. [`transports`]: what only programs of ours may choose.

pub mod control;
pub mod fortran;
#[cfg(mpi_family = "openmpi")]
pub mod fortran_collectives;
pub mod freeing;
pub mod makers;
pub mod makers_fortran;
pub mod messages;
pub mod messages_fortran;
mod names;
mod namesake;
mod native;
pub mod observed;
#[cfg(mpi_family = "openmpi")]
pub mod observed_fortran;
#[cfg(mpi_family = "openmpi")]
pub mod part_fortran;
pub mod passed_on;
pub mod passed_on_fortran;
pub mod requests;
pub mod requests_fortran;
pub mod revoking;
pub mod sessions;
pub mod symbols;
pub mod transports;
