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

#![forbid(unsafe_code)]

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
mod call;
mod choice;
mod cost;
pub mod engine;
pub mod gather;
mod needs;
mod operation;
mod optimum;
mod parameter;
pub mod reduce;
pub mod scatter;

pub use call::{Call, HALF_BANDWIDTH};
pub use choice::{Choice, ChoiceError, format_bytes, parse_bytes};
pub use cost::{Cost, Shape};
pub use needs::{Needs, RankNeed, Unmet};
pub use operation::{At, BufferRole, Holds, InPlace, Operation, Row};
pub use parameter::{Default, Kind, Parameter, Parameters, Value};

use crate::schedule::Comm;

/// One row of the catalogue.
pub struct Algorithm {
    /// The operation it carries out.
    pub operation: Operation,
    /// What users write; the stem of its file.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What may be set after the colon.
    pub parameters: &'static [Parameter],
    /// What has to hold for it to be used.
    pub needs: Needs,
    /// Whether contributions are folded in rank order, so that non-commutative operations are right. True for
    /// algorithms that fold nothing.
    pub ordered: bool,
    /// The cost as a formula for people, in the notation of the documentation (p, q, n, b, s, S, k, α, β, γ).
    pub formula: &'static str,
    /// The same formula as code.
    pub cost: fn(&Shape, &Parameters) -> Cost,
    /// Authors, title, venue, year.
    pub source: &'static str,
    /// The body.
    pub run: fn(&mut dyn Comm, &Call, &Parameters),
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.operation, self.name)
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.operation == other.operation && self.name == other.name
    }
}

/// The rows of one operation, in the order in which they are listed.
pub fn of(operation: Operation) -> &'static [&'static Algorithm] {
    operation.row().algorithms
}

/// The row of that name, if there is one.
pub fn find(operation: Operation, name: &str) -> Option<&'static Algorithm> {
    of(operation).iter().copied().find(|row| row.name == name)
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    Operation::ALL.iter().flat_map(|operation| of(*operation).iter().copied())
}
