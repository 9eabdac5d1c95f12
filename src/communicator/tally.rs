//! What is counted of a communicator's calls.

use crate::monitor::{
    Arrivals, Bucket, Budget, CounterId, DifferenceRecord, Epochs, FoldKind, Function, Key, Label, NATIVE, Table,
    Traffic, Turn,
};
use crate::operation::Operation;
use crate::process::runtime::Runtime;
use crate::run::Counts;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// What is counted of a communicator's calls.
#[repr(C)]
pub struct Tally {
    /// What was recorded.
    pub table: Table,
    /// Place among the communicators of this rank's record, or [`NOWHERE`](Self::NOWHERE).
    pub place: usize,
    /// Messages of our algorithms, by rank of this communicator.
    pub traffic: RefCell<Traffic>,
    /// What the player did.
    pub played: RefCell<Counts>,
    /// Native and ours in turns.
    pub alternation: RefCell<Alternation>,
    /// What verification found.
    pub verified: RefCell<Verified>,
    /// When this rank came to its calls, where waiting is told apart. Behind a lock of its own, since all ranks put
    /// theirs together, which must not keep calls from the communicator.
    pub arrivals: Arc<Mutex<Arrivals>>,
    natives: Vec<((Operation, Bucket, &'static str), CounterId)>,
    /// Labels of calls that are only observed, algorithm and reason.
    observed: Option<(Label, Label)>,
}

/// Mode `compare`: whose turn it is, and what the turns took.
#[derive(Default)]
pub struct Alternation {
    turns: HashMap<(Operation, Bucket, FoldKind), Turn>,
    /// Durations by epoch.
    pub epochs: Epochs,
}

impl Alternation {
    /// The epoch of the next call, which all ranks of the communicator count alike; `seed` is what they agreed on.
    pub fn next(&mut self, seed: u64, operation: Operation, bucket: Bucket, kind: FoldKind) -> u32 {
        let number = kind.number() << 16 | (operation as u64) << 8 | u64::from(bucket.0);
        self.turns.entry((operation, bucket, kind)).or_insert_with(|| Turn::new(seed ^ number)).next()
    }
}

/// Mode `verify`: what was compared and where it differed.
#[derive(Default)]
pub struct Verified {
    /// Calls that both carried out.
    pub calls: u64,
    /// Those of them whose results were compared: this rank got one.
    pub compared: u64,
    /// Those that an error kept from being compared.
    pub failed: u64,
    /// Those whose results are not the same bits, and equal.
    pub rounded: u64,
    /// Those of them whose results nobody can judge.
    pub unjudged: u64,
    /// Those that are alike by a bound for all their elements.
    pub near: u64,
    /// Those that differ.
    pub differing: u64,
    /// Ticks spent on that, beside the call that the program asked for.
    pub ticks: u64,
    /// The first few differences.
    pub differences: Vec<DifferenceRecord>,
}

impl Tally {
    /// The place of a communicator that there is no room for in this rank's record.
    pub const NOWHERE: usize = u32::MAX as usize;

    /// Nothing yet, of a communicator of `size` ranks at `place` of this rank's record.
    pub fn new(runtime: &Runtime, place: usize, size: usize) -> Self {
        // Room that comes free later would give a communicator without a record counters that nobody sees.
        let budget = if place == Self::NOWHERE { Arc::new(Budget::of(0)) } else { Arc::clone(&runtime.budget) };
        Self {
            place,
            table: Table::within(budget),
            traffic: RefCell::new(Traffic::within(Arc::clone(&runtime.budget), size)),
            played: RefCell::default(),
            alternation: RefCell::default(),
            verified: RefCell::default(),
            arrivals: Arc::default(),
            natives: Vec::new(),
            observed: None,
        }
    }

    /// The counter of calls of `bytes` bytes that run as `algorithm` because of `decided_by`.
    pub fn counter(&mut self, operation: Operation, bytes: usize, algorithm: &str, decided_by: &str) -> CounterId {
        let (algorithm, decided_by) = (self.table.label(algorithm), self.table.label(decided_by));
        let bucket = Bucket::of(bytes as u64);
        self.table.counter(Key { function: Function::from(operation), bucket, algorithm, decided_by })
    }

    /// The counter of calls that go to the native library for a reason that needs no agreement.
    pub fn native_counter(&mut self, operation: Operation, bytes: usize, reason: &'static str) -> CounterId {
        let key = (operation, Bucket::of(bytes as u64), reason);
        if let Some((_, counter)) = self.natives.iter().find(|(known, _)| *known == key) {
            return *counter;
        }
        let counter = self.counter(operation, bytes, NATIVE, reason);
        self.natives.push((key, counter));
        counter
    }

    /// The counter of calls that are passed on, whatever is chosen for others.
    #[inline]
    pub fn observed_counter(&mut self, function: Function, bytes: u64) -> CounterId {
        let table = &mut self.table;
        let (algorithm, decided_by) =
            *self.observed.get_or_insert_with(|| (table.label(NATIVE), table.label("observed only")));
        table.counter(Key { function, bucket: Bucket::of(bytes), algorithm, decided_by })
    }

    /// Forgets what was recorded.
    pub fn reset(&mut self) {
        self.table.reset();
        self.traffic.get_mut().reset();
        *self.played.get_mut() = Counts::default();
        self.alternation.get_mut().epochs = Epochs::new();
        *self.verified.get_mut() = Verified::default();
        self.arrivals.lock().reset();
    }
}
