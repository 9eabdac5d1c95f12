//! What stands beside the calls, from the start of MPI to its end. Calls know nothing of it: services say what they
//! want of calls in the hooks of [`call`](crate::call::hooks).
//!
//! * [`lifecycle`]: the start and the end, and where the rooms are put together.
//! * [`measuring`]: what is measured at the start.
//! * [`report`]: the report of all ranks, of each rank's [`record`], which names the calls [`under_way`]. [`partial`]:
//!   the report of one rank [`alone`], also before an [`ending`] without `MPI_Finalize`, where [`deadline`] bounds its
//!   time; [`signals`]. [`checkpoint`]: the same now and then.
//! * [`synchronise`]: waiting for late ranks, separated from the collective itself, by common [`clocks`]; [`combine`]:
//!   all ranks' arrivals put together.
//! * [`sites`]: where the program calls from.
//! * [`silence`]: ranks that do not answer in `MPI_Init`, since Collie is not preloaded there.
//! * [`watch`]: the watch for calls that do not end; [`own_thread`]: threads of Collie's own.
//! * [`unseen`]: the word of a process whose calls of MPI never came here.
//! * [`trace`]: the log of single calls. [`learned`]: what was learned, for the runs to come. [`places`]: which files
//!   it and the reports go to; [`outputs`]: trying and writing them.

pub mod alone;
mod checkpoint;
pub mod clocks;
pub mod combine;
pub mod deadline;
pub mod ending;
pub mod learned;
pub mod lifecycle;
pub mod measuring;
pub mod outputs;
mod own_thread;
pub mod partial;
pub mod places;
pub mod record;
pub mod report;
pub mod signals;
mod silence;
pub mod sites;
pub mod synchronise;
pub mod trace;
pub mod under_way;
mod unseen;
pub mod watch;
