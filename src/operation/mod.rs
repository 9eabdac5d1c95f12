//! What an operation is, a call of it, and an algorithm for it: what all others speak of.
//!
//! * [`table`](Operation): THE table of operations. [`call`](Call): the arguments of a call.
//! * [`comm`]: what an algorithm may say. [`view`](View): the same among some of the ranks.
//! * [`row`](Algorithm): what an algorithm is to everybody else, and a choice of it. [`needs`](Needs), and what
//!   [`accepts`](Unmet) a call; [`cost`](Cost) formulas.
//! * [`bytes`](format_bytes): bytes as users write them.

#![forbid(unsafe_code)]

mod accepts;
mod bytes;
mod call;
pub mod comm;
mod cost;
mod needs;
mod row;
mod table;
mod view;

pub use accepts::Unmet;
pub use bytes::{format_bytes, parse_bytes};
pub use call::{Call, HALF_BANDWIDTH};
pub use comm::{Buffer, Comm, Range, Request, Requests};
pub use cost::{Cost, Shape};
pub use needs::{Needs, RankNeed};
pub use row::{Algorithm, Choice, Default, Kind, Parameter, Parameters, Value};
pub use table::{At, BufferRole, Holds, InPlace, Operation, Row};
pub use view::View;
