//! Requests of collectives: what the calls that start them again, wait for them and test them cost.
//!
//! A request is known from the call that makes it to the one that ends it. While none is known, all these calls cost one
//! look at a number. A call that deals with several requests divides its time evenly between those that it completes, or,
//! if it completes none, between all of them; what requests of messages get of it is counted nowhere.

use crate::monitor::{Bucket, CommunicatorRecord, Form, Function, Key, NATIVE, Table};
use crate::mpi::constants;
use crate::process::guard;
use crate::process::runtime::{self, Runtime};
use mpi_sys::MPI_Request;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests that one call deals with.
pub type Handles = SmallVec<[MPI_Request; 8]>;

/// What the process knows of requests.
#[derive(Default)]
pub struct Requests {
    known: AtomicUsize,
    started: Mutex<HashMap<usize, SmallVec<[Started; 1]>>>,
    /// What was recorded, by the communicator's place: apart from its own table, since requests may be waited for on
    /// another thread, and when the communicator is gone.
    tables: Mutex<HashMap<usize, Table>>,
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
                table.records(nanoseconds_per_tick).into_iter().for_each(|cell| record.add(cell));
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
        let cell = table.cell(Key { function, bucket: Bucket::of(started.bytes), algorithm, decided_by });
        table.record(cell, started.bytes, ticks);
    }

    /// A call of `ticks` dealt with the request and completed it or not.
    fn waited(&self, runtime: &Runtime, request: MPI_Request, end: End, ticks: u64) {
        let mut all = self.started.lock();
        let Some(here) = all.get_mut(&(request.0 as usize)) else { return };
        let Some(started) = here.iter_mut().find(|started| started.active) else { return };
        started.ticks += ticks;
        if !(if started.persistent() { end.told } else { end.null }) {
            return;
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
    }

    /// A call of `ticks` started the request again.
    fn started_again(&self, runtime: &Runtime, request: MPI_Request, ticks: u64) {
        let mut all = self.started.lock();
        let here = all.get_mut(&(request.0 as usize));
        let Some(started) = here.and_then(|here| here.iter_mut().find(|started| started.persistent())) else { return };
        (started.active, started.ticks) = (true, 0);
        let started = *started;
        drop(all);
        self.record(runtime, &started, started.function, ticks);
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
    runtime::get().filter(|runtime| runtime.requests.known.load(Ordering::Relaxed) > 0)
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
    name: &'static str,
    read: impl Fn() -> Handles,
    done: impl Fn(usize) -> bool,
    native: impl Fn() -> c_int,
) -> c_int {
    match interested() {
        None => native(),
        Some(runtime) => guard::enter(name, &native, || {
            let before = read();
            let start = runtime.clock.raw();
            let code = native();
            let ticks = runtime.clock.raw().saturating_sub(start);
            let succeeded = code == mpi_sys::MPI_SUCCESS as c_int;
            waited(runtime, &before, &read(), &|place| succeeded && done(place), ticks);
            code
        }),
    }
}

fn waited(runtime: &Runtime, before: &Handles, after: &Handles, told: &dyn Fn(usize) -> bool, ticks: u64) {
    let null = constants::request_null();
    let there = || (0..before.len()).filter(|place| before[*place] != null);
    let end = |place: usize| End { null: after[place] == null, told: told(place) };
    let ended = |place: &usize| end(*place).null || end(*place).told;
    let completed = there().filter(ended).count() as u64;
    let sharing = if completed > 0 { completed } else { there().count() as u64 };
    for place in there().filter(|place| completed == 0 || ended(place)) {
        runtime.requests.waited(runtime, before[place], end(place), ticks / sharing);
    }
}

/// A call that starts persistent requests.
#[inline]
pub fn start(name: &'static str, requests: impl Fn() -> Handles, native: impl Fn() -> c_int) -> c_int {
    match interested() {
        None => native(),
        Some(runtime) => guard::enter(name, &native, || {
            let requests = requests();
            let start = runtime.clock.raw();
            let code = native();
            let ticks = runtime.clock.raw().saturating_sub(start) / (requests.len() as u64).max(1);
            if code == mpi_sys::MPI_SUCCESS as c_int {
                requests.iter().for_each(|request| runtime.requests.started_again(runtime, *request, ticks));
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
        Some(runtime) => {
            let request = request();
            let code = native();
            if code == mpi_sys::MPI_SUCCESS as c_int {
                runtime.requests.freed(request);
            }
            code
        }
    }
}

/// The C entries.
mod c {
    use super::{Handles, MPI_Request, c_int};
    use crate::mpi::error::throwing;
    use mpi_sys::MPI_Status;

    /// The program's requests; none for a count or address that MPI forbids.
    unsafe fn read(count: c_int, requests: *const MPI_Request) -> Handles {
        let count = usize::try_from(count).unwrap_or(0);
        if requests.is_null() {
            return Handles::new();
        }
        // SAFETY: the program passes that many.
        unsafe { std::slice::from_raw_parts(requests, count) }.into()
    }

    /// Whether `place` is among the first `count` indices.
    unsafe fn among(place: usize, count: c_int, indices: *const c_int) -> bool {
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the native call has written that many.
        count > 0 && unsafe { std::slice::from_raw_parts(indices, count) }.contains(&(place as c_int))
    }

    macro_rules! entries {
        ($($kind:ident $name:ident $native:ident ($($argument:ident: $type:ty),*)
            $requests:expr $(, |$place:ident| $done:expr)?;)*) => {
            $(
                #[doc = concat!("`", stringify!($name), "` of the MPI standard.")]
                ///
                /// # Safety
                /// As the MPI standard says.
                #[unsafe(no_mangle)]
                pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                    // SAFETY: the program's own arguments, passed on as they came.
                    let native = || unsafe { throwing!($native($($type),*))($($argument),*) };
                    entries! {
                        @$kind $name
                        || {
                            // SAFETY: the requests are read as MPI reads them.
                            unsafe { $requests }
                        },
                        native
                        $(, |$place: usize| {
                            // SAFETY: asked for only when the native call has written there.
                            unsafe { $done }
                        })?
                    }
                }
            )*
        };
        (@wait $name:ident $requests:expr, $native:expr) => {
            super::wait(stringify!($name), $requests, |_| true, $native)
        };
        (@wait $name:ident $requests:expr, $native:expr, $done:expr) => {
            super::wait(stringify!($name), $requests, $done, $native)
        };
        (@start $name:ident $requests:expr, $native:expr) => { super::start(stringify!($name), $requests, $native) };
        (@free $name:ident $requests:expr, $native:expr) => { super::free($requests, $native) };
    }

    entries! {
        wait MPI_Wait PMPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) read(1, request);
        wait MPI_Waitall PMPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status)
            read(count, requests);
        wait MPI_Waitany PMPI_Waitany(
            count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status)
            read(count, requests), |place| *index == place as c_int;
        wait MPI_Waitsome PMPI_Waitsome(
            count: c_int, requests: *mut MPI_Request, number: *mut c_int, indices: *mut c_int,
            statuses: *mut MPI_Status)
            read(count, requests), |place| among(place, *number, indices);
        wait MPI_Test PMPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status)
            read(1, request), |_place| *flag != 0;
        wait MPI_Testall PMPI_Testall(
            count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status)
            read(count, requests), |_place| *flag != 0;
        wait MPI_Testany PMPI_Testany(
            count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status)
            read(count, requests), |place| *flag != 0 && *index == place as c_int;
        wait MPI_Testsome PMPI_Testsome(
            count: c_int, requests: *mut MPI_Request, number: *mut c_int, indices: *mut c_int,
            statuses: *mut MPI_Status)
            read(count, requests), |place| among(place, *number, indices);
        start MPI_Start PMPI_Start(request: *mut MPI_Request) read(1, request);
        start MPI_Startall PMPI_Startall(count: c_int, requests: *mut MPI_Request) read(count, requests);
        free MPI_Request_free PMPI_Request_free(request: *mut MPI_Request) *request;
    }
}

/// The Fortran entries: all of Open MPI's bindings, and those of MPICH's `mpi_f08`, call PMPI past the C symbols.
mod fortran {
    use super::{Handles, MPI_Request, c_int};
    use crate::mpi::family;
    #[cfg(mpi_family = "openmpi")]
    use crate::process::native::find;
    #[cfg(mpi_family = "mpich")]
    use crate::process::native::find_next as find;
    use std::os::raw::c_void;
    use std::sync::atomic::AtomicPtr;

    /// A request as C would have passed it.
    unsafe fn request(handle: *mut c_int) -> MPI_Request {
        // SAFETY: Fortran passes a valid address.
        family::request_of_fortran(unsafe { *handle })
    }

    /// The program's requests.
    unsafe fn read(count: *mut c_int, requests: *mut c_int) -> Handles {
        // SAFETY: Fortran passes that many.
        unsafe {
            let count = usize::try_from(*count).unwrap_or(0);
            (0..count).map(|place| request(requests.add(place))).collect()
        }
    }

    /// Whether `place` is among the first `number` indices, which count from 1.
    unsafe fn among(place: usize, number: *mut c_int, indices: *mut c_int) -> bool {
        // SAFETY: the native call has written that many.
        unsafe {
            let number = usize::try_from(*number).unwrap_or(0);
            (0..number).any(|index| *indices.add(index) == place as c_int + 1)
        }
    }

    /// Entries under the four names that compilers give an external procedure, and that of `mpi_f08`. What they call has
    /// the name with a P where the library has such procedures; the next of the same name otherwise.
    macro_rules! entries {
        (@one $kind:ident $symbol:expr, $native:expr,
            { ($($argument:ident)*) $requests:expr $(, |$place:ident| $done:expr)? }) => {
            const _: () = {
                /// # Safety
                /// As the MPI standard says of the Fortran binding.
                #[unsafe(export_name = $symbol)]
                unsafe extern "C-unwind" fn entry($($argument: *mut c_int,)* ierror: *mut c_int) {
                    type Native = unsafe extern "C-unwind" fn($(entries!(@pointer $argument),)* *mut c_int);
                    static NATIVE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                    // SAFETY: the library's procedure of that name takes these arguments.
                    let native: Native = unsafe { std::mem::transmute(find(&NATIVE, $native)) };
                    let native = || {
                        // SAFETY: the program's own arguments, passed on as they came.
                        unsafe { native($($argument,)* ierror) };
                        if ierror.is_null() {
                            mpi_sys::MPI_SUCCESS as c_int
                        } else {
                            // SAFETY: the native procedure has just written there.
                            unsafe { *ierror }
                        }
                    };
                    // SAFETY: read as MPI reads and writes them.
                    entries! { @$kind || unsafe { $requests }, native $(, |$place: usize| unsafe { $done })? };
                }
            };
        };
        (@wait $requests:expr, $native:expr) => { super::wait("wait", $requests, |_| true, $native) };
        (@wait $requests:expr, $native:expr, $done:expr) => { super::wait("wait", $requests, $done, $native) };
        (@start $requests:expr, $native:expr) => { super::start("start", $requests, $native) };
        (@free $requests:expr, $native:expr) => { super::free($requests, $native) };
        (@pointer $argument:ident) => { *mut c_int };
        (@named $kind:ident $lower:ident $before:literal [$($ending:literal)+] $rest:tt) => {
            $(entries! {
                @one $kind concat!("mpi_", stringify!($lower), $ending),
                concat!($before, "mpi_", stringify!($lower), $ending, "\0"), $rest
            })+
        };
        ($($kind:ident $lower:ident $upper:ident $arguments:tt $requests:expr $(, |$place:ident| $done:expr)?;)*) => {
            $(
                #[cfg(mpi_family = "mpich")]
                entries! { @named $kind $lower "" ["_f08_"] { $arguments $requests $(, |$place| $done)? } }
                #[cfg(mpi_family = "openmpi")]
                entries! {
                    @named $kind $lower "p" ["" "_" "__" "_f08_"] { $arguments $requests $(, |$place| $done)? }
                }
                #[cfg(mpi_family = "openmpi")]
                entries! {
                    @one $kind concat!("MPI_", stringify!($upper)), concat!("PMPI_", stringify!($upper), "\0"),
                    { $arguments $requests $(, |$place| $done)? }
                }
            )*
        };
    }

    entries! {
        wait wait WAIT (handle status) Handles::from_slice(&[request(handle)]);
        wait waitall WAITALL (count handles statuses) read(count, handles);
        wait waitany WAITANY (count handles index status) read(count, handles), |place| *index == place as c_int + 1;
        wait waitsome WAITSOME (count handles number indices statuses) read(count, handles),
            |place| among(place, number, indices);
        wait test TEST (handle flag status) Handles::from_slice(&[request(handle)]), |_place| *flag != 0;
        wait testall TESTALL (count handles flag statuses) read(count, handles), |_place| *flag != 0;
        wait testany TESTANY (count handles index flag status) read(count, handles),
            |place| *flag != 0 && *index == place as c_int + 1;
        wait testsome TESTSOME (count handles number indices statuses) read(count, handles),
            |place| among(place, number, indices);
        start start START (handle) Handles::from_slice(&[request(handle)]);
        start startall STARTALL (count handles) read(count, handles);
        free request_free REQUEST_FREE (handle) request(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Collective;

    #[test]
    fn a_handle_given_out_again_is_the_later_requests() {
        let requests = Requests::default();
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
