//! What one thread is in the middle of, for another that watches.

use super::Function;
use crate::operation::Operation;
use crate::run::Observer;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Ranks that a line names before it only counts the others.
const NAMED: usize = 12;

/// A communicator as it is told of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// What people know it by.
    pub name: String,
    /// This rank's rank in it.
    pub rank: u32,
    /// World ranks of its ranks; of the local group for an intercommunicator.
    pub members: Vec<u32>,
}

/// A thread's call, if it is in one. A lock that only the watcher contends for.
#[derive(Debug, Default)]
pub struct Watched(Mutex<Option<Call>>);

#[derive(Debug)]
struct Call {
    subject: Arc<Subject>,
    function: Function,
    number: u64,
    /// Ticks.
    start: u64,
    /// What runs, of ours: the operation and the algorithm's name.
    runs: Option<(Operation, &'static str)>,
    /// Whether the ranks agree on what all of them have to know of the communicator.
    agrees: bool,
    /// Messages that were started and not waited for: number, peer, whether it goes out.
    pending: Vec<(u32, u32, bool)>,
    heard: BTreeSet<u32>,
    told: bool,
}

impl Watched {
    /// The thread comes to call `number` of `function` on the communicator, counted from 1, at tick `start`.
    pub fn enter(&self, subject: Arc<Subject>, function: Function, number: u64, start: u64) {
        let (pending, heard) = (Vec::new(), BTreeSet::new());
        let (runs, agrees, told) = (None, false, false);
        *self.0.lock() = Some(Call { subject, function, number, start, runs, agrees, pending, heard, told });
    }

    /// The call has ended.
    pub fn leave(&self) {
        *self.0.lock() = None;
    }

    /// An algorithm of ours starts, or none runs any more.
    pub fn runs(&self, algorithm: Option<(Operation, &'static str)>) {
        if let Some(call) = self.0.lock().as_mut() {
            call.runs = algorithm;
            call.pending.clear();
            call.heard.clear();
        }
    }

    /// The ranks begin to agree in this call, or have agreed.
    pub fn agrees(&self, agrees: bool) {
        if let Some(call) = self.0.lock().as_mut() {
            call.agrees = agrees;
        }
    }

    /// The line about a call that has lasted for `limit` ticks at tick `now`; once for each call.
    pub fn overdue(&self, now: u64, limit: u64, nanoseconds_per_tick: f64) -> Option<String> {
        let mut call = self.0.lock();
        let call = call.as_mut().filter(|call| !call.told && now.saturating_sub(call.start) >= limit)?;
        call.told = true;
        Some(call.words(now, nanoseconds_per_tick))
    }

    /// The line about the call that the thread is in, if it is in one.
    pub fn words(&self, now: u64, nanoseconds_per_tick: f64) -> Option<String> {
        self.0.lock().as_ref().map(|call| call.words(now, nanoseconds_per_tick))
    }
}

impl Observer for &Watched {
    fn started(&self, number: u32, peer: u32, outgoing: bool) {
        if let Some(call) = self.0.lock().as_mut() {
            call.pending.push((number, peer, outgoing));
        }
    }

    fn ended(&self, numbers: Range<u32>) {
        if let Some(Call { pending, heard, .. }) = self.0.lock().as_mut() {
            let done = pending.iter().filter(|(number, _, outgoing)| !outgoing && numbers.contains(number));
            heard.extend(done.map(|(_, peer, _)| *peer));
            pending.retain(|(number, ..)| !numbers.contains(number));
        }
    }
}

impl Call {
    fn words(&self, now: u64, nanoseconds_per_tick: f64) -> String {
        let Subject { name, rank, members } = &*self.subject;
        let seconds = now.saturating_sub(self.start) as f64 * nanoseconds_per_tick * 1e-9;
        let mut words = format!(
            "{}, call {} on {name} (rank {rank} of {}), has not returned after {seconds:.1} s: ",
            self.function,
            self.number,
            members.len()
        );
        if self.agrees {
            return words
                + "Collie agrees with the other ranks in one of the first calls on a communicator, and waits until all \
                   have come to it";
        }
        let Some((operation, algorithm)) = self.runs else {
            return words + "it is in the MPI library, so that what it waits for is not known";
        };
        if Function::from(operation) != self.function {
            words += "the barrier before it, ";
        }
        words += algorithm;
        let peers = |outgoing: bool| -> BTreeSet<u32> {
            self.pending.iter().filter(|(.., out)| *out == outgoing).map(|(_, peer, _)| *peer).collect()
        };
        let (from, to) = (peers(false), peers(true));
        let part = |words: &mut String, lead: &str, ranks: &BTreeSet<u32>| {
            if !ranks.is_empty() {
                write!(words, "{lead}{}", self.named(ranks)).expect("a string takes every word");
            }
        };
        // Of several that are waited for together it is not known which have come.
        let some = if from.len() > 1 { "some of " } else { "" };
        part(&mut words, &format!(", waiting for messages from {some}"), &from);
        part(&mut words, ", has messages under way to ", &to);
        if from.is_empty() && to.is_empty() {
            words += ", waiting for no message: in memory that ranks share, or at work";
        }
        part(&mut words, "; has heard from ", &self.heard);
        words
    }

    /// Ranks of the communicator, with those of the world where they differ.
    fn named(&self, ranks: &BTreeSet<u32>) -> String {
        let name = |rank: &u32| match self.subject.members.get(*rank as usize) {
            Some(world) if world != rank => format!("{rank} (rank {world} of the world)"),
            _ => rank.to_string(),
        };
        let mut names: Vec<String> = ranks.iter().take(NAMED).map(name).collect();
        if ranks.len() > NAMED {
            names.push(format!("{} more", ranks.len() - NAMED));
        }
        format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Collective;

    fn watched(function: Function) -> Watched {
        let watched = Watched::default();
        let subject = Subject { name: "half".into(), rank: 0, members: vec![0, 2, 4, 6] };
        watched.enter(Arc::new(subject), function, 17, 1_000);
        watched
    }

    #[test]
    fn a_stuck_call_is_told_once_with_those_it_waits_for() {
        let watched = watched(Operation::Allreduce.into());
        watched.runs(Some((Operation::Allreduce, "recursive_doubling")));
        for (number, peer, outgoing) in [(0, 1, true), (1, 1, false), (2, 2, true), (3, 2, false)] {
            (&watched).started(number, peer, outgoing);
            if number < 3 {
                (&watched).ended(number..number + 1);
            }
        }
        assert_eq!(watched.overdue(1_999, 1_000, 1e6), None);
        let expected = "MPI_Allreduce, call 17 on half (rank 0 of 4), has not returned after 1.0 s: recursive_doubling, \
                        waiting for messages from rank 2 (rank 4 of the world); \
                        has heard from rank 1 (rank 2 of the world)";
        assert_eq!(watched.overdue(2_000, 1_000, 1e6).as_deref(), Some(expected));
        assert_eq!(watched.overdue(3_000, 1_000, 1e6), None);
        assert!(watched.words(3_000, 1e6).is_some());
        watched.leave();
        assert_eq!(watched.words(3_000, 1e6), None);
    }

    #[test]
    fn what_is_not_ours_says_so() {
        let watched = watched(Function::blocking(Collective::Alltoall));
        assert!(watched.words(1_000, 1.0).unwrap().ends_with("so that what it waits for is not known"));
        watched.runs(Some((Operation::Barrier, "dissemination")));
        (&watched).started(0, 3, true);
        let words = watched.words(1_000, 1.0).unwrap();
        assert!(
            words.ends_with(
                "the barrier before it, dissemination, has messages under way to rank 3 (rank 6 of the world)"
            ),
            "{words}"
        );
        watched.runs(None);
        assert!(watched.words(1_000, 1.0).unwrap().contains("in the MPI library"));
        watched.agrees(true);
        assert!(watched.words(1_000, 1.0).unwrap().ends_with("waits until all have come to it"));
        watched.agrees(false);
        assert!(watched.words(1_000, 1.0).unwrap().contains("in the MPI library"));
    }
}
