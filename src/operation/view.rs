//! A [`Comm`] on some of another one's ranks, with its buffers laid elsewhere: how one algorithm uses another
//! unmodified.

use super::comm::{Buffer, Comm, Range, Request};
use super::shared::Shared;

/// The ranks `members` of `comm`, numbered in that order, with the inner call's buffers at `send` and `receive`.
///
/// A buffer that the inner operation does not have on this rank (the receive buffer of a reduction anywhere but at its
/// root) is `None`. The two may be the same range: to the inner algorithm that is a call in place.
pub struct View<'a> {
    comm: &'a mut dyn Comm,
    members: &'a [usize],
    rank: usize,
    /// Whether the board is theirs, which numbers them as this does.
    on_board: bool,
    send: Option<Range>,
    receive: Option<Range>,
}

impl<'a> View<'a> {
    /// A view with no buffers but scratch.
    ///
    /// # Panics
    /// If the own rank is none of `members`.
    pub fn new(comm: &'a mut dyn Comm, members: &'a [usize]) -> Self {
        let own = comm.rank();
        let rank = members.iter().position(|member| *member == own).expect("a view is for its members");
        Self { comm, members, rank, on_board: false, send: None, receive: None }
    }

    /// The same where `members` are all ranks of the own node, in ascending order: each node has a board, which numbers
    /// its ranks so.
    ///
    /// # Panics
    /// If the own rank is none of `members`.
    pub fn of_node(comm: &'a mut dyn Comm, members: &'a [usize]) -> Self {
        Self { on_board: true, ..Self::new(comm, members) }
    }

    /// The inner call's send buffer lies at `range`.
    #[must_use]
    pub fn send_at(self, range: Range) -> Self {
        Self { send: Some(range), ..self }
    }

    /// The inner call's receive buffer lies at `range`.
    #[must_use]
    pub fn receive_at(self, range: Range) -> Self {
        Self { receive: Some(range), ..self }
    }

    fn outer(&self, range: Range) -> Range {
        let place = match range.buffer {
            Buffer::Scratch => return range,
            Buffer::Shared if self.on_board => return range,
            Buffer::Shared => return range.of_rank(|rank| self.members[rank]),
            Buffer::Send => self.send,
            Buffer::Receive => self.receive,
            // Those of the outer call say nothing about the inner one's blocks.
            Buffer::Lengths => None,
        };
        place.expect("the inner call has this buffer on this rank").part(range.start, range.len)
    }
}

impl Comm for View<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn scratch(&mut self, units: usize) -> Range {
        self.comm.scratch(units)
    }

    fn isend(&mut self, to: usize, from: Range) -> Request {
        self.comm.isend(self.members[to], self.outer(from))
    }

    fn irecv(&mut self, from: usize, into: Range) -> Request {
        self.comm.irecv(self.members[from], self.outer(into))
    }

    fn wait(&mut self, requests: &[Request]) {
        self.comm.wait(requests);
    }

    fn copy(&mut self, from: Range, into: Range) {
        self.comm.copy(self.outer(from), self.outer(into));
    }

    /// What lives in shared memory runs among all ranks of a board: only there do they count the same calls.
    fn shared(&mut self, step: Shared) {
        if self.on_board {
            return self.comm.shared(step);
        }
        assert_eq!(
            self.members.len(),
            self.comm.size(),
            "an algorithm in shared memory is for all ranks that share it"
        );
        self.comm.shared(step.of_ranks(|rank| self.members[rank as usize] as u32));
    }

    fn fold(&mut self, left: Range, right: Range, into: Range) {
        self.comm.fold(self.outer(left), self.outer(right), self.outer(into));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::record::{Step, record_body};

    #[test]
    fn a_view_turns_ranks_and_ranges_into_the_outer_ones() {
        let program = record_body(5, 8, |comm| {
            let scratch = comm.scratch(10);
            let mut view = View::new(comm, &[3, 5, 6]).send_at(Range::receive(4, 4)).receive_at(scratch);
            assert_eq!((view.rank(), view.size()), (1, 3));
            view.send(2, Range::send(1, 2));
            view.copy(Range::send(0, 4), Range::receive(6, 4));
        });
        let scratch = Range { buffer: Buffer::Scratch, start: 6, len: 4 };
        assert!(matches!(program.steps[0], Step::Isend { to: 6, from, .. } if from == Range::receive(5, 2)));
        assert_eq!(program.steps[2], Step::Copy { from: Range::receive(4, 4), into: scratch });
    }
}
