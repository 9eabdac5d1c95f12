//! What is kept of calls for the next one like them: how a call was understood, decided and made ready, and apart from
//! that the lowered programs, which calls with other handles share.
//!
//! Both are caches of one communicator, bounded, and charged to the process's account ([`CacheAccount`]).

use super::arguments::{self, Arguments};
use super::local_arguments::LocalArguments;
use super::made::{Made, MadeKey};
use super::named_calls::NamedCalls;
use super::plan::Plan;
use super::program::{self, Prepared};
use super::recent_calls::RecentCalls;
use crate::monitor::{Cache, CacheAccount, HeapBytes};
use crate::operation::Choice;
use crate::schedule::action::Lowered;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// Calls kept per communicator at most; what bounds them in most programs is memory.
const CALLS: usize = 1 << 14;
/// Programs kept per communicator at most.
const PROGRAMS: usize = 1 << 12;

/// For each candidate of a plan, what is played where it is an algorithm of ours that has something to do.
pub type Ready = SmallVec<[Option<Prepared>; 1]>;

/// A call as it was understood, decided and made ready.
#[derive(Debug)]
pub struct CachedCall {
    /// What counted of its arguments.
    pub local: LocalArguments,
    /// What was decided.
    pub plan: Plan,
    /// What is played where an algorithm of ours runs, by candidate of the plan.
    pub prepared: Ready,
    /// By place of the candidate, one bit each: whether it was made ready.
    pub ready: u8,
    /// The same: whether nothing but the table of counters wants to know of calls that it carries out.
    pub short: u8,
}

/// Who carries out a call of which nothing but the table of counters wants to know.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// Its place among the candidates.
    pub place: usize,
    /// Whether the ranks learn from it.
    pub measured: bool,
}

impl CachedCall {
    /// Who carries out the next call, unless there is more to it than that: something to compare first, or nobody made
    /// ready for the fast path. Where the ranks learn, counts it.
    #[inline(always)]
    pub fn take_short(&self) -> Option<Short> {
        let Some(learner) = self.plan.learner() else {
            return (self.short & 1 != 0).then_some(Short { place: 0, measured: false });
        };
        match learner.resting() {
            Some(place) if self.short >> place & 1 != 0 => {
                learner.rest().count();
                Some(Short { place, measured: false })
            }
            Some(_) => None,
            None => learner.ready_turn(self.short).map(|place| Short { place, measured: true }),
        }
    }

    /// The ranks learn that a call took so long.
    pub fn learn(&self, place: usize, ns: u64) {
        if let Some(learner) = self.plan.learner() {
            learner.measured(place, ns, 0, self.local.bytes());
        }
    }
}

impl HeapBytes for Rc<CachedCall> {
    fn heap_bytes(&self) -> usize {
        let spilled = if self.prepared.spilled() { size_of_val(&self.prepared[..]) } else { 0 };
        let own = self.local.own.as_ref().map_or(0, |own| own.heap_bytes());
        size_of::<CachedCall>()
            + self.prepared.iter().flatten().map(HeapBytes::heap_bytes).sum::<usize>()
            + spilled
            + own
    }
}

/// A lowered program, none if it is too long to keep, and the choice that it is a program of.
#[derive(Debug)]
struct Program {
    choice: Arc<Choice>,
    lowered: Option<Arc<Lowered>>,
}

impl HeapBytes for Program {
    fn heap_bytes(&self) -> usize {
        self.lowered.as_ref().map_or(0, |lowered| lowered.bytes())
    }
}

/// The caches of a communicator.
#[derive(Debug)]
#[repr(C)]
pub struct Calls {
    /// Those that came lately.
    pub recent: RecentCalls<CachedCall>,
    calls: Cache<arguments::Key, Rc<CachedCall>>,
    /// Those with types or an operation of the program's.
    made: Cache<MadeKey, Rc<CachedCall>>,
    has_made: bool,
    /// Those of them that came lately and are found by their names.
    pub named: NamedCalls<CachedCall>,
    programs: Cache<program::Key, Program>,
    /// Entries of arrays by rank; none where they would have to be those of another group.
    entries: usize,
}

impl Calls {
    /// Empty, for calls whose arrays have `entries` entries; what they come to hold is charged to `account`.
    pub fn new(account: &Arc<CacheAccount>, entries: usize) -> Self {
        let (calls, programs) = (Cache::new(CALLS, Arc::clone(account)), Cache::new(PROGRAMS, Arc::clone(account)));
        let made = Cache::new(CALLS, Arc::clone(account));
        let (recent, named) = (RecentCalls::new(Arc::clone(account)), NamedCalls::new(Arc::clone(account)));
        Self { calls, made, has_made: false, named, programs, recent, entries }
    }

    /// A call like this one that came before; it has to be asked whether it [fits](LocalArguments::fits).
    #[inline]
    pub fn find(&mut self, arguments: &Arguments) -> Option<&Rc<CachedCall>> {
        let key = arguments.key(self.entries);
        self.calls.find(key.hash(), &key).map(|known| &*known)
    }

    /// Keeps a call for the next one like it.
    pub fn keep(&mut self, arguments: &Arguments, call: Rc<CachedCall>) {
        let key = arguments.key(self.entries);
        self.calls.insert(key.hash(), key, call);
    }

    /// Whether there are calls with what programs make.
    pub const fn has_made(&self) -> bool {
        self.has_made
    }

    /// The same for a call with what the program made.
    pub fn find_made(&mut self, arguments: &Arguments, made: &Made) -> Option<&Rc<CachedCall>> {
        let key = made.key(arguments, self.entries);
        self.made.find(key.hash(), &key).map(|known| &*known)
    }

    /// The same.
    pub fn keep_made(&mut self, arguments: &Arguments, made: &Made, call: Rc<CachedCall>) {
        let key = made.key(arguments, self.entries);
        self.has_made |= self.made.insert(key.hash(), key, call);
    }

    /// Forgets a call. One with what the program made is found by nobody who would forget it.
    pub fn forget(&mut self, arguments: &Arguments) {
        let key = arguments.key(self.entries);
        self.calls.forget(key.hash(), &key);
        self.recent.clear();
    }

    /// The program of `choice` under this key, from `lower` if it is not known.
    pub fn program(
        &mut self,
        key: program::Key,
        choice: &Arc<Choice>,
        lower: impl FnOnce() -> Option<Lowered>,
    ) -> Option<Arc<Lowered>> {
        let hash = key.hash();
        if let Some(known) = self.programs.find(hash, &key)
            && (Arc::ptr_eq(&known.choice, choice) || known.choice == *choice)
        {
            return known.lowered.clone();
        }
        let lowered = lower().map(Arc::new);
        self.programs.insert(hash, key, Program { choice: Arc::clone(choice), lowered: lowered.clone() });
        lowered
    }

    /// Forgets all: what it rests on has changed.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.made.clear();
        self.has_made = false;
        self.named.clear();
        self.programs.clear();
        self.recent.clear();
    }
}
