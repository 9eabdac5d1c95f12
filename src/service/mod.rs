//! What stands beside the calls, from the start of MPI to its end.
//!
//! * [`lifecycle`]: start, end, report. [`partial`]: the report of one rank alone, also before an [`ending`] without
//!   `MPI_Finalize`, where [`deadline`] bounds its time.
//! * [`synchronise`]: waiting for late ranks, separated from the collective itself. [`watch`]: the watch for calls that do not end.
//! * [`trace`]: the log of single calls. [`places`]: which files it and the reports go to; [`outputs`]: trying and writing them.

pub mod deadline;
pub mod ending;
pub mod lifecycle;
pub mod outputs;
pub mod partial;
pub mod places;
pub mod synchronise;
pub mod trace;
pub mod watch;
