//! What Collie keeps of a communicator.
//!
//! * [`state`]: all of it, and the private communicator. [`agreement`]: what its ranks know alike. [`seat`]: the own place in it.
//! * [`origin`]: where communicators come from. [`dying`]: those that are being freed.

pub mod agreement;
pub mod dying;
pub mod origin;
pub mod seat;
pub mod state;
