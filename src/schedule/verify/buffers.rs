//! One rank's buffers: which exist, which share memory, what they hold at the start, who may touch what.

use super::fault::What;
use super::memory::{Memory, Run};
use crate::operation::Call;
use crate::schedule::{Buffer, Range};
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
    units: [Option<usize>; 3],
    memories: [Memory; 3],
    /// With `MPI_IN_PLACE`: the buffer that is part of another, that one, and its first unit there.
    alias: Option<(Buffer, Buffer, usize)>,
    /// What unfinished messages use.
    uses: SmallVec<[Use; 8]>,
}

/// Units of the send and the receive buffer of `rank`, where they exist.
pub fn existing(call: &Call, rank: usize, size: usize) -> [Option<usize>; 2] {
    let sides = call.operation.row().sides();
    sides.map(|side| side.blocks(size, rank == call.root).map(|blocks| blocks * call.count))
}

impl Buffers {
    pub fn new(call: &Call, rank: usize, size: usize, scratch: usize, in_place: bool) -> Self {
        let [send, receive] = existing(call, rank, size);
        let mut buffers = Self {
            units: [send, receive, Some(scratch)],
            memories: Default::default(),
            alias: None,
            uses: SmallVec::new(),
        };
        if in_place && send.is_some() && receive.is_some() {
            buffers.alias = call.operation.row().shared(call.count, rank);
        }
        let filled = call.operation.row().contribution(call.count, size, rank == call.root);
        if let Some(filled) = filled.filter(|filled| filled.len > 0) {
            let own = Run { start: 0, len: filled.len, term: rank as u32, origin: 0 };
            buffers.write(filled, &[own]);
        }
        buffers
    }

    /// Whether `range` exists and may be read or written.
    pub fn check(&self, range: Range, writes: bool) -> Result<(), What> {
        if range.len == 0 {
            return Ok(());
        }
        let units = self.units[range.buffer as usize].ok_or(What::NoBuffer(range.buffer))?;
        if range.end() > units {
            return Err(What::Outside { range, units });
        }
        if writes && range.buffer == Buffer::Send {
            return Err(What::WritesSend);
        }
        let place = self.place(range);
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

    /// Writes `runs` to `range`.
    pub fn write(&mut self, range: Range, runs: &[Run]) {
        if range.len > 0 {
            let place = self.place(range);
            self.memories[place.buffer as usize].write(place.start, place.len, runs);
        }
    }
}
