//! Requests of collectives: what the calls that start them again, wait for them and test them cost; and those of
//! duplicates that are being made, of which is noted when they are complete.
//!
//! A request is known from the call that makes it to the one that ends it. While none is known, all these calls cost
//! one look at a number. A call that deals with several requests divides its time evenly between those that it
//! completes, or, if it completes none, between all of them; what requests of messages get of it is counted as
//! point-to-point.

use super::hooks::LoggedCall;
use super::messages;
use super::recording::{RecordedCall, record};
use crate::communicator::duplicating;
use crate::communicator::tally::Tally;
use crate::monitor::{
    Bucket, Budget, CommunicatorRecord, CounterId, CounterRecord, Form, Function, Key, MessageCall, NATIVE, Overflow,
    Table,
};
use crate::mpi::constants;
use crate::mpi::error::SUCCESS;
use crate::process::guard;
use crate::process::runtime::{self, Runtime};
use mpi_sys::MPI_Request;
use once_cell::sync::Lazy;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests that one call deals with.
pub type Handles = SmallVec<[MPI_Request; 8]>;

/// What this process knows of them.
pub static REQUESTS: Requests = Requests::none();

/// What the process knows of requests.
pub struct Requests {
    known: AtomicUsize,
    started: Lazy<Mutex<HashMap<usize, SmallVec<[Started; 1]>>>>,
    /// What was recorded, by the communicator's place: apart from its own table, since requests may be waited for on
    /// another thread, and when the communicator is gone.
    recorded: Lazy<Mutex<HashMap<usize, Recorded>>>,
    /// Places of communicators that are gone, while requests of theirs are known.
    left_behind: Lazy<Mutex<HashSet<usize>>>,
}

/// What was recorded of one communicator's requests.
enum Recorded {
    /// As it is counted.
    Counting(Box<Table>),
    /// When nothing more can come: less memory by far.
    Settled { ids: Vec<CounterId>, counters: Vec<CounterRecord>, overflow: Overflow, taken: u64, budget: Arc<Budget> },
}

impl Recorded {
    /// Without anything yet.
    fn within(budget: Arc<Budget>) -> Self {
        Self::Counting(Box::new(Table::within(budget)))
    }

    /// The counters, what they have counted, and the calls that there was no counter for.
    fn told(&self, nanoseconds_per_tick: f64) -> (Vec<CounterId>, Vec<CounterRecord>, Overflow) {
        match self {
            Self::Counting(table) => (table.ids().collect(), table.records(nanoseconds_per_tick), table.overflow()),
            Self::Settled { ids, counters, overflow, .. } => (ids.clone(), counters.clone(), *overflow),
        }
    }

    /// The table to count in. A settled one is not counted in any more: its communicator and all its requests are gone.
    fn table(&mut self) -> Option<&mut Table> {
        match self {
            Self::Counting(table) => Some(table),
            Self::Settled { .. } => None,
        }
    }

    /// Nothing more will be counted: gives back what only counting needs.
    fn settle(&mut self, budget: &Arc<Budget>, nanoseconds_per_tick: f64) {
        let Self::Counting(table) = self else { return };
        let (ids, overflow) = (table.ids().collect(), table.overflow());
        let counters = table.records(nanoseconds_per_tick);
        let bytes = counters.iter().map(CounterRecord::bytes).sum::<usize>() + size_of::<Self>();
        let taken = table.settle(bytes as u64);
        *self = Self::Settled { ids, counters, overflow, taken, budget: Arc::clone(budget) };
    }
}

/// Where the records of communicators have the counters of the tables here: by the communicator's place and the
/// [counter's number](crate::monitor::CounterId::apart).
pub type Apart = HashMap<(usize, u32), usize>;

/// A collective that gave a request.
#[derive(Clone, Copy)]
pub struct Made {
    /// Of its communicator, among those of this rank's record.
    pub place: usize,
    /// The function whose request it is: `MPI_Ix` or `MPI_X_init`.
    pub function: Function,
    /// Signature bytes that this rank contributes.
    pub bytes: u64,
    /// Its root; -1 where there is none.
    pub root: c_int,
    /// Place of datatype and operation.
    pub elements: u16,
}

/// A collective that was started, or can be.
#[derive(Clone, Copy)]
struct Started {
    made: Made,
    /// Time in calls that waited for it and did not complete it.
    ticks: u64,
    /// Whether there is something to wait for.
    active: bool,
}

impl Made {
    fn persistent(&self) -> bool {
        self.function.form == Form::Persistent
    }

    fn wait(&self) -> Function {
        let form = if self.persistent() { Form::PersistentWait } else { Form::NonblockingWait };
        Function { form, ..self.function }
    }
}

impl Requests {
    /// None known.
    pub const fn none() -> Self {
        Self {
            known: AtomicUsize::new(0),
            started: Lazy::new(Mutex::default),
            recorded: Lazy::new(Mutex::default),
            left_behind: Lazy::new(Mutex::default),
        }
    }

    /// Gets to know a request that a call has just made.
    pub fn made(&self, request: MPI_Request, made: Made) {
        if request == constants::request_null() {
            return;
        }
        let started = Started { made, ticks: 0, active: made.function.form == Form::Nonblocking };
        // MPICH gives all calls that are done at once the same request.
        self.started.lock().entry(request.0 as usize).or_default().push(started);
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what was recorded to this rank's records of the communicators, and says where; and the calls that there was
    /// no room for.
    pub fn complete(&self, communicators: &mut [CommunicatorRecord], nanoseconds_per_tick: f64) -> (Apart, Overflow) {
        let (mut apart, mut overflow) = (Apart::new(), Overflow::default());
        for (place, recorded) in self.recorded.lock().iter() {
            let (ids, counters, without_room) = recorded.told(nanoseconds_per_tick);
            overflow.add(without_room);
            let counters = ids.into_iter().map(|id| (*place, id.apart())).zip(counters);
            if let Some(record) = communicators.get_mut(*place).filter(|record| !record.identity.is_empty()) {
                apart.extend(counters.map(|(id, counter)| (id, record.add(counter))));
            } else {
                // There was no room for anything of the communicator itself.
                for (id, CounterRecord { function, calls, bytes, total_ns, .. }) in counters {
                    apart.insert(id, CounterId::overflow(function).number() as usize);
                    let ticks = (total_ns as f64 / nanoseconds_per_tick).round() as u64;
                    overflow.add(Overflow { calls, bytes, ticks });
                }
            }
        }
        (apart, overflow)
    }

    /// Forgets what was recorded.
    pub fn reset(&self) {
        self.recorded.lock().retain(|_, recorded| match recorded {
            Recorded::Counting(table) => {
                table.reset();
                true
            }
            Recorded::Settled { taken, budget, .. } => {
                budget.give(*taken);
                false
            }
        });
    }

    /// The communicator of that place is gone, and when its last request is too, nothing more will be recorded of it.
    pub fn gone(&self, runtime: &Runtime, place: usize) {
        if place != Tally::NOWHERE {
            self.left_behind.lock().insert(place);
            self.settle_if_last(runtime, place);
        }
    }

    /// Settles what was recorded of requests of the communicator, if that is gone and none of them is known any more.
    fn settle_if_last(&self, runtime: &Runtime, place: usize) {
        let is_left = |started: &Started| started.made.place == place;
        let mut left_behind = self.left_behind.lock();
        if !left_behind.contains(&place) || self.started.lock().values().flatten().any(is_left) {
            return;
        }
        left_behind.remove(&place);
        if let Some(recorded) = self.recorded.lock().get_mut(&place) {
            recorded.settle(&runtime.budget, runtime.nanoseconds_per_tick);
        }
    }

    /// Records a call of `ticks`, of which those in `times` (when they began, how many) go into the log.
    fn record(&self, runtime: &Runtime, made: &Made, function: Function, ticks: u64, times: (u64, u64)) {
        if !runtime.recording.load(Ordering::Relaxed) {
            return;
        }
        let Made { place, bytes, root, elements, .. } = *made;
        let table = MutexGuard::try_map(self.recorded.lock(), |recorded| {
            recorded.entry(place).or_insert_with(|| Recorded::within(Arc::clone(&runtime.budget))).table()
        });
        let Ok(mut table) = table else { return };
        let (algorithm, decided_by) = (table.label(NATIVE), table.label("observed only"));
        let counter = table.counter(Key { function, bucket: Bucket::of(bytes), algorithm, decided_by });
        // Bytes are those of the call that started it.
        let moved = if function == made.wait() { 0 } else { bytes };
        let logged = LoggedCall { place, root, counter: counter.apart(), bytes: bytes as usize, elements, times };
        record(runtime, table, &RecordedCall { counter, moved, ticks, called: None, logged });
    }

    /// A call dealt with the request in `times` (when that began, for how many ticks) and completed it or not. Whether
    /// it is a collective's. The log gets the calls that complete one.
    fn waited(&self, runtime: &Runtime, request: MPI_Request, end: End, times: (u64, u64)) -> bool {
        let mut all = self.started.lock();
        let Some(here) = all.get_mut(&(request.0 as usize)) else { return false };
        let Some(started) = here.iter_mut().find(|started| started.active) else { return false };
        started.ticks += times.1;
        if !(if started.made.persistent() { end.reported } else { end.null }) {
            return true;
        }
        let ended = *started;
        if ended.made.persistent() {
            (started.active, started.ticks) = (false, 0);
        } else {
            let place = here.iter().position(|started| started.active).expect("just found");
            here.remove(place);
            self.forget_if_empty(&mut all, request);
        }
        // Before another thread can find that it was the last one of its communicator.
        self.record(runtime, &ended.made, ended.made.wait(), ended.ticks, times);
        drop(all);
        self.settle_if_last(runtime, ended.made.place);
        true
    }

    /// A call started the request again in `times`. Whether it is a collective's.
    fn started_again(&self, runtime: &Runtime, request: MPI_Request, times: (u64, u64)) -> bool {
        let mut all = self.started.lock();
        let here = all.get_mut(&(request.0 as usize));
        let Some(started) = here.and_then(|here| here.iter_mut().find(|started| started.made.persistent())) else {
            return false;
        };
        (started.active, started.ticks) = (true, 0);
        let made = started.made;
        drop(all);
        self.record(runtime, &made, made.function, times.1, times);
        true
    }

    fn freed(&self, request: MPI_Request) {
        let mut all = self.started.lock();
        if let Some(here) = all.get_mut(&(request.0 as usize)) {
            // Since the native call another thread may have been given the same handle, for a request that came later.
            let place = here.remove(0).made.place;
            self.forget_if_empty(&mut all, request);
            drop(all);
            if let Some(runtime) = runtime::get() {
                self.settle_if_last(runtime, place);
            }
        }
    }

    /// One request less is known.
    fn forget_if_empty(&self, all: &mut HashMap<usize, SmallVec<[Started; 1]>>, request: MPI_Request) {
        let key = request.0 as usize;
        if all.get(&key).is_some_and(SmallVec::is_empty) {
            all.remove(&key);
        }
        self.known.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The runtime, if there are requests to look for.
#[inline]
fn interested() -> Option<&'static Runtime> {
    runtime::get().filter(|_| REQUESTS.known.load(Ordering::Relaxed) > 0 || duplicating::are_left())
}

/// What a call did to a request: MPICH 4.0's `mpi_f08` gives wrong indices, so that what becomes of the handle counts
/// wherever it says something.
#[derive(Clone, Copy)]
struct End {
    /// The handle is the null handle now.
    null: bool,
    /// The call's outputs say that it was completed.
    reported: bool,
}

impl End {
    const fn is_any(self) -> bool {
        self.null || self.reported
    }
}

/// A call that waits for requests or tests them: `read` gives them as they are, `done` tells after it which of them it
/// has completed.
#[inline]
pub fn wait(
    call: MessageCall,
    read: impl Fn() -> Handles,
    done: impl Fn(usize) -> bool,
    native: impl Fn() -> c_int,
) -> c_int {
    match interested() {
        None => messages::count(call, || messages::Moved::NOTHING, native),
        Some(runtime) => guard::enter(call.name(), &native, || {
            let before = read();
            let duplicates = duplicates(&before);
            let start = runtime.clock.raw();
            let code = guard::pass_on(&native);
            let ticks = runtime.clock.raw().saturating_sub(start);
            let succeeded = code == SUCCESS;
            let after = read();
            let is_complete = |place: &usize| after[*place] == constants::request_null();
            let completed = duplicates.iter().filter(|(place, _)| is_complete(place));
            completed.for_each(|(_, number)| duplicating::completed(*number));
            let left = waited(runtime, &before, &after, &|place| succeeded && done(place), (start, ticks));
            if let Some(left) = left {
                messages::count_part(call, left);
            }
            code
        }),
    }
}

/// What tells whether a place is among those that `list` gives, which is asked for once, when the native call has written
/// them.
pub fn listed(list: impl Fn() -> Vec<usize>) -> impl Fn(usize) -> bool {
    let sorted = OnceCell::new();
    move |place| {
        let sorted: &Vec<usize> = sorted.get_or_init(|| {
            let mut places = list();
            places.sort_unstable();
            places
        });
        sorted.binary_search(&place).is_ok()
    }
}

/// Those of duplicates that are being made: their places and the duplicates' numbers. Looked for before the native
/// call: after it their handles may be those of later ones.
fn duplicates(requests: &Handles) -> SmallVec<[(usize, usize); 2]> {
    if !duplicating::are_left() {
        return SmallVec::new();
    }
    let numbered = |(place, request): (usize, &MPI_Request)| Some((place, duplicating::of(*request)?));
    requests.iter().enumerate().filter_map(numbered).collect()
}

/// Gives each request of a collective its part of the time (when that began, how many ticks): one after the other,
/// since nobody knows which came when. What is left is that of messages; nothing if there are none.
fn waited(
    runtime: &Runtime,
    before: &Handles,
    after: &Handles,
    reported: &dyn Fn(usize) -> bool,
    (start, ticks): (u64, u64),
) -> Option<u64> {
    let null = constants::request_null();
    let end = |place: usize| End { null: after[place] == null, reported: reported(place) };
    let there = (0..before.len()).filter(|place| before[*place] != null);
    let there: SmallVec<[(usize, End); 8]> = there.map(|place| (place, end(place))).collect();
    let completed = there.iter().filter(|(_, end)| end.is_any()).count() as u64;
    let sharing = if completed > 0 { completed } else { there.len() as u64 };
    let (mut of_collectives, mut of_messages) = (0, there.is_empty());
    for (place, end) in there.into_iter().filter(|(_, end)| completed == 0 || end.is_any()) {
        let times = (start + of_collectives, ticks / sharing);
        if REQUESTS.waited(runtime, before[place], end, times) {
            of_collectives += ticks / sharing;
        } else {
            of_messages = true;
        }
    }
    of_messages.then_some(ticks - of_collectives)
}

/// A call that starts persistent requests.
#[inline]
pub fn start(call: MessageCall, requests: impl Fn() -> Handles, native: impl Fn() -> c_int) -> c_int {
    match interested() {
        None => messages::count(call, || messages::Moved::NOTHING, native),
        Some(runtime) => guard::enter(call.name(), &native, || {
            let requests = requests();
            let start = runtime.clock.raw();
            let code = guard::pass_on(&native);
            let ticks = runtime.clock.raw().saturating_sub(start) / (requests.len() as u64).max(1);
            if code == SUCCESS {
                let again =
                    |at: u64, request| u64::from(REQUESTS.started_again(runtime, request, (start + at * ticks, ticks)));
                let of_collectives = requests.iter().fold(0, |at, request| at + again(at, *request));
                let of_messages = requests.len() as u64 - of_collectives;
                if of_messages > 0 {
                    messages::count_part(call, ticks * of_messages);
                }
            }
            code
        }),
    }
}

/// A call that frees a request.
#[inline]
pub fn free(request: impl Fn() -> MPI_Request, native: impl Fn() -> c_int) -> c_int {
    match interested() {
        None => native(),
        Some(_) => {
            let request = request();
            let duplicate = duplicating::of(request);
            let code = native();
            if code == SUCCESS {
                REQUESTS.freed(request);
                duplicate.into_iter().for_each(duplicating::completed);
            }
            code
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{Budget, COUNTER_BYTES, Collective};

    #[test]
    fn a_handle_given_out_again_is_the_later_requests() {
        let requests = Requests::none();
        let handle = MPI_Request(0x2a as _);
        let function = Function { collective: Collective::Bcast, form: Form::Persistent };
        let known = |requests: &Requests| requests.known.load(Ordering::Relaxed);
        let places = |requests: &Requests| {
            let all = requests.started.lock();
            all.values().flatten().map(|started| started.made.place).collect::<Vec<_>>()
        };
        // One thread has freed the first natively and comes to say so when another has been given its handle.
        let made = Made { place: 1, function, bytes: 8, root: 0, elements: 0 };
        requests.made(handle, made);
        requests.made(handle, Made { place: 2, function: Function { form: Form::Nonblocking, ..function }, ..made });
        requests.freed(handle);
        assert_eq!((places(&requests), known(&requests)), (vec![2], 1));
        requests.freed(handle);
        assert_eq!((places(&requests), known(&requests)), (vec![], 0));
        // Of a handle that nobody knows there is nothing to forget.
        requests.freed(handle);
        assert_eq!(known(&requests), 0);
    }

    #[test]
    fn what_has_no_room_or_no_record_is_told_in_sum() {
        let requests = Requests::none();
        let budget = Arc::new(Budget::of(2 * COUNTER_BYTES));
        for (place, bytes) in [(0, 8), (0, 1024), (2, 8), (7, 8)] {
            let function = Function { collective: Collective::Allreduce, form: Form::NonblockingWait };
            let mut recorded = requests.recorded.lock();
            let recorded = recorded.entry(place).or_insert_with(|| Recorded::within(Arc::clone(&budget)));
            let table = recorded.table().unwrap();
            let label = table.label("native");
            let counter =
                table.counter(Key { function, bucket: Bucket::of(bytes), algorithm: label, decided_by: label });
            table.record(counter, bytes, 10 + place as u64);
        }
        let mut communicators = vec![CommunicatorRecord::default(); 3];
        communicators[0].identity = "world".to_owned();
        let (apart, overflow) = requests.complete(&mut communicators, 1.0);
        // Both of the first communicator's have a counter; the third's and that without a place have none.
        assert_eq!(communicators[0].counters.iter().map(|counter| counter.calls).sum::<u64>(), 2);
        assert_eq!(overflow, Overflow { calls: 2, bytes: 16, ticks: 12 + 17 });
        assert_eq!(apart.len(), 2);
        // Where the communicator itself has no record, what has a counter is told in sum too.
        let (apart, overflow) = requests.complete(&mut [], 1.0);
        assert_eq!((overflow.calls, overflow.ticks), (4, 10 + 10 + 12 + 17));
        assert!(apart.values().all(|number| CounterId::overflow_function(*number as u32).is_some()));
        // Settled, the same is told, of less memory; and that comes back with a reset.
        let before = requests.complete(&mut [], 1.0);
        requests.recorded.lock().values_mut().for_each(|recorded| recorded.settle(&budget, 1.0));
        let told = requests.complete(&mut [], 1.0);
        assert_eq!((&told.1, told.0.len()), (&before.1, before.0.len()));
        assert!(budget.has(COUNTER_BYTES) && !budget.has(2 * COUNTER_BYTES));
        requests.reset();
        assert!(budget.has(2 * COUNTER_BYTES) && requests.complete(&mut [], 1.0).0.is_empty());
    }
}
