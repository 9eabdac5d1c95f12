//! Calls, from their arguments to their record.
//!
//! * [`registry`]: the communicators that calls were made on, and what hangs on each as an [`attachment`]. [`begin`]:
//!   how a call takes hold of that. [`hooks`]: what services want of calls.
//! * [`collective`]: one call on the slow path; [`fast_path`]: the same for a call that came before, of which
//!   [`cached`] keeps what can be kept, [`recent_calls`] those that came lately, and [`decisions`] what was decided.
//!   [`counting`]: which of the first calls count until the ranks agree. [`recording`]: what is recorded of calls on
//!   the slow path, and of all that follow here; [`line`]: a call as a line of the log.
//! * [`arguments`]: what the program passed; [`local_arguments`]: which of it counts on this rank; [`own_arguments`]:
//!   counts and displacements that each rank passes for itself; [`made`]: types and operations of the program's, whose
//!   handles may mean something else by the next call; [`named_calls`]: calls with these that are found by what they
//!   are called. [`choices`]: what the program itself chose. [`plan`]: who carries a call out; [`new_plan`]: how that
//!   is decided, unless [`device_memory`] decides it. [`program`]: a call made ready to be played, in its [`layout`],
//!   [`length_prelude`]: the lengths that it has to learn first, and [`play`]: doing so, in the memory of a [`pool`].
//!   [`ready`]: calls made ready, kept for the next ones. [`learner`]: which of several is the fastest, learned on one
//!   communicator by [`trials`], in [`turns`]. [`verify`]: ours beside the native one, kept [`aside`], results compared
//!   by their [`meaning`] within a [`tolerance`], as [`wide`] numbers.
//! * [`observed`]: a call that is only passed on, timed and counted, and [`part`], its bytes. [`requests`]: the calls
//!   that wait for what was started. [`messages`]: the program's calls beside collectives. [`regions`]: parts of the
//!   run that it names.
//! * [`makers`]: calls that make communicators. [`contexts`]: communicators that the MPI library has no context id for.

pub mod arguments;
pub mod aside;
pub mod attachment;
pub mod begin;
pub mod cached;
pub mod choices;
pub mod collective;
pub mod contexts;
pub mod counting;
pub mod decisions;
pub mod device_memory;
pub mod fast_path;
pub mod hooks;
pub mod layout;
pub mod learner;
pub mod length_prelude;
pub mod line;
pub mod local_arguments;
pub mod made;
pub mod makers;
pub mod meaning;
pub mod messages;
pub mod named_calls;
pub mod new_plan;
pub mod observed;
pub mod own_arguments;
pub mod part;
pub mod plan;
pub mod play;
pub mod pool;
pub mod program;
pub mod ready;
pub mod recent_calls;
pub mod recording;
pub mod regions;
pub mod registry;
pub mod requests;
pub mod tolerance;
pub mod trials;
pub mod turns;
pub mod verify;
mod wide;
