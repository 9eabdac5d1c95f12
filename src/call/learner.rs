//! One kind of call on one communicator in mode `learn`: who carries out the next one, and what the ranks compare after
//! a round.
//!
//! All that decides is counted alike by all ranks or exchanged by them. While nothing is measured a call costs one
//! number counted down.

use crate::communicator::state::Communicator;
use crate::monitor::{Function, LearnedKey, LearnedRecord, TriedRecord};
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::operation::Choice;
use crate::process::floating_point::apart;
use crate::process::runtime::Runtime;
use crate::trial::{Cell, CommunicatorShape, Exchanged, Knowledge, Known, Own, Report, Samples, Standing, Trial};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::cell::{Cell as Number, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// What this process has learned, for communicators to come.
pub static KNOWLEDGE: Lazy<Mutex<Knowledge>> = Lazy::new(Mutex::default);

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Place among the candidates.
    pub place: usize,
    /// Whether the call's time counts.
    pub measured: bool,
}

/// Calls in which nothing is measured.
#[derive(Debug)]
pub struct Rest {
    /// How many are left.
    left: Number<u64>,
    /// Who carries them out.
    incumbent: Number<usize>,
}

impl Rest {
    /// Whether the next call is one of them, and the candidate at `place` carries it out.
    #[inline(always)]
    pub fn is_of(&self, place: usize) -> bool {
        self.left.get() > 0 && self.incumbent.get() == place
    }

    /// Counts such a call.
    #[inline(always)]
    pub fn count(&self) {
        self.left.set(self.left.get() - 1);
    }
}

/// One kind of call on one communicator.
#[derive(Debug)]
pub struct Learner {
    shape: CommunicatorShape,
    cell: Cell,
    candidates: Arc<[Option<Arc<Choice>>]>,
    names: Arc<[Arc<str>]>,
    seed: u64,
    rest: Rc<Rest>,
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    trial: Trial,
    /// What `left` was when the trial last knew of it.
    granted: u64,
    samples: Samples,
    /// What the exchange before took, or a meeting right after another, ticks; 0 before the first.
    exchange: u64,
    /// How things stood when this communicator began.
    before: (Report, Vec<Standing>),
}

impl Learner {
    /// Goes on from what is known.
    pub fn new(shape: CommunicatorShape, cell: Cell, known: Known) -> Self {
        let Known { candidates, names, trial, seed, samples } = known;
        let before = (trial.report(), trial.standings().to_vec());
        let rest = Rest { left: Number::new(trial.rest()), incumbent: Number::new(trial.incumbent()) };
        let state = State { granted: trial.rest(), trial, samples, exchange: 0, before };
        Self { shape, cell, candidates, names, seed, rest: Rc::new(rest), state: RefCell::new(state) }
    }

    /// Those that may carry out the calls, the default first; `None` for the MPI library.
    pub fn candidates(&self) -> &[Option<Arc<Choice>>] {
        &self.candidates
    }

    /// Calls so far, on this communicator and those of its shape before.
    pub fn calls(&self) -> u64 {
        self.up_to_date().trial.calls()
    }

    /// Who carries out the next call, if nothing is measured in it.
    #[inline(always)]
    pub fn resting(&self) -> Option<usize> {
        (self.rest.left.get() > 0).then(|| self.rest.incumbent.get())
    }

    /// Calls in which nothing is measured, for who counts them itself.
    pub const fn rest(&self) -> &Rc<Rest> {
        &self.rest
    }

    /// Who carries out the next call, one that is measured and for which there is nothing else to do first: the ranks
    /// do not meet or compare, and it is one of `ready`, a bit for each place. Counts it.
    pub fn ready_turn(&self, ready: u8) -> Option<usize> {
        apart(|| {
            let mut state = self.up_to_date();
            let first = state.trial.is_due() || state.trial.meets();
            let is_ready = !first && ready >> state.trial.whose_turn(self.seed) & 1 != 0;
            is_ready.then(|| state.trial.next(self.seed))
        })
    }

    /// Who carries out the next call; counts it. Where a round has ended the ranks first compare: collective over the
    /// communicator, whose ranks come here in the same call.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn turn(&self, runtime: &Runtime, communicator: &mut Communicator) -> Result<Turn> {
        if let Some(place) = self.resting() {
            self.rest.count();
            return Ok(Turn { place, measured: false });
        }
        let mut state = self.up_to_date();
        if state.trial.meets() {
            let after = state.trial.whose_turn_it_was(self.seed);
            runtime.uncounted(|| self.meet(runtime, communicator, &mut state, after))?;
        }
        if state.trial.is_due() {
            if state.trial.meets() && state.exchange == 0 {
                // Some ranks have waited for calls of others, and some may always wait for theirs. Now nothing is under
                // way.
                state.exchange = runtime.uncounted(|| self.meet(runtime, communicator, &mut state, None))?.max(1);
            }
            let start = runtime.clock.raw();
            runtime.uncounted(|| self.compare(runtime, communicator, &mut state))?;
            let exchange = runtime.clock.raw().saturating_sub(start);
            // Not 0: all ranks know alike whether there was one.
            state.exchange = exchange.max(1);
            let usual = state.trial.exchange_ns();
            state.samples.compared(runtime.nanoseconds(exchange), usual);
            self.grant(&mut state);
            if let Some(place) = self.resting() {
                self.rest.count();
                return Ok(Turn { place, measured: false });
            }
        }
        let place = state.trial.next(self.seed);
        Ok(Turn { place, measured: true })
    }

    /// A call of a turn that is measured, of so many bytes, took so long, and so long to make it ready before; 0 where
    /// it was.
    pub fn measured(&self, place: usize, ns: u64, ready_ns: u64, bytes: usize) {
        let samples = &mut self.state.borrow_mut().samples;
        samples.record(place, ns, ready_ns);
        samples.moved(bytes as u64);
    }

    /// The communicator goes away: what it has learned stays.
    pub fn keep(&self) {
        let state = self.up_to_date();
        KNOWLEDGE.lock().put(self.shape, self.cell, self.known(&state.trial, state.samples.clone()));
    }

    /// What this communicator has learned, for the report; nothing if it made no such call.
    pub fn record(&self) -> Option<LearnedRecord> {
        let state = self.up_to_date();
        let State { trial, before: (before, standings), .. } = &*state;
        let report = trial.report();
        let tried = trial.standings().iter().zip(standings).zip(&*self.names).map(|((now, before), name)| {
            TriedRecord { algorithm: Arc::clone(name), calls: now.calls - before.calls, ns: now.ns }
        });
        let CommunicatorShape { ranks, nodes, most_on_node, oversubscribed, shared_memory } = self.shape;
        let Cell { operation, bucket, commutative, reduce_local, units_per_rank } = self.cell;
        let function = Function::from(operation);
        (report.calls > before.calls).then(|| LearnedRecord {
            key: LearnedKey {
                ranks,
                nodes,
                most_on_node,
                oversubscribed,
                shared_memory,
                function,
                bucket,
                commutative,
                reduce_local,
                units_per_rank,
            },
            candidates: tried.collect(),
            incumbent: trial.incumbent() as u32,
            won: trial.is_won(),
            is_measured: trial.is_measured(),
            rests_on: (trial.begun(), trial.calls()),
            calls: report.calls - before.calls,
            tried_calls: report.tried_calls.saturating_sub(before.tried_calls),
            spent_ns: report.spent_ns - before.spent_ns,
            saved_ns: report.saved_ns - before.saved_ns,
            saved_fastest_ns: report.saved_fastest_ns - before.saved_fastest_ns,
        })
    }

    fn known(&self, trial: &Trial, samples: Samples) -> Known {
        let (candidates, names) = (Arc::clone(&self.candidates), Arc::clone(&self.names));
        Known { candidates, names, trial: trial.for_others(), seed: self.seed, samples }
    }

    /// The state, with the calls counted that have been made since.
    fn up_to_date(&self) -> std::cell::RefMut<'_, State> {
        let mut state = self.state.borrow_mut();
        let left = self.rest.left.get();
        let made = state.granted - left;
        state.trial.rested(made);
        state.granted = left;
        state
    }

    fn grant(&self, state: &mut State) {
        state.granted = state.trial.rest();
        self.rest.left.set(state.granted);
        self.rest.incumbent.set(state.trial.incumbent());
    }

    /// The ranks meet, so that nothing of the epoch before, of calls of `after`, is still under way; how many ticks it
    /// took.
    fn meet(
        &self,
        runtime: &Runtime,
        communicator: &mut Communicator,
        state: &mut State,
        after: Option<usize>,
    ) -> Result<u64> {
        let (rank, size) = (communicator.facts.rank, communicator.facts.size);
        let private = communicator.private(runtime)?.expect("nobody learns without a communicator to compare in");
        let start = runtime.clock.raw();
        communicator::most(private, rank, size, [0])?;
        let ticks = runtime.clock.raw().saturating_sub(start);
        state.samples.met(after, runtime.nanoseconds(ticks));
        Ok(ticks)
    }

    /// The ranks exchange what they measured, and take it in alike.
    fn compare(&self, runtime: &Runtime, communicator: &mut Communicator, state: &mut State) -> Result {
        let (rank, size) = (communicator.facts.rank, communicator.facts.size);
        let private = communicator.private(runtime)?.expect("nobody learns without a communicator to compare in");
        let State { trial, samples, .. } = state;
        let (epoch, meet) = (trial.calls_of_epoch(), trial.meets_at_all());
        let exchange_ns = runtime.nanoseconds(state.exchange);
        // Another communicator of this shape may have found a winner meanwhile.
        let theirs = match trial.is_won() {
            true => None,
            false => KNOWLEDGE
                .lock()
                .get(&self.shape, &self.cell)
                .filter(|known| known.is_winner_for(trial, &self.candidates))
                .cloned(),
        };
        let own = Own {
            times: samples.are_alike().then(|| samples.times(epoch)),
            spent_ns: samples.spent(trial.incumbent(), trial.known_ns(), exchange_ns),
            exchange_ns,
            winner: theirs.as_ref().map_or(0, |known| digest(&known.trial)),
        };
        let all = Exchanged::of(&communicator::most(private, rank, size, own.words(meet))?, meet);
        samples.clear();
        match (theirs, all.times) {
            (Some(theirs), _) if all.winner.is_some() => trial.take_over(&theirs.trial, all.spent_ns),
            (_, None) => trial.set_aside(all.spent_ns),
            (_, Some(times)) => trial.commit(&times, all.spent_ns, all.exchange_ns),
        }
        KNOWLEDGE.lock().put(self.shape, self.cell, self.known(&state.trial, Samples::default()));
        Ok(())
    }
}

/// A hash: equal for equal trials, and hardly ever for others; never 0.
fn digest(trial: &Trial) -> u64 {
    let mut hasher = DefaultHasher::new();
    postcard::to_stdvec(trial).expect("numbers can be written to memory").hash(&mut hasher);
    hasher.finish() | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Call, Operation, parse_choice};
    use crate::trial::{Expected, Foreseen};

    #[test]
    fn a_round_that_goes_on_on_another_communicator_keeps_its_order() {
        let call = Call::plain(Operation::Allreduce, 64, 8);
        let (shape, cell) = (CommunicatorShape { ranks: 4, ..CommunicatorShape::default() }, Cell::of(&call, 4));
        let named = |name| parse_choice(Operation::Allreduce, name).unwrap();
        let choices = ["ring", "recursive_doubling", "rabenseifner"].map(|name| Some(Arc::new(named(name))));
        for seed in 0..20 {
            let foreseen = [Foreseen { predicted: Some(1.0), ..Foreseen::default() }; 3];
            let expected = Expected { call_ns: 1_000_000, exchange_ns: 1_000, meeting_ns: 0, budget: 50 };
            let trial = Trial::new(&foreseen, expected);
            let (rest, members) = (trial.rest(), trial.members().count());
            let mut known = Known::new(choices.clone().into(), trial, seed);
            let mut turns = [0; 3];
            // A communicator for each call.
            for call in 0.. {
                let learner = Learner::new(shape, cell, known);
                if call < rest {
                    learner.rest().count();
                } else {
                    let Some(place) = learner.ready_turn(u8::MAX) else { break };
                    turns[place] += 1;
                }
                *KNOWLEDGE.lock() = Knowledge::default();
                learner.keep();
                known = KNOWLEDGE.lock().get(&shape, &cell).cloned().unwrap();
            }
            assert!(members > 1);
            let made: Vec<_> = turns.iter().filter(|calls| **calls > 0).collect();
            assert!(made.len() == members && made.iter().all(|calls| **calls == 4), "{turns:?}");
        }
    }
}
