//! Collie: the collectives of an unmodified MPI program, run by algorithms made of messages between two ranks or of
//! memory that the ranks of a node share, timed and compared.
//!
//! # The one idea
//!
//! A collective algorithm is oblivious: which messages it sends never depends on the data in them. So each algorithm is
//! one plain function that speaks to the [`operation::Comm`] trait. It is lowered to actions, which are played over PMPI
//! or through shared memory, simulated under a network and drawn, and recorded as steps, which are verified
//! symbolically and counted.
//!
//! # Modules in reading order
//!
//! * [`pattern`]: arithmetic only; who talks to whom, about which units.
//! * [`operation`]: what an operation is, a call of it and an algorithm for it; the `Comm` trait.
//! * [`schedule`]: the interpreters that need no MPI.
//! * [`algorithm`]: the catalogue, one file per algorithm.
//! * [`run`]: the player of lowered programs, over a transport.
//! * `reduction` (feature `mpi`, a crate of its own): element-wise kernels, one per operation and element type.
//! * [`monitor`]: what is recorded per call, and the summary over all ranks.
//! * [`selection`]: which algorithm a call gets: variables, rules files, default tables.
//! * [`trial`]: learning while the program runs which of several carries out the calls of one kind fastest.
//! * [`report`]: one writer per form of the report.
//! * [`family`]: the binary interfaces of MPI libraries.
//! * [`shared`]: memory that the ranks of a node share: the channels in it, and the board of the algorithms that live
//!   there.
//! * `reading`: files that never end. `writing`: writes whose failure raises no signal.
//! * [`statistics`]: where samples lie.
//! * [`threads`]: who owns what where several threads call MPI, and how the others leave it alone.
//! * `mpi` (feature `mpi`): PMPI, datatypes, packing, and the transport of messages; what the families of MPI differ
//!   in.
//! * `process` (feature `mpi`): what is known of the process, whatever communicators and calls there are.
//! * `communicator` (feature `mpi`): what is kept of a communicator, and the agreement of its ranks.
//! * `call` (feature `mpi`): a call from its arguments to its record.
//! * `service` (feature `mpi`): what stands beside the calls: start, end, reports, watching.
//! * `entry` (feature `mpi`): the exported symbols, C and Fortran.
//! * `cli` (feature `cli`): the command line, one file per subcommand.
//! * `bench` (feature `cli`, its MPI program also `mpi`): native against ours, alternating within one job.
//! * `fit` (the same features): the parameters of a network, measured.
//!
//! Files need each other in no circle, and folders only such as `tests/arrows` says: the calls do not know the services
//! that stand beside them, and the process knows nothing that rests on it.

pub mod algorithm;
#[cfg(feature = "cli")]
pub mod bench;
#[cfg(feature = "cli")]
pub mod cli;
pub mod family;
#[cfg(feature = "cli")]
pub mod fit;
pub mod monitor;
pub mod operation;
pub mod pattern;
mod reading;
pub mod report;
pub mod run;
pub mod schedule;
pub mod selection;
pub mod shared;
pub mod statistics;
pub mod threads;
pub mod trial;
mod writing;

#[cfg(feature = "mpi")]
mod call;
#[cfg(feature = "mpi")]
mod communicator;
#[cfg(feature = "mpi")]
pub mod entry;
#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(feature = "mpi")]
mod process;
#[cfg(feature = "mpi")]
mod service;
#[cfg(feature = "mpi")]
pub use collie_reduction as reduction;
