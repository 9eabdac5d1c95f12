//! What an operation is, a call of it, and an algorithm for it: what all others speak of.
//!
//! * [`table`](Operation): THE table of operations. [`call`](Call): the arguments of a call; [`blocks`](Blocks): where
//!   each pair of ranks has one, how long and where; `parts`: which range is whose.
//! * [`comm`]: what an algorithm may say; [`shared`](Shared): where ranks share memory. [`view`](View): the same among
//!   some of the ranks.
//! * [`row`](Algorithm): what an algorithm is to everybody else, and a choice of it. [`needs`](Needs), and what
//!   [`accepts`](Unmet) a call; [`cost`](Cost) formulas, and what [`sharing`](Shape::bytes_over_ports) ports adds.
//!   [`prelude`](Prelude): what it learns first, and [`stage`](Stage).
//! * [`bytes`](format_bytes): bytes as users write them; [`words`](counted): numbers of things.

#![forbid(unsafe_code)]

mod accepts;
mod blocks;
mod bytes;
mod call;
pub mod comm;
mod cost;
mod needs;
mod parts;
mod prelude;
mod row;
mod shared;
mod sharing;
mod stage;
mod table;
mod view;
mod words;

pub use accepts::Unmet;
pub use blocks::{AllBlocks, Block, Blocks, Origin, OwnBlocks};
pub use bytes::{format_bytes, parse_bytes, upper_bound};
pub use call::{Call, HALF_BANDWIDTH};
pub use comm::{Buffer, Comm, Place, Range, Request, Requests};
pub use cost::{Cost, Shape};
pub use needs::{Needs, RankNeed};
pub use prelude::Prelude;
pub use row::{Algorithm, Choice, Default, Kind, Parameter, Parameters, Value};
pub use shared::{Shared, SharedMemory};
pub use stage::Stage;
pub use table::{At, BufferRole, Holds, InPlace, Operation, Row};
pub use view::View;
pub use words::{counted, counted_bytes};
