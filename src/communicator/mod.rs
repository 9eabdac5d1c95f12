//! What is kept of a communicator, whatever its calls are.
//!
//! * [`state`]: all of it together.
//! * [`facts`]: what a rank knows by itself. [`origin`]: where the communicator comes from.
//! * [`agreement`]: what its ranks know alike. [`private`]: the communicator for our messages; [`seat`]: this rank in
//!   it.
//!   [`segment`]: the memory that its ranks share within a node.
//! * [`failures`]: processes that fail in the middle of an algorithm.
//! * [`device_calls`]: what it remembers of buffers in memory of GPUs.
//! * [`tally`]: what is counted. [`fallback`]: why calls stay with the MPI library.
//! * [`making`]: communicators that are being made, and whether one may be made beside them; [`duplicating`]:
//!   duplicates that are. [`dying`]: communicators that are being freed.

pub mod agreement;
pub mod device_calls;
pub mod duplicating;
pub mod dying;
pub mod facts;
pub mod failures;
pub mod fallback;
pub mod making;
pub mod origin;
pub mod private;
pub mod seat;
pub mod segment;
pub mod state;
pub mod tally;
