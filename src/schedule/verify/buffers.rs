//! One rank's buffers: which exist, which share memory, what they hold at the start, who may touch what.

use super::fault::What;
use super::memory::{Memory, Run};
use crate::operation::Call;
use crate::schedule::{Buffer, Program, Range};
use smallvec::SmallVec;

/// Where a message's range lies and what the message does with it.
struct Use {
    end: usize,
    step: usize,
    range: Range,
    writes: bool,
}

/// One rank's buffers.
pub struct Buffers {
    /// Units of each buffer, by `Buffer as usize`; none where it does not exist.
    units: [Option<usize>; 4],
    memories: [Memory; 4],
    /// Units of the own lengths, which stand before the learned ones.
    own_lengths: usize,
    /// With `MPI_IN_PLACE`: the buffer that is part of another, that one, and its first unit there.
    alias: Option<(Buffer, Buffer, usize)>,
    /// What the call only reads: the buffer of the contribution.
    read_only: Buffer,
    /// What unfinished messages use.
    uses: SmallVec<[Use; 8]>,
}

/// What the units of a rank's own lengths are called: further on than those of any contribution.
pub const LENGTHS: usize = 1 << 48;

impl Buffers {
    pub fn new(call: &Call, rank: usize, size: usize, program: &Program, in_place: bool) -> Self {
        let [send, receive] = call.buffers(rank, size);
        let lengths = (!program.learned.is_empty()).then(|| (size + program.learned.len()) * call.word());
        let own_lengths = lengths.map_or(0, |_| size * call.word());
        let contribution = call.operation.row().contribution(call.count, size, rank == call.root);
        let mut buffers = Self {
            units: [send, receive, Some(program.scratch), lengths],
            memories: Default::default(),
            own_lengths,
            alias: None,
            read_only: contribution.map_or(Buffer::Send, |range| range.buffer),
            uses: SmallVec::new(),
        };
        if in_place && send.is_some() && receive.is_some() {
            buffers.alias = call.operation.row().shared(call.count, rank);
        }
        for filled in call.contributions(rank, size) {
            let own = Run { start: 0, len: filled.len, term: rank as u32, origin: filled.start };
            buffers.write(filled, &[own]);
        }
        let own = Run { start: 0, len: own_lengths, term: rank as u32, origin: LENGTHS };
        buffers.write(Range::lengths(0, own_lengths), &[own]);
        buffers
    }

    /// Whether `range` exists and may be read or written.
    pub fn check(&self, range: Range, writes: bool) -> Result<(), What> {
        if range.len == 0 {
            return Ok(());
        }
        // Shared memory is none of a rank's buffers.
        let units = self.units.get(range.buffer as usize).copied().flatten();
        let units = units.ok_or(What::NoBuffer(range.buffer))?;
        if range.end() > units {
            return Err(What::Outside { range, units });
        }
        let place = self.place(range);
        if writes && (range.buffer == Buffer::Send || place.buffer == self.read_only) {
            return Err(What::ReadOnly(range.buffer));
        }
        if writes && range.buffer == Buffer::Lengths && range.start < self.own_lengths {
            return Err(What::WritesLengths);
        }
        let clash = self.uses.iter().find(|other| (writes || other.writes) && place.overlaps(other.range));
        clash.map_or(Ok(()), |other| {
            let message = if other.writes { "receive" } else { "send" };
            Err(What::InUse { range, message, step: other.step })
        })
    }

    /// The range in the memory that it really lies in.
    pub fn place(&self, range: Range) -> Range {
        match self.alias {
            Some((buffer, whole, start)) if buffer == range.buffer => {
                Range { buffer: whole, start: start + range.start, len: range.len }
            }
            _ => range,
        }
    }

    /// Marks `range` as used by the message `end`, started in `step`, until it is released.
    pub fn occupy(&mut self, end: usize, step: usize, range: Range, writes: bool) {
        if range.len > 0 {
            self.uses.push(Use { end, step, range: self.place(range), writes });
        }
    }

    /// Ends the use by the message `end`.
    pub fn release(&mut self, end: usize) {
        self.uses.retain(|other| other.end != end);
    }

    /// Appends what `range` holds to `out`, starts counted from the range's start.
    pub fn read(&self, range: Range, out: &mut Vec<Run>) -> Result<(), What> {
        if range.len == 0 {
            return Ok(());
        }
        let place = self.place(range);
        let read = self.memories[place.buffer as usize].read(place.start, place.len, out);
        read.map_err(|unit| What::Undefined { range, unit: unit - place.start + range.start })
    }

    /// The first unit of the receive buffer that was written though it is in none of `ranges`.
    pub fn written_outside(&self, ranges: &[Range]) -> Option<usize> {
        let mut written = self.memories[Buffer::Receive as usize].runs();
        let inside = |unit: usize| ranges.iter().find(|range| range.start <= unit && unit < range.end());
        written.find_map(|run| {
            let mut unit = run.start;
            while unit < run.end() {
                unit = match inside(unit) {
                    Some(range) => range.end(),
                    None => return Some(unit),
                };
            }
            None
        })
    }

    /// Writes `runs` to `range`.
    pub fn write(&mut self, range: Range, runs: &[Run]) {
        if range.len > 0 {
            let place = self.place(range);
            self.memories[place.buffer as usize].write(place.start, place.len, runs);
        }
    }
}
