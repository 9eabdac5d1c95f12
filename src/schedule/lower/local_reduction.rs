//! Folds by `PMPI_Reduce_local`, for operations and types that no kernel knows: it computes `inout = input ∘ inout`, so
//! the right side has to lie where the result goes, or be moved there. Where the left side lies there, the result is
//! computed where the right side is if nothing looks for that afterwards, else in memory of its own, and moved. Where the
//! sides may be changed, that is spared; which of the two a rank changes depends on where its data lies, so that ranks
//! which compute the same would get other bits.

use super::liveness::{Outgoing, is_over};
use crate::schedule::action::{Action, Sink};
use crate::schedule::{Buffer, Range};

/// Bytes that are moved out of the way and back at once: both stay in the processor's cache meanwhile. An allreduce of 512 KiB on 2
/// ranks of an AMD EPYC took 4 % less time than with all of it moved at once, one of 2 MiB 8 %.
const PIECE: usize = 32 << 10;
/// Pieces of a fold at most, so that long ones do not make long programs.
const MOST_PIECES: usize = 32;

/// Turns folds into local reductions.
#[derive(Debug)]
pub struct LocalReduction {
    may_swap: bool,
    /// Units of a piece at least.
    piece: usize,
    /// Whether the send and the receive buffer share no memory.
    apart: bool,
    /// Scratch that no algorithm knows of.
    spare: Option<Range>,
}

impl LocalReduction {
    /// Whose sides may be changed or not, of units of so many bytes, on buffers that share no memory or may.
    pub fn new(may_swap: bool, unit: usize, apart: bool) -> Self {
        Self { may_swap, piece: (PIECE / unit.max(1)).max(1), apart, spare: None }
    }

    /// Whether the two may be one place in memory. Copying a range onto itself is free and harmless.
    fn may_be_one(&self, range: Range, into: Range) -> bool {
        range == into || !self.apart && (range.buffer, into.buffer) == (Buffer::Send, Buffer::Receive)
    }

    /// Hands on what computes `into = left ∘ right`. `scratch` counts the units of scratch so far; `is_over` is whether
    /// the right side is in scratch that nothing looks for any more, so that it may be written over.
    pub fn replace(
        &mut self,
        [left, right, into]: [Range; 3],
        is_over: bool,
        scratch: &mut usize,
        sink: &mut impl Sink,
    ) {
        let piece = self.piece.max(into.len.div_ceil(MOST_PIECES));
        // Elsewhere nothing is moved twice; and of sides that overlap the result only this one lies piece by piece where
        // that does.
        if self.may_swap || left != into || right == into || into.len <= piece {
            return self.at_once([left, right, into], is_over, scratch, sink);
        }
        for start in (0..into.len).step_by(piece) {
            let len = piece.min(into.len - start);
            self.at_once([left, right, into].map(|range| range.part(start, len)), is_over, scratch, sink);
        }
    }

    fn at_once(&mut self, [left, right, into]: [Range; 3], is_over: bool, scratch: &mut usize, sink: &mut impl Sink) {
        // What lies where the result goes must not be written over by the other side before it is read.
        let is_left = right != into && self.may_be_one(left, into);
        let (input, inout) = if is_left && self.may_swap { (right, left) } else { (left, right) };
        let target = match is_left && !self.may_swap {
            true if is_over && !right.overlaps(left) => right,
            true => self.spare(into.len, scratch, sink),
            false => into,
        };
        if target != inout {
            sink.take(Action::Copy { from: inout, into: target });
        }
        sink.take(Action::ReduceLocal { input, inout: target });
        if target != into {
            sink.take(Action::Copy { from: target, into });
        }
    }

    /// Room for `units` units.
    fn spare(&mut self, units: usize, scratch: &mut usize, sink: &mut impl Sink) -> Range {
        match self.spare {
            Some(spare) if spare.len >= units => spare.part(0, units),
            _ => {
                let spare = Range { buffer: Buffer::Scratch, start: *scratch, len: units };
                *scratch += units;
                sink.scratch(units);
                *self.spare.insert(spare)
            }
        }
    }
}

/// Applies the pass to a whole list; gives it with the units of scratch that it needs now.
pub fn apply(actions: &[Action], mut scratch: usize, mut local: LocalReduction) -> (Vec<Action>, usize) {
    struct List(Vec<Action>);
    impl Sink for List {
        fn take(&mut self, action: Action) {
            self.0.push(action);
        }
        fn scratch(&mut self, _: usize) {}
    }
    let mut list = List(Vec::with_capacity(actions.len()));
    let mut outgoing = Outgoing::default();
    for (place, action) in actions.iter().enumerate() {
        outgoing.take(action);
        if let Action::Fold { left, right, into } = *action {
            let is_over =
                right.buffer == Buffer::Scratch && !outgoing.reads(right) && is_over(right, &actions[place + 1..]);
            local.replace([left, right, into], is_over, &mut scratch, &mut list);
        } else {
            list.take(*action);
        }
    }
    (list.0, scratch)
}
