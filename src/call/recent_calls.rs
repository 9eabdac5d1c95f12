//! Calls that came lately, as far as the fast path has to know them: in a line of its own each, so that little has to
//! be followed to find out what the next one like it takes and where it is counted.

use super::arguments::{Arguments, Key};
use super::learner::Rest;
use super::local_arguments::LocalArguments;
use super::own_arguments::OwnArguments;
use crate::monitor::{CacheAccount, CounterId, Direct};
use crate::mpi::passed::Arrays;
use crate::schedule::overlap::{Distances, Overlap};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// How many of a communicator are known at most.
const LINES: usize = 16;

/// Those of a communicator. What is played for one of ours is found in a `C`, for as long as that is kept.
#[derive(Debug)]
pub struct RecentCalls<C>(Direct<Line<C>, LINES>);

/// What the fast path does for a call that it knows.
#[derive(Debug)]
pub struct Known<'a, C> {
    /// Where the call is counted.
    pub counter: CounterId,
    /// Its bytes.
    pub bytes: u64,
    /// What is played, and the place of that among the candidates; none if it is passed on as it came.
    pub played: Option<(&'a Weak<C>, usize)>,
    /// What the call is counted in besides, where the ranks learn.
    pub rest: Option<&'a Rest>,
}

/// How a call is carried out.
pub struct CarriedOut<'a, C> {
    /// Where it is counted.
    pub counter: CounterId,
    /// What is played; none if it is passed on.
    pub played: Option<&'a Rc<C>>,
    /// Whose turn it is among several candidates,
    pub place: usize,
    /// and for how many calls, where the ranks learn.
    pub rest: Option<&'a Rc<Rest>>,
}

/// One of them. Begins a cache line: two hold what most need.
#[derive(Debug)]
#[repr(align(64))]
struct Line<C> {
    key: Key,
    distances: Distances,
    counter: CounterId,
    bytes: u64,
    played: Option<Weak<C>>,
    /// Which of several candidates that is,
    place: u8,
    /// and for how many calls still, where the ranks learn.
    rest: Option<Rc<Rest>>,
    /// Counts and displacements to compare the next call's with, for as long as the call itself is kept.
    own: Option<Weak<OwnArguments>>,
}

impl<C> Line<C> {
    /// Whether its arrays hold the same as these. Part of the entry that calls it: handed on to a function, the
    /// arguments would have to lie in memory, in entries without arrays as well.
    #[inline(always)]
    fn holds(&self, arrays: Option<[Arrays; 2]>) -> bool {
        let (Some(own), Some(arrays)) = (&self.own, arrays) else { return true };
        match own.upgrade() {
            Some(own) => own.is_of(arrays),
            None => false,
        }
    }
}

impl<C> RecentCalls<C> {
    /// None yet; what they come to hold is charged to `account`.
    pub const fn new(account: Arc<CacheAccount>) -> Self {
        Self(Direct::new(account))
    }

    /// What is known of a call that came before. Where the ranks learn, it has yet to be counted.
    #[inline(always)]
    pub fn find(&self, arguments: &Arguments) -> Option<Known<'_, C>> {
        let key = arguments.shape();
        let line = self.0.find(key.line())?;
        let is_known = line.key == key
            && line.distances.overlap(arguments.distance()) == Overlap::Apart
            && line.holds(arguments.arrays);
        let place = usize::from(line.place);
        if !is_known || line.rest.as_ref().is_some_and(|rest| !rest.is_of(place)) {
            return None;
        }
        let played = line.played.as_ref().map(|played| (played, place));
        Some(Known { counter: line.counter, bytes: line.bytes, played, rest: line.rest.as_deref() })
    }

    /// Makes note of a call for the next one like it. Nothing but the table of counters wants to know of such calls.
    pub fn add(&mut self, arguments: &Arguments, local: &LocalArguments, carried_out: CarriedOut<'_, C>) {
        if local.overlap != Overlap::Apart {
            return;
        }
        let CarriedOut { counter, played, place, rest } = carried_out;
        let (distances, bytes) = (local.distances(), local.bytes() as u64);
        let (key, own) = (arguments.shape(), local.own.as_ref().map(Rc::downgrade));
        let (played, place, rest) = (played.map(Rc::downgrade), place as u8, rest.cloned());
        self.0.put(key.line(), Line { key, distances, counter, bytes, played, place, rest, own });
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
