//! What Collie knows of the process and of its threads, whatever communicators and calls there are. Nothing here knows
//! what rests on it: who does says what to do at the start, and what to say of a call
//! ([`lifecycle`](crate::service::lifecycle)).
//!
//! * [`runtime`]: [`clock`], configuration, and facts of the process. [`flags`]: what may ask something of a call
//!   besides its work. [`recorded`]: for how long it has recorded.
//! * [`guard`], [`stack`]: the boundary between C and Rust. [`kept`]: what a thread keeps, and [`own_word`]: how a call
//!   finds it; [`last_communicators`] that it remembers; [`watched`]: what it is in the middle of.
//! * [`floating_point`]: the program's environment, put aside while Collie calculates.
//! * [`log`]: words for people. [`library`]: which MPI library it is.
//! * [`folder`]: the folder of the command. [`modules`]: the files whose code is loaded. [`text`] at addresses that may
//!   be none.
//! * [`sessions`]: programs without `MPI_Init`.
//! * [`device`]: memory of GPUs, which is left to the MPI library. [`monitoring`]: what Open MPI itself counts of
//!   messages.
//!   [`stacked`]: other tools beside this one.

pub mod clock;
pub mod device;
pub mod flags;
pub mod floating_point;
pub mod folder;
pub mod guard;
pub mod kept;
pub mod last_communicators;
pub mod library;
pub mod log;
pub mod modules;
pub mod monitoring;
pub mod own_word;
pub mod recorded;
pub mod runtime;
pub mod sessions;
pub mod stack;
pub mod stacked;
pub mod text;
pub mod watched;
