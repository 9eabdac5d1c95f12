//! What Collie knows of the process and of its threads, whatever communicators and calls there are.
//!
//! * [`runtime`]: the one static. [`flags`]: what may ask something of a call besides its work.
//! * [`guard`], [`stack`]: the boundary between C and Rust. [`kept`]: what a thread keeps; [`last_communicators`] that it remembers.
//! * [`log`]: words for people. [`native`]: the MPI library's procedures by name. [`folder`]: the folder of the command.
//! * [`device`]: memory of GPUs, which is left to the MPI library. [`monitoring`]: what Open MPI itself counts of messages.
//!   [`stacked`]: other tools beside this one.

pub mod device;
pub mod flags;
pub mod folder;
pub mod guard;
pub mod kept;
pub mod last_communicators;
pub mod log;
pub mod monitoring;
pub mod native;
pub mod runtime;
pub mod stack;
pub mod stacked;
