//! The boards of all nodes in one simulated call, by ranks of the communicator.

use super::board::{Board, Step};
use crate::schedule::Shared;
use crate::schedule::seats::Seats;

/// A board for each node.
#[derive(Debug)]
pub struct Boards<'a> {
    seats: &'a Seats,
    boards: Vec<Board>,
    /// Ranks whose flag has been raised since anybody looked.
    woken: Vec<usize>,
}

impl<'a> Boards<'a> {
    pub fn new(seats: &'a Seats) -> Self {
        Self { seats, boards: seats.widths().map(Board::new).collect(), woken: Vec::new() }
    }

    /// A rank that can go on.
    pub fn woken(&mut self) -> Option<usize> {
        self.woken.pop()
    }

    /// As [`Board::step`].
    pub fn step(&mut self, rank: usize, step: Shared, clock: f64, arrival: f64) -> Step {
        let (seats, (node, seat)) = (self.seats, self.seats.of(rank));
        let board = &mut self.boards[node];
        let taken = board.step(seat, step, clock, arrival);
        self.woken.extend(board.woken().map(|seat| seats.rank(node, seat)));
        match taken {
            Step::Sees { time, flags, of } => Step::Sees { time, flags, of: seats.rank(node, of as usize) as u32 },
            other => other,
        }
    }
}
