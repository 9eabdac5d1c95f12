//! The one idea of the crate: an algorithm is written once against [`Comm`], lowered to actions, and these are played
//! on an MPI library, simulated and drawn.
//!
//! Modules in reading order:
//!
//! * [`mod@record`]: the steps of one rank, as the algorithm says them.
//! * [`action`]: what they are lowered to; [`lower`]: how. [`fragments`]: which messages travel in fragments, by the
//!   [`limits`] of what the MPI library takes on its fast path. [`overlap`]: whether a call's buffers share memory.
//!   [`seats`]: who is which rank of which board.
//! * [`verify`]: holds the programs of all ranks to what MPI promises. [`simulate`]: how long they take on a network.
//!   [`count`]: their critical path, for the cost formulas. [`draw`]: a picture of them.

#![forbid(unsafe_code)]

pub mod action;
pub mod count;
pub mod draw;
pub mod fragments;
pub mod limits;
pub mod lower;
pub mod overlap;
pub mod record;
pub mod seats;
pub mod simulate;
pub mod verify;

pub use crate::operation::{Buffer, Comm, Place, Range, Request, Requests, Shared, View};
pub use record::{Program, Step, record, record_all, record_body};
