//! Everything that calls MPI, other than the exported symbols: PMPI only, so nothing here is intercepted again.

pub mod alias;
pub mod alone;
pub mod basics;
pub mod bytes;
pub mod collectives;
pub mod communicator;
pub mod constants;
pub mod cores;
mod counts;
pub mod datatype;
pub mod end;
mod envelope;
pub mod error;
pub mod family;
pub mod handler;
pub mod library;
pub mod limits;
pub mod link;
pub mod load;
pub mod memory;
pub mod messages;
pub mod mixed;
pub mod neighbours;
pub mod node;
pub mod numa;
pub mod operation;
pub mod packing;
pub mod padding;
pub mod procedures;
mod references;
pub mod sentinels;
pub mod text;
pub mod waiting;
pub mod weak;
pub mod words;

pub use error::{Error, Result, check};
