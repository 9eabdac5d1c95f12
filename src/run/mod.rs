//! Running: the one player of lowered programs, and what it needs of the world.
//!
//! * [`transport`]: what carries messages and moves memory. `mpi::messages` does so by PMPI point-to-point messages.
//! * [`shared`]: steps on a board, for transports that have one.
//! * [`player`]: goes through actions.
//!
//! Everything that carries a collective out comes through here: calls that are kept and calls that are streamed, under
//! every mode, watched or not. So what is verified, compared and measured is what runs.

pub mod player;
#[cfg(test)]
mod resumable;
pub mod shared;
pub mod transport;

#[cfg(test)]
mod tests;

pub use player::{Buffers, Counts, Player};
pub use transport::{Observer, Transport};
