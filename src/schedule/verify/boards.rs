//! The boards of all nodes, by ranks of the communicator.

use super::board::{Awaited, Board};
use super::fault::What;
use super::memory::Run;
use crate::operation::Call;
use crate::schedule::seats::Seats;
use crate::schedule::{Range, Shared};

/// A board for each node; what they say of ranks is turned into ranks of the communicator where it is a fault of the
/// whole, and goes by their numbers on the node, as in the programs, where it is a fault of a step.
pub struct Boards {
    seats: Seats,
    boards: Vec<Board>,
}

impl Boards {
    /// Of so many ranks on the nodes of a call, before the first call.
    pub fn new(ranks: usize, call: &Call) -> Self {
        let seats = Seats::new(call.nodes, ranks);
        let boards = seats.widths().map(|width| Board::new(width, call.shared)).collect();
        Self { seats, boards }
    }

    /// As [`Board::step`].
    pub fn step(&mut self, rank: usize, step: Shared) -> Result<Option<Awaited>, What> {
        let (node, seat) = self.seats.of(rank);
        let awaited = self.boards[node].step(seat, step)?;
        Ok(awaited.map(|awaited| Awaited { rank: self.seats.rank(node, awaited.rank), ..awaited }))
    }

    /// As [`Board::check`].
    pub fn check(&self, rank: usize, range: Range, writes: bool, call: &Call) -> Result<(), What> {
        let (node, seat) = self.seats.of(rank);
        self.boards[node].check(seat, range, writes, call)
    }

    /// As [`Board::read`].
    pub fn read(&mut self, rank: usize, range: Range, call: &Call, out: &mut Vec<Run>) -> Result<(), What> {
        let (node, seat) = self.seats.of(rank);
        self.boards[node].read(seat, range, call, out)
    }

    /// As [`Board::write`].
    pub fn write(&mut self, rank: usize, range: Range, call: &Call, runs: &[Run]) {
        let (node, seat) = self.seats.of(rank);
        self.boards[node].write(seat, range, call, runs);
    }

    /// Whether the ranks of each node have been in the same number of calls.
    pub fn check_calls(&self) -> Result<(), (usize, What)> {
        self.boards.iter().enumerate().try_for_each(|(node, board)| {
            board.check_calls().map_err(|(seat, what)| (self.seats.rank(node, seat), what))
        })
    }
}
