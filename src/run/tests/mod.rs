//! Tests of the player: every algorithm of the catalogue on transports that need no MPI.

mod calls;
mod in_memory;
mod messages;
mod shared;
mod telling;
