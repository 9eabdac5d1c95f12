//! The exported symbols, C and Fortran; each names its arguments and hands them on.
//!
//! * [`symbols`], [`fortran`], `fortran_collectives`: what is replaced, and the start and the end of MPI.
//! * [`observed`]: what is passed on, timed and counted; its Fortran entries for Open MPI in `observed_fortran`.
//! * [`origin_fortran`]: the Fortran entries of what makes communicators.
//! * [`control`]: what `collie.h` declares.

pub mod control;
pub mod fortran;
#[cfg(mpi_family = "openmpi")]
pub mod fortran_collectives;
pub mod observed;
#[cfg(mpi_family = "openmpi")]
pub mod observed_fortran;
pub mod origin_fortran;
pub mod symbols;
