//! `collie bench`: native collectives against ours, alternating within one job.
//!
//! Modules in reading order:
//!
//! * [`settings`]: what the user asks for; [`numbers`]: how numbers in it are read. [`cell`]: one thing to measure;
//!   [`pattern`]: how its calls follow one another. [`plan`]: cells from a recorded report.
//!   [`program`]: cells and variants, decided by rank 0 for all ranks. [`variants`]: who that is in a cell.
//! * [`statistics`], [`bound`]: from samples to numbers; the least time that the network allows.
//! * [`result`]: what was measured, and several runs as one. [`table`], [`csv`], [`plot`], [`page`]: its forms.
//!   [`from_csv`]: the second of these read back. [`checked`]: whether what a file says of a cell can be.
//!   [`output`]: where they go.
//! * [`tune`]: from measured cells to rules. [`regrets`]: how good these are, as a drawing.
//! * `job`, `exchange` (feature `mpi`): everything that speaks MPI; `over`: the communicators of a transport.
//!   `in_memory`: times of what lives in shared memory, for `fit`; [`memory`]: what that memory costs by them.
//!   `measure`, `overhead`: what is timed, and in which order. `user_defined`: a reduction's operation as programs
//!   define their own. `entry`: the program around it.
//!
//! `collie-bench` is the MPI program; `collie bench` (in `cli`) starts it and joins the runs without MPI.

pub mod bound;
pub mod cell;
pub mod checked;
pub mod csv;
pub mod from_csv;
pub mod memory;
pub mod numbers;
pub mod output;
pub mod page;
pub mod pattern;
pub mod plan;
pub mod plot;
pub mod program;
pub mod regrets;
pub mod result;
pub mod settings;
pub mod statistics;
pub mod table;
pub mod tune;
pub mod variants;

#[cfg(feature = "mpi")]
pub mod entry;
#[cfg(feature = "mpi")]
mod exchange;
#[cfg(feature = "mpi")]
pub mod in_memory;
#[cfg(feature = "mpi")]
mod job;
#[cfg(feature = "mpi")]
mod measure;
#[cfg(feature = "mpi")]
mod over;
#[cfg(feature = "mpi")]
mod overhead;
#[cfg(feature = "mpi")]
mod user_defined;

pub use settings::Settings;

#[cfg(feature = "mpi")]
pub use job::Job;
#[cfg(feature = "mpi")]
pub use measure::main;
