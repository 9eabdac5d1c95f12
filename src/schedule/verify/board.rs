//! The board of a node's ranks, symbolically: what its memory holds, and who can know of what.
//!
//! Waits are for flags that only grow, and nothing that is read decides what is done, so every run of the programs has
//! the same reads, writes and waits, and one of them tells about all, as long as it is asked what is *ordered* and not
//! what came first. Each rank has a clock that counts what it tells; what it knows of the others' clocks it learned
//! from flags. A read is right if the reader knows of the write, a write if the writer knows of every read of what lay
//! there before: of earlier calls as well, which is why a board outlives a call.

use super::fault::What;
use super::memory::{Memory, Run};
use crate::operation::{Call, SharedMemory};
use crate::schedule::{Place, Range, Shared};
use std::collections::HashMap;

/// Which flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// A rank's own.
    Own(usize),
    /// Of a rank's line, as call after call uses it.
    Line(usize),
    /// By which rank 0 releases a rank.
    Release(usize),
    /// Of those who have all arrived.
    Arrived,
}

/// What a flag has said: a call and a step, and what whoever sees that knows of each rank.
struct Told {
    value: (u64, u32),
    knows: Box<[u32]>,
}

/// Something done to some bytes, at a time of the clock of who did it.
#[derive(Clone, Copy)]
struct Access {
    first: usize,
    end: usize,
    by: usize,
    time: u32,
    call: u64,
}

impl Access {
    const fn overlaps(&self, other: &Self) -> bool {
        self.first < other.end && other.first < self.end
    }

    const fn within(&self, other: &Self) -> bool {
        other.first <= self.first && self.end <= other.end
    }
}

/// A bank of a window, or a line.
#[derive(Default)]
struct Bytes {
    writes: Vec<Access>,
    reads: Vec<Access>,
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Whose flag; rank 0 where it is nobody's.
    pub rank: usize,
    /// Call and step that it is waited for to say.
    pub value: (u64, u32),
}

/// The board, over a sequence of calls.
pub struct Board {
    /// The last step that a flag can tell.
    last_step: usize,
    /// By rank: the call that it is in.
    calls: Vec<u64>,
    /// By rank: what it knows of each rank's clock.
    clocks: Vec<Vec<u32>>,
    told: HashMap<Flag, Vec<Told>>,
    bytes: HashMap<(Place, usize, u64), Bytes>,
    /// What was written in each call, in units.
    contents: HashMap<u64, Memory>,
    /// What those who have arrived know, and how many they are, by call.
    arrived: HashMap<u64, (Vec<u32>, usize)>,
}

impl Board {
    /// Of so many ranks that share this memory, before the first call.
    pub fn new(ranks: usize, shared: Option<SharedMemory>) -> Self {
        let clock = |rank| (0..ranks).map(|of| u32::from(of == rank)).collect();
        Self {
            last_step: shared.unwrap_or(SharedMemory::PLAIN).last_step,
            calls: vec![0; ranks],
            clocks: (0..ranks).map(clock).collect(),
            told: HashMap::new(),
            bytes: HashMap::new(),
            contents: HashMap::new(),
            arrived: HashMap::new(),
        }
    }

    /// Carries a step of `rank` out; what it waits for if that is not there.
    pub fn step(&mut self, rank: usize, step: Shared) -> Result<Option<Awaited>, What> {
        if let Shared::Enter { step } = step {
            self.calls[rank] += 1;
            return self.tell(rank, Flag::Own(rank), step).map(|()| None);
        }
        let call = self.calls[rank];
        if call == 0 {
            return Err(What::NotEntered);
        }
        let ranks = self.calls.len();
        let partner = |of: u32| (of as usize) < ranks && of as usize != rank;
        let wait = |board: &mut Self, flag, value| Ok(board.see(rank, flag, value));
        match step {
            Shared::Enter { .. } => Ok(None),
            Shared::Signal { step } => self.tell(rank, Flag::Own(rank), step).map(|()| None),
            Shared::Post => self.tell(rank, Flag::Line(rank), 1).map(|()| None),
            Shared::Release { rank: to } if rank == 0 && partner(to) => {
                self.tell(rank, Flag::Release(to as usize), 1).map(|()| None)
            }
            Shared::Await { rank: of, step } if partner(of) => wait(self, Flag::Own(of as usize), (call, step)),
            Shared::AwaitPost { rank: of } if (of as usize) < ranks => wait(self, Flag::Line(of as usize), (call, 1)),
            Shared::AwaitRelease => wait(self, Flag::Release(rank), (call, 1)),
            Shared::AwaitArrivals => wait(self, Flag::Arrived, (call, 1)),
            Shared::Begun { before } => self.see_begun(rank, call.saturating_sub(u64::from(before))),
            Shared::Arrive => self.arrive(rank, call).map(|()| None),
            Shared::Release { rank: of } | Shared::Await { rank: of, .. } | Shared::AwaitPost { rank: of } => {
                Err(What::Partner(of as usize))
            }
        }
    }

    /// Raises a flag of `rank`.
    fn tell(&mut self, rank: usize, flag: Flag, step: u32) -> Result<(), What> {
        if step as usize > self.last_step {
            return Err(What::StepTooLong(step));
        }
        let value = (self.calls[rank], step);
        let told = self.told.entry(flag).or_default();
        if let Some(last) = told.last().filter(|last| last.value >= value) {
            return Err(What::FlagDoesNotGrow { from: last.value.1, to: step });
        }
        let knows = self.clocks[rank].clone().into();
        told.push(Told { value, knows });
        self.clocks[rank][rank] += 1;
        Ok(())
    }

    /// Learns what the first setting of the flag that will do tells, if there is one.
    fn see(&mut self, rank: usize, flag: Flag, value: (u64, u32)) -> Option<Awaited> {
        let told = self.told.get(&flag).map_or(&[][..], Vec::as_slice);
        let first = told.partition_point(|told| told.value < value);
        let Some(told) = told.get(first) else {
            let of = match flag {
                Flag::Own(rank) | Flag::Line(rank) => rank,
                Flag::Release(_) | Flag::Arrived => 0,
            };
            return Some(Awaited { rank: of, value });
        };
        join(&mut self.clocks[rank], &told.knows);
        None
    }

    fn see_begun(&mut self, rank: usize, call: u64) -> Result<Option<Awaited>, What> {
        if call == 0 {
            return Ok(None);
        }
        for of in (0..self.calls.len()).filter(|of| *of != rank) {
            if let Some(awaited) = self.see(rank, Flag::Own(of), (call, 0)) {
                return Ok(Some(awaited));
            }
        }
        Ok(None)
    }

    fn arrive(&mut self, rank: usize, call: u64) -> Result<(), What> {
        let ranks = self.calls.len();
        let (knows, number) = self.arrived.entry(call).or_insert_with(|| (vec![0; ranks], 0));
        join(knows, &self.clocks[rank]);
        *number += 1;
        self.clocks[rank][rank] += 1;
        if *number > ranks {
            return Err(What::ArrivesTwice);
        }
        if *number == ranks {
            let knows = knows.clone().into();
            self.told.entry(Flag::Arrived).or_default().push(Told { value: (call, 1), knows });
        }
        Ok(())
    }

    /// Bytes of a range, where they really lie, as `rank` accesses them now.
    fn access(&self, rank: usize, range: Range, call: &Call) -> ((Place, usize, u64), Access) {
        let (place, owner, start) = Range::place(range.start);
        let number = self.calls[rank];
        // Both banks under one name each, whoever calls it the other one.
        let key = match place {
            Place::Line => (Place::Line, owner, number % u64::from(SharedMemory::LINES)),
            _ => (Place::Window, owner, (number + u64::from(place == Place::OtherWindow)) % 2),
        };
        let (first, end) = (start * call.unit, (start + range.len) * call.unit);
        (key, Access { first, end, by: rank, time: self.clocks[rank][rank], call: number })
    }

    /// Whether `rank` may read or write the range.
    pub fn check(&self, rank: usize, range: Range, writes: bool, call: &Call) -> Result<(), What> {
        let Some(shared) = call.shared else { return Err(What::NoBuffer(range.buffer)) };
        if self.calls[rank] == 0 {
            return Err(What::NotEntered);
        }
        let (place, owner, start) = Range::place(range.start);
        let bytes = if place == Place::Line { SharedMemory::LINE } else { shared.window };
        let units = bytes / call.unit.max(1);
        if owner >= self.calls.len() || start + range.len > units {
            return Err(What::Outside { range, units });
        }
        if writes && owner != rank {
            return Err(What::WritesOfOthers { range });
        }
        let (key, access) = self.access(rank, range, call);
        let Some(bytes) = self.bytes.get(&key) else { return Ok(()) };
        let knows = &self.clocks[rank];
        let unknown = |other: &&Access| other.overlaps(&access) && knows[other.by] < other.time;
        let ago = |other: &Access| self.calls[rank].saturating_sub(other.call);
        if let Some(write) = bytes.writes.iter().find(unknown) {
            return Err(What::ReadsUntold { range, writer: write.by, ago: ago(write) });
        }
        let read = bytes.reads.iter().filter(|_| writes).find(unknown);
        read.map_or(Ok(()), |read| Err(What::OverwritesUnread { range, reader: read.by, ago: ago(read) }))
    }

    /// Appends what the range holds to `out`.
    pub fn read(&mut self, rank: usize, range: Range, call: &Call, out: &mut Vec<Run>) -> Result<(), What> {
        let undefined = |unit| What::Undefined { range, unit };
        let contents = self.contents.entry(self.calls[rank]).or_default();
        contents.read(range.start, range.len, out).map_err(|unit| undefined(Range::place(unit).2))?;
        let (key, access) = self.access(rank, range, call);
        if rank != key.1 {
            self.bytes.entry(key).or_default().reads.push(access);
        }
        Ok(())
    }

    /// Writes `runs` to the range.
    pub fn write(&mut self, rank: usize, range: Range, call: &Call, runs: &[Run]) {
        self.contents.entry(self.calls[rank]).or_default().write(range.start, range.len, runs);
        let (key, access) = self.access(rank, range, call);
        let bytes = self.bytes.entry(key).or_default();
        // Whoever may touch it from now on knows of these as well.
        bytes.writes.retain(|other| !other.within(&access));
        bytes.reads.retain(|other| !other.within(&access));
        bytes.writes.push(access);
    }

    /// Whether all ranks have been in the same number of calls.
    pub fn check_calls(&self) -> Result<(), (usize, What)> {
        let odd = self.calls.iter().position(|calls| *calls != self.calls[0]);
        odd.map_or(Ok(()), |rank| Err((rank, What::CallsDiffer { calls: self.calls[rank], first: self.calls[0] })))
    }
}

fn join(knows: &mut [u32], more: &[u32]) {
    knows.iter_mut().zip(more).for_each(|(known, more)| *known = (*known).max(*more));
}
