//! Learning while the program runs (`COLLIE_MODE=learn`): of several that may carry out the calls of one kind, which
//! does so fastest. Nothing here speaks MPI or reads a clock, and all that is decided rests on what the ranks know
//! alike.
//!
//! * [`cell`](Cell): calls that learn together. [`candidates`](Candidates): who is tried for them. `distinct`: those
//!   among them that are the same program; `busy`: what their calls cost in a row. [`examined`](Examined): which of
//!   their calls may be carried out so, where results must not depend on that.
//! * [`state`](Trial): the state of one cell, from its first call on. [`standing`](Standing): how one candidate stands
//!   in it; [`round`](Round): whose turn it is. [`samples`](Samples): what one rank measured;
//!   [`times`](Times): what all did; [`exchanged`](Exchanged): how they tell each other.
//! * [`file`](Evidence): what was learned, for the runs to come; `heard`: which of its rules a run goes by.
//! * [`known`](Known): what was learned of a cell, for communicators of the same shape.

#![forbid(unsafe_code)]

mod busy;
mod candidates;
mod cell;
mod distinct;
mod examined;
mod exchanged;
mod file;
mod heard;
mod known;
mod round;
mod samples;
#[cfg(test)]
mod simulated;
mod standing;
mod state;
#[cfg(test)]
mod tests;
mod times;

pub use candidates::{Candidates, keeps_order, may_carry_out};
pub use cell::{Cell, CommunicatorShape};
pub use examined::Examined;
pub use exchanged::{Exchanged, Own};
pub use file::{Evidence, merged, read_here};
pub use heard::heard;
pub use known::{Knowledge, Known, decode, encode};
pub use round::Round;
pub use samples::Samples;
pub use standing::{Foreseen, Report, Standing, State};
pub use state::{Expected, Trial};
pub use times::{MOST, Times};
