//! `collie fit`: the parameters of a network, measured under a real MPI.
//!
//! Modules in reading order:
//!
//! * [`settings`]: what the user asks for.
//! * [`estimate`]: from what was measured, by way of links (`schedule::simulate::estimate`), to a
//!   [`Network`](crate::schedule::simulate::Network); arithmetic only.
//! * `talk` (feature `mpi`): messages between rank 0, which measures, and the others, which do what it tells them.
//! * `measure` (feature `mpi`): what is timed, and in which order; the program.
//!
//! `collie-bench fit` is the MPI program; `collie fit` (in `cli`) starts it. docs/simulation.md says what is measured
//! and how well it predicts.

pub mod estimate;
pub mod settings;

#[cfg(feature = "mpi")]
mod measure;
#[cfg(feature = "mpi")]
mod talk;

pub use settings::Settings;

#[cfg(feature = "mpi")]
pub use measure::main;
