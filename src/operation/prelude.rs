//! What an algorithm has to learn from other ranks before its own messages can be said.
//!
//! An algorithm is oblivious: nothing that arrives decides what is sent. Where blocks differ in length, and travel by
//! way of ranks that they are not for, the lengths of others' blocks have to arrive first. So such an algorithm has two
//! parts, each of which is oblivious: the prelude, whose messages rest on nothing but the number of ranks, brings the
//! lengths; the body rests on them. What carries a call out plays the prelude in every call, as other ranks' counts may
//! have changed, and then the body for these lengths. The verifier, the simulator and the drawings, which know all
//! ranks' blocks, read the one behind the other; the verifier also makes sure that each length that the body rests on
//! is the one that arrived.

use super::comm::Comm;

/// The messages that bring lengths.
#[derive(Clone, Copy)]
pub struct Prelude {
    /// The parameter of the algorithm, a number, that they rest on.
    pub parameter: &'static str,
    /// Whose block and for whom, of each length that a rank learns, in order: of the rank, the number of ranks, and the
    /// parameter.
    pub lengths: fn(usize, usize, usize) -> Vec<(usize, usize)>,
    /// Brings them, each a word of so many units, for the parameter: reads the own lengths from the start of
    /// [`Buffer::Lengths`](super::Buffer::Lengths), by rank, and writes the learned ones behind them. It may use
    /// scratch, and no other buffer.
    pub run: fn(&mut dyn Comm, usize, usize),
}

impl std::fmt::Debug for Prelude {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prelude({})", self.parameter)
    }
}
