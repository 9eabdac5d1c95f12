//! The catalogue: one folder per operation, one file per algorithm.
//!
//! # How to add an algorithm
//!
//! 1. Write `src/algorithm/<operation>/<name>.rs`: module documentation, `pub const ROW: Algorithm`, `cost`, the body.
//!    The file's stem, the row's name and what users write in `COLLIE_<OPERATION>` are one word.
//! 2. Add `mod <name>;` and `&<name>::ROW` in the folder's `mod.rs`.
//!
//! List, help, documentation table, selection, verification, simulation, drawing and the tests under real MPI follow
//! from the row. `operation.rs` says how to add an operation.
//!
//! Files here name what stands in others by the name that this one gives it out under: `super::Call`, not `super::call::Call`.

#![forbid(unsafe_code)]

mod accepts;
pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
mod bytes;
mod call;
mod catalogue;
mod choice;
mod cost;
pub mod engine;
pub mod gather;
mod needs;
mod operation;
mod optimum;
pub mod reduce;
mod row;
pub mod scatter;

pub use accepts::Unmet;
pub use bytes::{format_bytes, parse_bytes};
pub use call::{Call, HALF_BANDWIDTH};
pub use catalogue::{all, find, of};
pub use choice::{ChoiceError, accepted, parse_choice};
pub use cost::{Cost, Shape};
pub use needs::{Needs, RankNeed};
pub use operation::{At, BufferRole, Holds, InPlace, Operation, Row};
pub use row::{Algorithm, Choice, Default, Kind, Parameter, Parameters, Value};
