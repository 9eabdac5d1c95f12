//! Many simulations, as many at a time as there are processors: what is done of them is told while they run, and kept
//! when somebody ends them (SIGINT or SIGTERM).

use crate::algorithm::{Choice, Operation, counted, counted_bytes};
use crate::operation::Unmet;
use crate::schedule::simulate::{Network, Prediction, Scales, predict_while};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is known of one algorithm in one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// How long it takes.
    Told(Prediction),
    /// A need of it is not met.
    Unmet(Unmet),
    /// It was not come to.
    NotReached,
}

impl Time {
    /// The prediction, if there is one.
    pub const fn prediction(self) -> Option<Prediction> {
        match self {
            Self::Told(prediction) => Some(prediction),
            Self::Unmet(_) | Self::NotReached => None,
        }
    }
}

/// What is to be simulated.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Of which operation.
    pub operation: Operation,
    /// Each with every cell.
    pub choices: &'a [Choice],
    /// Numbers of ranks, ascending.
    pub ranks: &'a [usize],
    /// What one rank contributes; with each number of ranks they make the cells.
    pub bytes: &'a [usize],
    /// On which network.
    pub network: &'a Network,
    /// Whether messages within a node go through memory that its ranks share.
    pub shares: bool,
    /// Steps up to which a call is simulated; beyond them the cost formula tells the time.
    pub steps: usize,
    /// After so long what is left is left to the cost formula, with what has begun.
    pub patience: Duration,
}

impl Plan<'_> {
    fn cells(&self) -> usize {
        self.ranks.len() * self.bytes.len()
    }

    /// Fewest ranks first, so that what is there when somebody ends it is whole as far as it goes.
    fn job(&self, number: usize) -> Option<(usize, usize)> {
        let (cell, choice) = (number / self.choices.len(), number % self.choices.len());
        (cell < self.cells()).then_some((choice, cell))
    }

    fn ranks_and_bytes(&self, cell: usize) -> (usize, usize) {
        (self.ranks[cell / self.bytes.len()], self.bytes[cell % self.bytes.len()])
    }
}

/// How far simulations have come; a second signal ends the process.
pub struct Progress {
    ended: Arc<AtomicBool>,
    /// Which signal ended them.
    signal: Arc<AtomicUsize>,
    begun: Instant,
    told: Mutex<Option<Instant>>,
    /// Whether lines take each other's place.
    live: bool,
}

impl Progress {
    /// From here on SIGINT and SIGTERM end the simulations, not the process.
    pub fn start() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let signal = Arc::new(AtomicUsize::new(0));
        for caught in [SIGINT, SIGTERM] {
            // Where a signal cannot be caught, it ends the process as ever. The first one sets the flag that makes the
            // second final.
            drop(flag::register_conditional_default(caught, Arc::clone(&ended)));
            drop(flag::register_usize(caught, Arc::clone(&signal), caught as usize));
            drop(flag::register(caught, Arc::clone(&ended)));
        }
        Self { ended, signal, begun: Instant::now(), told: Mutex::new(None), live: std::io::stderr().is_terminal() }
    }

    /// Whether somebody has ended them.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Ends them, as a signal does.
    #[cfg(test)]
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// The exit code: 0, or as shells tell a program that a signal ended.
    pub fn code(&self) -> u8 {
        match self.signal.load(Ordering::Relaxed) {
            0 => 0,
            signal => 128 + signal as u8,
        }
    }

    /// Until when, from the start, the next of `left` tasks may take, so that all of them share what remains of
    /// `patience`.
    pub fn share_of(&self, patience: Duration, left: usize) -> Duration {
        let elapsed = self.begun.elapsed();
        elapsed.saturating_add(patience.saturating_sub(elapsed) / left.max(1) as u32)
    }

    /// Tells what is at hand: on a terminal twice a second in one line, elsewhere a line every ten seconds. Nothing in
    /// the first two seconds, which need no explanation.
    fn tell(&self, done: usize, all: usize, now: &dyn Fn() -> String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = if self.live { Duration::from_millis(500) } else { Duration::from_secs(10) };
        let last = told.unwrap_or(self.begun);
        let first = told.is_none() && self.begun.elapsed() >= Duration::from_secs(2);
        if first || (told.is_some() && last.elapsed() >= pause) {
            *told = Some(Instant::now());
            let seconds = self.begun.elapsed().as_secs();
            let line = format!("collie: {done} of {all} simulations in {seconds} s, now {}", now());
            let mut stderr = std::io::stderr();
            // Whoever cannot be told is not told.
            drop(if self.live { write!(stderr, "\r\x1b[K{line}") } else { writeln!(stderr, "{line}") });
        }
    }

    /// Takes the line away.
    fn clear(&self) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.live && told.is_some() {
            drop(write!(std::io::stderr(), "\r\x1b[K"));
        }
    }
}

/// The times of each choice, by number of ranks and then by bytes.
///
/// # Errors
/// Programs that do not fit together.
pub fn simulated(plan: &Plan, progress: &Progress) -> Result<Vec<Vec<Time>>, String> {
    let Plan { operation, choices, network, .. } = *plan;
    // By choice and bytes the fewest ranks among which a call has too many steps: among more it has no fewer.
    let too_many: Vec<AtomicUsize> =
        (0..choices.len() * plan.bytes.len()).map(|_| AtomicUsize::new(usize::MAX)).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(vec![vec![Time::NotReached; plan.cells()]; choices.len()]);
    let (failure, scales) = (Mutex::new(None), Scales::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while !progress.is_ended() {
                    let Some((place, cell)) = plan.job(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    let (choice, (ranks, bytes)) = (&choices[place], plan.ranks_and_bytes(cell));
                    let now =
                        || format!("{operation} {choice} of {} among {}", counted_bytes(bytes), counted(ranks, "rank"));
                    progress.tell(done.load(Ordering::Relaxed), choices.len() * plan.cells(), &now);
                    let nodes = network.nodes(ranks);
                    let numa = network.numa_nodes(ranks);
                    let call = network.call(operation, 0, bytes, &nodes);
                    // What lives there is simulated whatever carries messages.
                    let shares = plan.shares || choice.shares_memory();
                    let call = if shares { network.with_shared_memory(&call, &numa) } else { call };
                    let too_many = &too_many[place * plan.bytes.len() + cell % plan.bytes.len()];
                    let goes_on = || !progress.is_ended() && progress.begun.elapsed() <= plan.patience;
                    if let Err(unmet) = choice.accepts(&call, ranks) {
                        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                        results[place][cell] = Time::Unmet(unmet);
                        done.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    let is_left = ranks >= too_many.load(Ordering::Relaxed) || !goes_on();
                    let steps = if is_left { 0 } else { plan.steps };
                    match predict_while(choice, &call, ranks, network, (steps, &goes_on), &scales) {
                        // What somebody has ended before it was simulated is not done.
                        Ok(Some(time)) if !time.simulated && progress.is_ended() => break,
                        Ok(time) => {
                            if steps > 0 && goes_on() && time.is_some_and(|time| !time.simulated) {
                                too_many.fetch_min(ranks, Ordering::Relaxed);
                            }
                            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                            results[place][cell] = Time::Told(time.expect("its needs are met"));
                        }
                        Err(broken) => {
                            let text = format!("{operation} {choice} among {}: {broken}", counted(ranks, "rank"));
                            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                        }
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    progress.clear();
    if let Some(text) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(text);
    }
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_ended_is_told_as_far_as_it_came() {
        let network = Network::find("ethernet").unwrap();
        let choices = [Choice::new(crate::algorithm::find(Operation::Allreduce, "recursive_doubling").unwrap())];
        let plan = Plan {
            operation: Operation::Allreduce,
            choices: &choices,
            ranks: &[4, 8],
            bytes: &[8, 64],
            network: &network,
            shares: false,
            steps: usize::MAX,
            patience: Duration::MAX,
        };
        let progress = Progress::start();
        let hurried = Plan { patience: Duration::ZERO, ..plan };
        let times = simulated(&hurried, &progress).unwrap();
        assert!(times[0].iter().all(|time| time.prediction().is_some_and(|found| !found.simulated)), "{times:?}");
        let times = simulated(&plan, &progress).unwrap();
        assert!(times[0].iter().all(|time| time.prediction().is_some_and(|found| found.simulated)), "{times:?}");
        // What has begun is given up when patience is over.
        let (begun, patience) = (progress.begun.elapsed(), Duration::from_millis(100));
        let long = Plan { ranks: &[1 << 20], bytes: &[8], patience: begun + patience, ..plan };
        let times = simulated(&long, &progress).unwrap();
        assert!(!times[0][0].prediction().unwrap().simulated && progress.begun.elapsed() < begun + 50 * patience);
        progress.end();
        assert_eq!(simulated(&plan, &progress).unwrap(), [[Time::NotReached; 4]]);
        let order: Vec<_> = (0..5).map(|number| plan.job(number)).collect();
        assert_eq!(order, [Some((0, 0)), Some((0, 1)), Some((0, 2)), Some((0, 3)), None]);
    }
}
