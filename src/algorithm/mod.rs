//! The catalogue: one folder per operation, one file per algorithm.
//!
//! # How to add an algorithm
//!
//! 1. Write `src/algorithm/<operation>/<name>.rs`: module documentation, `pub const ROW: Algorithm`, `cost`, the body.
//!    The file's stem, the row's name and what users write in `COLLIE_<OPERATION>` are one word. A short file to begin
//!    from is `allgather/k_ring.rs`.
//!
//!    The documentation says, in this order: in one sentence what happens; how it works; the state after each round
//!    among a few ranks; cost, needs and memory; the source, and where the code departs from it. The letters of the
//!    formula are those of `docs/algorithms.md`; that of a parameter begins its help text (`k: ranks in a group`).
//!
//!    Who meets whom about which units is arithmetic, and goes to `src/pattern`, with tests of its own. A motion that
//!    several algorithms share goes to [`engine`].
//! 2. Add `mod <name>;` and `&<name>::ROW` in the folder's `mod.rs`, two lines.
//! 3. Hold the row to what it promises, results and costs, without MPI:
//!
//!    ```text
//!    cargo test --features cli,schema --test schedules --test costs -- <operation>::<name>
//!    ```
//! 4. Run `scripts/docs`, which writes `docs/algorithms.md` and its pictures anew.
//!
//! List, help, documentation table, selection, verification, simulation, drawing and the tests under real MPI follow
//! from the row. `src/operation/table.rs` says how to add an operation, which has a folder here and its line in [`of`].

#![forbid(unsafe_code)]

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod alltoallv;
pub mod barrier;
pub mod bcast;
mod choice;
pub mod cover;
pub mod engine;
pub mod gather;
mod optimum;
pub mod reduce;
pub mod scatter;

pub use choice::{ChoiceError, accepted, parse_choice};

// What an algorithm file begins with.
pub use crate::operation::{
    Algorithm, AllBlocks, At, Block, Blocks, BufferRole, Call, Choice, Cost, Default, HALF_BANDWIDTH, Holds, InPlace,
    Kind, Needs, Operation, Origin, OwnBlocks, Parameter, Parameters, Prelude, RankNeed, Row, Shape, Shared,
    SharedMemory, Stage, Unmet, Value, counted, counted_bytes, format_bytes, parse_bytes,
};

/// The rows of one operation, in the order in which they are listed.
pub fn of(operation: Operation) -> &'static [&'static Algorithm] {
    match operation {
        Operation::Bcast => bcast::ROWS,
        Operation::Reduce => reduce::ROWS,
        Operation::Allreduce => allreduce::ROWS,
        Operation::Gather => gather::ROWS,
        Operation::Scatter => scatter::ROWS,
        Operation::Allgather => allgather::ROWS,
        Operation::Alltoall => alltoall::ROWS,
        Operation::Alltoallv => alltoallv::ROWS,
        Operation::Barrier => barrier::ROWS,
    }
}

/// The row of that name, if there is one.
pub fn find(operation: Operation, name: &str) -> Option<&'static Algorithm> {
    of(operation).iter().copied().find(|row| row.name == name)
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    Operation::ALL.iter().flat_map(|operation| of(*operation).iter().copied())
}
