//! Runs all ranks' programs on symbolic contents.

use super::Mode;
use super::buffers::Buffers;
use super::fault::{Fault, Waiting, What};
use super::matching::{Matching, at, matching};
use super::memory::{Run, fold};
use super::terms::Terms;
use super::{Sends, Verified};
use crate::operation::Call;
use crate::schedule::{Program, Range, Request, Step};

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
    pub fn new(programs: &'a [Program], call: &Call, mode: Mode) -> Result<Self, Fault> {
        let matching = matching(programs)?;
        let size = programs.len();
        let buffers = programs.iter().enumerate();
        Ok(Self {
            programs,
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
        }
        Ok(true)
    }

    fn start_send(&mut self, rank: usize, number: usize, from: Range, request: Request) -> Result<(), What> {
        self.buffers[rank].check(from, false)?;
        let first = self.contents.len();
        self.buffers[rank].read(from, &mut self.contents)?;
        let end = self.start(rank, number, from, request, false);
        self.sent[end] = first..self.contents.len();
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
            }
            self.positions[rank].waited += 1;
        }
        Ok(true)
    }

    fn copy(&mut self, rank: usize, from: Range, into: Range) -> Result<(), What> {
        let buffers = &mut self.buffers[rank];
        if from.len != into.len {
            return Err(What::Lengths);
        }
        buffers.check(from, false)?;
        let runs = &mut self.runs[0];
        runs.clear();
        buffers.read(from, runs)?;
        // Copying a range onto itself leaves it alone, even while it is being sent.
        if buffers.place(from) == buffers.place(into) {
            return Ok(());
        }
        buffers.check(into, true)?;
        if buffers.place(from).overlaps(buffers.place(into)) {
            return Err(What::Overlap);
        }
        buffers.write(into, runs);
        Ok(())
    }

    fn fold(&mut self, rank: usize, left: Range, right: Range, into: Range) -> Result<(), What> {
        let buffers = &mut self.buffers[rank];
        if left.len != into.len || right.len != into.len {
            return Err(What::Lengths);
        }
        buffers.check(left, false)?;
        buffers.check(right, false)?;
        buffers.check(into, true)?;
        for side in [left, right].map(|side| buffers.place(side)) {
            let place = buffers.place(into);
            if side != place && side.overlaps(place) {
                return Err(What::Overlap);
            }
        }
        let [a, b, folded] = &mut self.runs;
        a.clear();
        b.clear();
        folded.clear();
        buffers.read(left, a)?;
        buffers.read(right, b)?;
        let mixed = |(unit, left, right)| What::MixedUnits { unit: into.start + unit, left, right };
        fold(&mut self.terms, a, b, folded).map_err(mixed)?;
        buffers.write(into, folded);
        self.verified.units_folded += into.len;
        Ok(())
    }

    /// Follows who waits for whom from `rank` on until the circle closes.
    fn deadlock(&self, mut rank: usize) -> Fault {
        let first = rank;
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
