//! Running: the one player of lowered programs, and what it needs of the world.
//!
//! * [`transport`]: what carries messages and moves memory. `mpi::messages` does so by PMPI point-to-point messages.
//! * [`shared`]: steps on a board, for transports that have one.
//! * [`player`]: goes through actions, and can stop where it would have to wait.
//!
//! Everything that carries a collective out comes through here: calls that are kept and calls that are streamed, under
//! every mode, watched or not. So what is verified, compared and measured is what runs.

pub mod player;
pub mod shared;
pub mod transport;

#[cfg(test)]
mod tests;

pub use player::{Buffers, Counts, Player, Resumable, play};
pub use transport::{Observer, Transport};
