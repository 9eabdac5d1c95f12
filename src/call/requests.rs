//! Requests of collectives: what the calls that start them again, wait for them and test them cost.
//!
//! A request is known from the call that makes it to the one that ends it. While none is known, all these calls cost one
//! look at a number. A call that deals with several requests divides its time evenly between those that it completes, or,
//! if it completes none, between all of them; what requests of messages get of it is counted as point-to-point.

use super::messages;
use crate::monitor::{Bucket, CommunicatorRecord, Form, Function, Key, MessageCall, NATIVE, Table};
use crate::mpi::constants;
use crate::process::guard;
use crate::process::runtime::{self, Runtime};
use mpi_sys::MPI_Request;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashMap;
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
    tables: Lazy<Mutex<HashMap<usize, Table>>>,
}

/// A collective that was started, or can be.
#[derive(Clone, Copy)]
struct Started {
    place: usize,
    /// The function whose request it is: `MPI_Ix` or `MPI_X_init`.
    function: Function,
    bytes: u64,
    /// Time in calls that waited for it and did not complete it.
    ticks: u64,
    /// Whether there is something to wait for.
    active: bool,
}

impl Started {
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
        Self { known: AtomicUsize::new(0), started: Lazy::new(Mutex::default), tables: Lazy::new(Mutex::default) }
    }

    /// Gets to know a request that `function` has just made on the communicator at `place`.
    pub fn made(&self, request: MPI_Request, place: usize, function: Function, bytes: u64) {
        if request == constants::request_null() {
            return;
        }
        let active = function.form == Form::Nonblocking;
        let started = Started { place, function, bytes, ticks: 0, active };
        // MPICH gives all calls that are done at once the same request.
        self.started.lock().entry(request.0 as usize).or_default().push(started);
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what was recorded to this rank's records of the communicators.
    pub fn complete(&self, communicators: &mut [CommunicatorRecord], nanoseconds_per_tick: f64) {
        for (place, table) in self.tables.lock().iter() {
            if let Some(record) = communicators.get_mut(*place).filter(|record| !record.identity.is_empty()) {
                table.records(nanoseconds_per_tick).into_iter().for_each(|counter| record.add(counter));
            }
        }
    }

    /// Forgets what was recorded.
    pub fn reset(&self) {
        self.tables.lock().clear();
    }

    fn record(&self, runtime: &Runtime, started: &Started, function: Function, ticks: u64) {
        if !runtime.recording.load(Ordering::Relaxed) {
            return;
        }
        let mut tables = self.tables.lock();
        let table = tables.entry(started.place).or_insert_with(|| Table::within(Arc::clone(&runtime.budget)));
        let (algorithm, decided_by) = (table.label(NATIVE), table.label("observed only"));
        let counter = table.counter(Key { function, bucket: Bucket::of(started.bytes), algorithm, decided_by });
        table.record(counter, started.bytes, ticks);
        guard::count(0, ticks);
    }

    /// A call of `ticks` dealt with the request and completed it or not. Whether it is a collective's.
    fn waited(&self, runtime: &Runtime, request: MPI_Request, end: End, ticks: u64) -> bool {
        let mut all = self.started.lock();
        let Some(here) = all.get_mut(&(request.0 as usize)) else { return false };
        let Some(started) = here.iter_mut().find(|started| started.active) else { return false };
        started.ticks += ticks;
        if !(if started.persistent() { end.told } else { end.null }) {
            return true;
        }
        let ended = *started;
        if ended.persistent() {
            (started.active, started.ticks) = (false, 0);
        } else {
            let place = here.iter().position(|started| started.active).expect("just found");
            here.remove(place);
            self.forget_if_empty(&mut all, request);
        }
        drop(all);
        self.record(runtime, &ended, ended.wait(), ended.ticks);
        true
    }

    /// A call of `ticks` started the request again. Whether it is a collective's.
    fn started_again(&self, runtime: &Runtime, request: MPI_Request, ticks: u64) -> bool {
        let mut all = self.started.lock();
        let here = all.get_mut(&(request.0 as usize));
        let Some(started) = here.and_then(|here| here.iter_mut().find(|started| started.persistent())) else {
            return false;
        };
        (started.active, started.ticks) = (true, 0);
        let started = *started;
        drop(all);
        self.record(runtime, &started, started.function, ticks);
        true
    }

    fn freed(&self, request: MPI_Request) {
        let mut all = self.started.lock();
        if let Some(here) = all.get_mut(&(request.0 as usize)) {
            // Since the native call another thread may have been given the same handle, for a request that came later.
            here.remove(0);
            self.forget_if_empty(&mut all, request);
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
    runtime::get().filter(|_| REQUESTS.known.load(Ordering::Relaxed) > 0)
}

/// What a call did to a request: MPICH 4.0's `mpi_f08` gives wrong indices, so that what becomes of the handle counts
/// wherever it says something.
#[derive(Clone, Copy)]
struct End {
    /// The handle is the null handle now.
    null: bool,
    /// The call's outputs say that it was completed.
    told: bool,
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
        None => messages::count(call, || 0, native),
        Some(runtime) => guard::enter(call.name(), &native, || {
            let before = read();
            let start = runtime.clock.raw();
            let code = native();
            let ticks = runtime.clock.raw().saturating_sub(start);
            let succeeded = code == mpi_sys::MPI_SUCCESS as c_int;
            let left = waited(runtime, &before, &read(), &|place| succeeded && done(place), ticks);
            if let Some(left) = left {
                messages::count_part(call, left);
            }
            code
        }),
    }
}

/// Gives each request of a collective its part of the time. What is left is that of messages; nothing if there are none.
fn waited(
    runtime: &Runtime,
    before: &Handles,
    after: &Handles,
    told: &dyn Fn(usize) -> bool,
    ticks: u64,
) -> Option<u64> {
    let null = constants::request_null();
    let there = || (0..before.len()).filter(|place| before[*place] != null);
    let end = |place: usize| End { null: after[place] == null, told: told(place) };
    let ended = |place: &usize| end(*place).null || end(*place).told;
    let completed = there().filter(ended).count() as u64;
    let sharing = if completed > 0 { completed } else { there().count() as u64 };
    let (mut left, mut of_messages) = (ticks, there().next().is_none());
    for place in there().filter(|place| completed == 0 || ended(place)) {
        if REQUESTS.waited(runtime, before[place], end(place), ticks / sharing) {
            left -= ticks / sharing;
        } else {
            of_messages = true;
        }
    }
    of_messages.then_some(left)
}

/// A call that starts persistent requests.
#[inline]
pub fn start(call: MessageCall, requests: impl Fn() -> Handles, native: impl Fn() -> c_int) -> c_int {
    match interested() {
        None => messages::count(call, || 0, native),
        Some(runtime) => guard::enter(call.name(), &native, || {
            let requests = requests();
            let start = runtime.clock.raw();
            let code = native();
            let ticks = runtime.clock.raw().saturating_sub(start) / (requests.len() as u64).max(1);
            if code == mpi_sys::MPI_SUCCESS as c_int {
                let of_collectives = |request: &&MPI_Request| REQUESTS.started_again(runtime, **request, ticks);
                let of_messages = requests.len() - requests.iter().filter(of_collectives).count();
                if of_messages > 0 {
                    messages::count_part(call, ticks * of_messages as u64);
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
            let code = native();
            if code == mpi_sys::MPI_SUCCESS as c_int {
                REQUESTS.freed(request);
            }
            code
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Collective;

    #[test]
    fn a_handle_given_out_again_is_the_later_requests() {
        let requests = Requests::none();
        let handle = MPI_Request(0x2a as _);
        let function = Function { collective: Collective::Bcast, form: Form::Persistent };
        let known = |requests: &Requests| requests.known.load(Ordering::Relaxed);
        let places = |requests: &Requests| {
            let all = requests.started.lock();
            all.values().flatten().map(|started| started.place).collect::<Vec<_>>()
        };
        // One thread has freed the first natively and comes to say so when another has been given its handle.
        requests.made(handle, 1, function, 8);
        requests.made(handle, 2, Function { form: Form::Nonblocking, ..function }, 8);
        requests.freed(handle);
        assert_eq!((places(&requests), known(&requests)), (vec![2], 1));
        requests.freed(handle);
        assert_eq!((places(&requests), known(&requests)), (vec![], 0));
        // Of a handle that nobody knows there is nothing to forget.
        requests.freed(handle);
        assert_eq!(known(&requests), 0);
    }
}
