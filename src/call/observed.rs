//! A call that is only observed: passed to PMPI, timed and counted. Such are the collectives that are not replaced, and
//! the starts of the nonblocking and persistent ones.
//!
//! Observing asks no other rank anything, so a communicator may be seen here long before its ranks agree on something,
//! or without their ever doing so.

use super::attachment::Attached;
use super::begin::{Outside, begin};
use super::counting;
use super::hooks::{self, LoggedCall, WaitedCall, Waiting};
use super::line::log_call;
use super::part::{Part, nothing};
use super::recording::{RecordedCall, record};
use super::registry;
use super::requests::{Made, REQUESTS};
use crate::monitor::{Form, Function};
use crate::mpi::constants;
use crate::mpi::error::{Error, SUCCESS, is_of_arguments};
use crate::process::flags::{self, CONCURRENT};
use crate::process::guard;
use crate::process::runtime::{self, Runtime};
use mpi_sys::{MPI_Comm, MPI_Request};
use std::cell::Cell;
use std::os::raw::c_int;
use std::sync::atomic::Ordering;

/// Passes a call to PMPI and counts it; `made` gives the request that it made, if it makes one. Gives what PMPI
/// returned. Compiled once for all entries, of which there are hundreds.
pub fn observe(
    function: Function,
    comm: MPI_Comm,
    root: c_int,
    part: &dyn Fn() -> Part,
    made: &dyn Fn() -> MPI_Request,
    native: &dyn Fn() -> c_int,
) -> c_int {
    let hidden = Cell::new(false);
    let code = guard::enter_call(function.name(), native, || match runtime::get() {
        Some(runtime) if comm != constants::comm_null() => {
            timed(runtime, function, comm, root, (part, made), (native, &hidden))
        }
        _ => guard::pass_on(native),
    });
    // Its handler knows by now.
    if hidden.get() { SUCCESS } else { code }
}

/// `hidden` becomes true where the program is to hear of an error from its handler alone, as it does natively.
fn timed(
    runtime: &'static Runtime,
    function: Function,
    comm: MPI_Comm,
    root: c_int,
    (part, made): (&dyn Fn() -> Part, &dyn Fn() -> MPI_Request),
    (native, hidden): (&dyn Fn() -> c_int, &Cell<bool>),
) -> c_int {
    let attachment = match registry::of(runtime, comm) {
        Ok(attachment) => attachment,
        Err(unknown) => return unknown.end(native),
    };
    // SAFETY: the communicator is alive while a call on it is.
    if unsafe { &*attachment }.is_in_use() {
        return native();
    }
    let start = runtime.clock.raw();
    // SAFETY: the communicator is alive while a call on it is; calls that other calls make do not come here.
    let (mut attached, _watching) = unsafe { begin(runtime, &*attachment, function, start) };
    // SAFETY: just held; references into it are made anew after each.
    let outside = unsafe { Outside::new(&*attachment, native) };
    // Calls that only start something must not wait for other ranks.
    let blocking = function.form == Form::Blocking;
    let waiting = if blocking { prepare_to_wait(runtime, &mut attached) } else { None };
    let waited = waiting.and_then(|waiting| outside.wait(|| waiting.before(runtime, &attached.communicator, true)));
    // What has failed must not be taken for what has succeeded: its arguments may be anything. Not where another thread's
    // errors on the communicator would be kept from the handler meanwhile.
    let returned = if flags::is_set(CONCURRENT) { None } else { counting::returned(comm) };
    let code = outside.native();
    let is_hidden = code != SUCCESS && returned.is_some();
    drop(returned);
    let communicator = &mut attached.communicator;
    let ticks = runtime.clock.raw().saturating_sub(start);
    let mut call = None;
    if code == SUCCESS {
        // Between two groups the arguments that count depend on the side.
        let mut part = if communicator.facts.inter { nothing() } else { part() };
        let bytes = part.bytes.count(comm, communicator.facts.rank, communicator.facts.size);
        if bytes == 0 {
            // The type of nothing may be anything.
            part.datatype = constants::datatype_null();
        }
        let counter = communicator.tally.observed_counter(function, bytes);
        let (place, times) = (communicator.tally.place, (start, ticks));
        let recording = runtime.recording.load(Ordering::Relaxed);
        // Only what comes into the log has a place in it.
        let log = hooks::log().filter(|_| recording || !blocking);
        let elements = log.map_or(0, |log| log.elements(part.datatype, part.op));
        if !blocking {
            REQUESTS.made(made(), Made { place, function, bytes, root, elements });
        }
        if recording {
            // What is only made ready moves nothing: its starts do.
            let moved = if function.form == Form::Persistent { 0 } else { bytes };
            let number = counter.number();
            let logged = LoggedCall { place, root, counter: number, bytes: bytes as usize, elements, times };
            let called = Some(function);
            let table = &mut communicator.tally.table;
            record(runtime, table, &RecordedCall { counter, moved, ticks, called, logged });
            if log::log_enabled!(log::Level::Trace) {
                log_call(runtime, communicator, function.name(), root, (counter, bytes as usize), ticks);
            }
        }
        call = Some(WaitedCall { function, counter, times });
    }
    // Of a call that failed here, too: the other ranks count it, unless it was refused, and is none that they make.
    if let (Some(waited), Some(waiting)) = (waited, waiting) {
        match code != SUCCESS && is_of_arguments(code) {
            true => waiting.refused(runtime, communicator, waited),
            false => waiting.after(runtime, communicator, waited, call),
        }
    }
    if is_hidden {
        hidden.set(true);
        guard::raise(comm, Error(code), function.name());
    }
    code
}

/// Who waits for the other ranks first, where waiting is separated from working. They may not have agreed on anything
/// yet.
fn prepare_to_wait(runtime: &Runtime, attached: &mut Attached) -> Option<&'static dyn Waiting> {
    let waiting = hooks::waiting()?;
    if attached.communicator.never().is_none() && attached.communicator.agreed.is_none() {
        let agreed = attached.agree(runtime);
        let made = agreed.and_then(|()| waiting.prepare(runtime, &mut attached.communicator));
        if let Err(error) = made {
            log::error!("waiting is not measured on a communicator: {error}");
        }
    }
    Some(waiting)
}
