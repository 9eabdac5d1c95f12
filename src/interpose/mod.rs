//! The exported symbols, and everything between them and the algorithms.
//!
//! * [`symbols`], [`fortran`], `fortran_collectives`: the entries, C and Fortran; each names its arguments and hands them on.
//! * [`collective`]: one call from its arguments to its record; [`fast_path`]: the same for a call that came before, of which
//!   [`cached`] keeps what can be kept.
//! * [`arguments`]: which arguments count on this rank. [`plan`]: who carries a call out. [`program`]: a call made ready to be
//!   played, and [`seat`], where.
//! * [`state`]: what is kept per communicator, and the agreement of its ranks; [`decisions`] and [`last_communicators`] that
//!   it and its threads remember. [`runtime`]: the one static.
//! * [`observed`]: what is passed on, timed and counted; its Fortran entries for Open MPI in `observed_fortran`.
//! * [`origin`]: where communicators come from; its Fortran entries in `origin_fortran`.
//! * [`device`]: memory of GPUs, which is left to the MPI library.
//! * [`contexts`]: communicators that the MPI library has no context id for. [`dying`]: those that are being freed.
//! * [`stacked`]: other tools beside this one.
//! * [`monitoring`]: what Open MPI itself counts of messages.
//! * [`requests`]: the calls that wait for what was started.
//! * [`verify`]: ours beside the native one, results compared.
//! * [`synchronise`]: waiting for late ranks, separated from the collective itself.
//! * [`flags`]: what may ask something of a call besides its work: [`watch`], the watch for calls that do not end, and [`partial`],
//!   the report of one rank alone, also before an [`ending`] without `MPI_Finalize`, where [`deadline`] bounds its time.
//! * [`trace`]: the log of single calls. [`places`]: which files it and the reports go to, seen from the [`folder`] of the
//!   command; [`outputs`]: trying and writing them.
//! * [`lifecycle`]: start, end, report. [`control`]: `collie.h`. [`guard`], [`stack`]: the boundary.
//!   [`kept`]: what a thread keeps.

mod agreement;
mod arguments;
mod cached;
mod collective;
mod contexts;
pub mod control;
mod deadline;
mod decisions;
mod device;
mod dying;
mod ending;
mod fast_path;
mod flags;
mod folder;
mod fortran;
#[cfg(mpi_family = "openmpi")]
mod fortran_collectives;
mod guard;
mod kept;
mod last_communicators;
mod lifecycle;
mod log;
mod monitoring;
mod native;
mod observed;
#[cfg(mpi_family = "openmpi")]
mod observed_fortran;
mod origin;
mod origin_fortran;
mod outputs;
mod part;
mod partial;
mod places;
mod plan;
mod program;
mod requests;
mod runtime;
mod seat;
mod stack;
mod stacked;
mod state;
pub mod symbols;
mod synchronise;
mod trace;
mod verify;
mod watch;
