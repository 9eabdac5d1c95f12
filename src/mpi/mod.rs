//! Everything that calls MPI, other than the exported symbols: PMPI only, so nothing here is intercepted again.

pub mod alias;
pub mod communicator;
pub mod constants;
pub mod datatype;
pub mod error;
pub mod executor;
pub mod inline;
pub mod memory;
pub mod node;
pub mod operation;
pub mod packing;
pub mod replay;

pub use error::{Error, Result, check};
