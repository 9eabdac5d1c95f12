//! The board of a node in one simulated call: when flags say what, and who waits for them.

use crate::schedule::Shared;
use std::collections::HashMap;

/// Which flag; as in the verifier, each line has one for all calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    Own(u32),
    Line(u32),
    Release(u32),
    Arrived,
}

/// Call and step.
type Value = (u32, u32);

/// What a step on the board comes to for the rank that takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// It goes on.
    Done,
    /// It sees flags that said so from this time on: the last of so many, and whose it was.
    Sees { time: f64, flags: usize, of: u32 },
    /// It is its turn at the counter from this time on.
    Arrives { turn: f64 },
    /// It waits for this flag.
    Waits(Flag),
}

/// All flags, by time.
#[derive(Debug, Default)]
pub struct Board {
    calls: Vec<u32>,
    told: HashMap<Flag, Vec<(Value, f64)>>,
    waiting: HashMap<Flag, Vec<usize>>,
    /// Ranks whose flag has been raised since anybody looked.
    woken: Vec<usize>,
    /// Those who have arrived, by call, and when the counter is free again.
    arrived: HashMap<u32, usize>,
    counter: f64,
}

impl Board {
    pub fn new(ranks: usize) -> Self {
        Self { calls: vec![0; ranks], ..Self::default() }
    }

    /// Ranks that can go on.
    pub fn woken(&mut self) -> impl Iterator<Item = usize> {
        self.woken.drain(..)
    }

    /// Takes a step of `rank` at `clock`; an arrival takes `arrival` seconds of the counter.
    pub fn step(&mut self, rank: usize, step: Shared, clock: f64, arrival: f64) -> Step {
        let own = rank as u32;
        if let Shared::Enter { step } = step {
            self.calls[rank] += 1;
            self.tell(Flag::Own(own), (self.calls[rank], step), clock);
            return Step::Done;
        }
        let call = self.calls[rank];
        match step {
            Shared::Enter { step } | Shared::Signal { step } => self.tell(Flag::Own(own), (call, step), clock),
            Shared::Post => self.tell(Flag::Line(own), (call, 1), clock),
            Shared::Release { rank: to } => self.tell(Flag::Release(to), (call, 1), clock),
            Shared::Await { rank: of, step } => return self.see(rank, Flag::Own(of), (call, step), of),
            Shared::AwaitPost { rank: of } => return self.see(rank, Flag::Line(of), (call, 1), of),
            Shared::AwaitRelease => return self.see(rank, Flag::Release(own), (call, 1), 0),
            Shared::AwaitArrivals => return self.see(rank, Flag::Arrived, (call, 1), 0),
            Shared::Begun { before } => return self.see_begun(rank, call.saturating_sub(before)),
            Shared::Arrive => {
                let turn = clock.max(self.counter);
                self.counter = turn + arrival;
                let arrived = self.arrived.entry(call).or_default();
                *arrived += 1;
                if *arrived == self.calls.len() {
                    self.tell(Flag::Arrived, (call, 1), turn + arrival);
                }
                return Step::Arrives { turn };
            }
        }
        Step::Done
    }

    fn tell(&mut self, flag: Flag, value: Value, time: f64) {
        self.told.entry(flag).or_default().push((value, time));
        self.woken.extend(self.waiting.remove(&flag).unwrap_or_default());
    }

    fn find(&self, flag: Flag, value: Value) -> Option<f64> {
        let told = self.told.get(&flag)?;
        told.get(told.partition_point(|(told, _)| *told < value)).map(|(_, time)| *time)
    }

    fn see(&mut self, rank: usize, flag: Flag, value: Value, of: u32) -> Step {
        match self.find(flag, value) {
            Some(time) => Step::Sees { time, flags: 1, of },
            None => self.wait(rank, flag),
        }
    }

    fn wait(&mut self, rank: usize, flag: Flag) -> Step {
        self.waiting.entry(flag).or_default().push(rank);
        Step::Waits(flag)
    }

    fn see_begun(&mut self, rank: usize, call: u32) -> Step {
        let mut last = (f64::NEG_INFINITY, 0);
        if call == 0 {
            return Step::Done;
        }
        for of in (0..self.calls.len()).filter(|of| *of != rank) {
            let flag = Flag::Own(of as u32);
            match self.find(flag, (call, 0)) {
                Some(time) if time > last.0 => last = (time, of as u32),
                Some(_) => {}
                None => return self.wait(rank, flag),
            }
        }
        Step::Sees { time: last.0, flags: self.calls.len() - 1, of: last.1 }
    }
}
