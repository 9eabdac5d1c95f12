//! Runs all ranks' programs on symbolic contents.

use super::Mode;
use super::board::Awaited;
use super::boards::Boards;
use super::buffers::Buffers;
use super::entries::Entries;
use super::fault::{Fault, Waiting, What};
use super::matching::{Matching, at, matching};
use super::memory::{Run, fold};
use super::terms::Terms;
use super::{Sends, Verified};
use crate::operation::Call;
use crate::schedule::{Buffer, Program, Range, Request, Shared, Step};

/// How far a message has come, at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Ahead,
    Started,
    Waited,
}

/// Where a rank is.
#[derive(Clone, Copy, Default)]
struct Position {
    step: usize,
    /// Requests of the current wait that are done with.
    waited: usize,
}

pub struct Machine<'a> {
    programs: &'a [Program],
    call: &'a Call<'a>,
    board: &'a mut Boards,
    /// Who is known to have come, where nothing else is promised.
    entries: Option<Entries>,
    /// By rank: what of the board's it waits for.
    awaits: Vec<Option<Awaited>>,
    matching: Matching,
    sends: Sends,
    positions: Vec<Position>,
    pub buffers: Vec<Buffers>,
    pub terms: Terms,
    progress: Vec<Progress>,
    /// By sending end: where in `contents` lies what it sent.
    sent: Vec<std::ops::Range<usize>>,
    contents: Vec<Run>,
    /// Ranks that can go on.
    ready: Vec<usize>,
    pub verified: Verified,
    runs: [Vec<Run>; 3],
}

impl<'a> Machine<'a> {
    pub fn new(programs: &'a [Program], call: &'a Call<'a>, mode: Mode, board: &'a mut Boards) -> Result<Self, Fault> {
        let matching = matching(programs)?;
        let size = programs.len();
        let buffers = programs.iter().enumerate();
        Ok(Self {
            programs,
            call,
            board,
            entries: (!call.operation.has_data()).then(|| Entries::new(size, call.nodes)),
            awaits: vec![None; size],
            sends: mode.sends,
            positions: vec![Position::default(); size],
            buffers: buffers.map(|(rank, of)| Buffers::new(call, rank, size, of, mode.in_place)).collect(),
            terms: Terms::new(size),
            progress: vec![Progress::Ahead; matching.ends.len()],
            sent: vec![0..0; matching.ends.len()],
            contents: Vec::new(),
            ready: (0..size).rev().collect(),
            verified: Verified::default(),
            runs: Default::default(),
            matching,
        })
    }

    /// Runs every rank to its end.
    pub fn run(&mut self) -> Result<(), Fault> {
        while let Some(rank) = self.ready.pop() {
            self.advance(rank)?;
        }
        let late = |rank: &usize| self.positions[*rank].step < self.programs[*rank].steps.len();
        if let Some(rank) = (0..self.programs.len()).find(late) {
            return Err(self.deadlock(rank));
        }
        let of_rank = |(rank, what)| Fault { rank, step: None, what };
        self.board.check_calls().map_err(of_rank)?;
        self.entries.as_ref().map_or(Ok(()), Entries::check).map_err(of_rank)?;
        let unfinished = self.progress.iter().position(|progress| *progress != Progress::Waited);
        unfinished.map_or(Ok(()), |end| {
            let end = &self.matching.ends[end];
            let step = at(self.programs, end.rank, end.step);
            Err(Fault { rank: end.rank, step, what: What::NeverWaited(end.word()) })
        })
    }

    /// Runs `rank` until it has to wait for another one.
    fn advance(&mut self, rank: usize) -> Result<(), Fault> {
        let programs = self.programs;
        while let Some(step) = programs[rank].steps.get(self.positions[rank].step) {
            let number = self.positions[rank].step;
            let went_on = self.step(rank, number, step);
            if !went_on.map_err(|what| Fault { rank, step: at(programs, rank, number), what })? {
                break;
            }
            self.positions[rank] = Position { step: number + 1, waited: 0 };
        }
        Ok(())
    }

    /// Whether the step could be finished.
    fn step(&mut self, rank: usize, number: usize, step: &Step) -> Result<bool, What> {
        match step {
            Step::Isend { from, request, .. } => self.start_send(rank, number, *from, *request)?,
            Step::Irecv { into, request, .. } => {
                self.buffers[rank].check(*into, true)?;
                self.start(rank, number, *into, *request, true);
            }
            Step::Wait { requests } => return self.wait(rank, requests),
            Step::Copy { from, into } => self.copy(rank, *from, *into)?,
            Step::Fold { left, right, into } => self.fold(rank, *left, *right, *into)?,
            Step::Shared(step) => return self.shared(rank, *step),
        }
        Ok(true)
    }

    /// A step on the board, after which others may go on.
    fn shared(&mut self, rank: usize, step: Shared) -> Result<bool, What> {
        self.awaits[rank] = self.board.step(rank, step)?;
        if let (Some(entries), None) = (&mut self.entries, self.awaits[rank]) {
            entries.step(rank, step);
        }
        if !step.waits() {
            // Whoever waits for a flag looks again; that there are few who do not get through keeps this cheap.
            let waiting = (0..self.awaits.len()).filter(|other| self.awaits[*other].is_some());
            let woken: Vec<usize> = waiting.collect();
            woken.iter().for_each(|other| self.awaits[*other] = None);
            self.ready.extend(woken);
        }
        Ok(self.awaits[rank].is_none())
    }

    fn check(&self, rank: usize, range: Range, writes: bool) -> Result<(), What> {
        match range.buffer {
            Buffer::Shared if range.len > 0 => self.board.check(rank, range, writes, self.call),
            _ => self.buffers[rank].check(range, writes),
        }
    }

    /// Appends what the range holds to one of the lists of runs, which is emptied first.
    fn read(&mut self, rank: usize, range: Range, list: usize) -> Result<(), What> {
        let runs = &mut self.runs[list];
        runs.clear();
        match range.buffer {
            Buffer::Shared if range.len > 0 => self.board.read(rank, range, self.call, runs),
            _ => self.buffers[rank].read(range, runs),
        }
    }

    /// Writes one of the lists of runs.
    fn write(&mut self, rank: usize, range: Range, list: usize) {
        match range.buffer {
            Buffer::Shared if range.len > 0 => self.board.write(rank, range, self.call, &self.runs[list]),
            _ => self.buffers[rank].write(range, &self.runs[list]),
        }
    }

    fn start_send(&mut self, rank: usize, number: usize, from: Range, request: Request) -> Result<(), What> {
        self.buffers[rank].check(from, false)?;
        let first = self.contents.len();
        self.buffers[rank].read(from, &mut self.contents)?;
        let end = self.start(rank, number, from, request, false);
        self.sent[end] = first..self.contents.len();
        if let Some(entries) = &mut self.entries {
            entries.sent(rank, end);
        }
        self.verified.messages += 1;
        self.verified.units_sent += from.len;
        Ok(())
    }

    fn start(&mut self, rank: usize, number: usize, range: Range, request: Request, writes: bool) -> usize {
        let end = self.matching.first_of[rank] + request.0 as usize;
        self.buffers[rank].occupy(end, number, range, writes);
        self.progress[end] = Progress::Started;
        // The partner may have been waiting for just this.
        let peer = &self.matching.ends[self.matching.ends[end].peer];
        let place = self.positions[peer.rank];
        if let Some(Step::Wait { requests }) = self.programs[peer.rank].steps.get(place.step) {
            let blocking = requests.get(place.waited).map(|request| request.0 as usize);
            if blocking == Some(self.matching.ends[end].peer - self.matching.first_of[peer.rank]) {
                self.ready.push(peer.rank);
            }
        }
        end
    }

    fn wait(&mut self, rank: usize, requests: &[Request]) -> Result<bool, What> {
        for request in &requests[self.positions[rank].waited..] {
            let end = self.matching.first_of[rank] + request.0 as usize;
            let known = end < self.matching.first_of[rank + 1];
            match self.progress.get(end).filter(|_| known) {
                None | Some(Progress::Ahead) => return Err(What::UnknownRequest(request.0)),
                Some(Progress::Waited) => return Err(What::WaitedTwice(request.0)),
                Some(Progress::Started) => {}
            }
            let (sends, into, peer) = {
                let end = &self.matching.ends[end];
                (end.sends, end.range, end.peer)
            };
            let free = sends && self.sends == Sends::Buffered;
            if !free && self.progress[peer] == Progress::Ahead {
                return Ok(false);
            }
            self.progress[end] = Progress::Waited;
            self.buffers[rank].release(end);
            if !sends {
                self.buffers[rank].write(into, &self.contents[self.sent[peer].clone()]);
                if let Some(entries) = &mut self.entries {
                    entries.received(rank, peer);
                }
            }
            self.positions[rank].waited += 1;
        }
        Ok(true)
    }

    fn copy(&mut self, rank: usize, from: Range, into: Range) -> Result<(), What> {
        if from.len != into.len {
            return Err(What::Lengths);
        }
        self.check(rank, from, false)?;
        self.read(rank, from, 0)?;
        // Copying a range onto itself leaves it alone, even while it is being sent.
        let [source, target] = [from, into].map(|range| self.buffers[rank].place(range));
        if source == target {
            return Ok(());
        }
        self.check(rank, into, true)?;
        if source.overlaps(target) {
            return Err(What::Overlap);
        }
        self.write(rank, into, 0);
        Ok(())
    }

    fn fold(&mut self, rank: usize, left: Range, right: Range, into: Range) -> Result<(), What> {
        if left.len != into.len || right.len != into.len {
            return Err(What::Lengths);
        }
        self.check(rank, left, false)?;
        self.check(rank, right, false)?;
        self.check(rank, into, true)?;
        let [left_place, right_place, place] = [left, right, into].map(|range| self.buffers[rank].place(range));
        for side in [left_place, right_place] {
            if side != place && side.overlaps(place) {
                return Err(What::Overlap);
            }
        }
        self.read(rank, left, 0)?;
        self.read(rank, right, 1)?;
        let [a, b, folded] = &mut self.runs;
        folded.clear();
        let mixed = |(unit, left, right)| What::MixedUnits { unit: into.start + unit, left, right };
        fold(&mut self.terms, a, b, folded).map_err(mixed)?;
        self.write(rank, into, 2);
        self.verified.units_folded += into.len;
        Ok(())
    }

    /// Follows who waits for whom from `rank` on until the circle closes.
    fn deadlock(&self, mut rank: usize) -> Fault {
        let first = rank;
        if let Some(Awaited { rank: partner, value: (call, step) }) = self.awaits[rank] {
            let number = self.positions[rank].step;
            let what = What::NeverTold { partner, call, step };
            return Fault { rank, step: at(self.programs, rank, number), what };
        }
        let mut chain: Vec<Waiting> = Vec::new();
        while let Some(Step::Wait { requests }) = self.programs[rank].steps.get(self.positions[rank].step) {
            let request = requests[self.positions[rank].waited].0 as usize;
            let end = &self.matching.ends[self.matching.first_of[rank] + request];
            let until = self.matching.ends[end.peer].step;
            let step = self.positions[rank].step;
            chain.push(Waiting { rank, step, message: end.word(), partner: end.partner, until });
            rank = end.partner;
            if let Some(start) = chain.iter().position(|waiting| waiting.rank == rank) {
                chain.drain(..start);
                break;
            }
        }
        let rank = chain.first().map_or(first, |waiting| waiting.rank);
        Fault { rank, step: at(self.programs, rank, self.positions[rank].step), what: What::Deadlock(chain) }
    }
}
