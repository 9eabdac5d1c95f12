//! A call that is only observed: passed to PMPI, timed and counted. Such are the collectives that are not replaced, and the
//! starts of the nonblocking and persistent ones.
//!
//! Observing asks no other rank anything, so a communicator may be seen here long before its ranks agree on something,
//! or without their ever doing so.

use super::line::log_call;
use super::part::{Part, nothing};
use crate::communicator::state;
use crate::monitor::{Form, Function};
use crate::mpi::constants;
use crate::process::runtime::{self, Runtime};
use crate::process::{flags, guard};
use crate::service::{synchronise, trace};
use mpi_sys::{MPI_Comm, MPI_Request};
use std::os::raw::c_int;
use std::sync::atomic::Ordering;

/// Passes a call to PMPI and counts it; `made` gives the request that it made, if it makes one. Gives what PMPI returned.
/// Compiled once for all entries, of which there are hundreds.
pub fn observe(
    function: Function,
    comm: MPI_Comm,
    root: c_int,
    part: &dyn Fn() -> Part,
    made: &dyn Fn() -> MPI_Request,
    native: &dyn Fn() -> c_int,
) -> c_int {
    guard::enter(function.name(), native, || match runtime::get() {
        Some(runtime) if comm != constants::comm_null() => timed(runtime, function, comm, root, (part, made), native),
        _ => native(),
    })
}

fn timed(
    runtime: &'static Runtime,
    function: Function,
    comm: MPI_Comm,
    root: c_int,
    (part, made): (&dyn Fn() -> Part, &dyn Fn() -> MPI_Request),
    native: &dyn Fn() -> c_int,
) -> c_int {
    let Ok(shared) = state::of(runtime, comm) else { return native() };
    let start = runtime.clock.raw();
    // SAFETY: the communicator is alive while a call on it is; calls that other calls make do not come here.
    let (mut state, _watching) = unsafe { flags::call(runtime, &*shared, function, start) };
    let state = &mut *state;
    // Calls that only start something must not wait for other ranks.
    let blocking = function.form == Form::Blocking;
    let waited = if blocking { synchronise::before_observed(runtime, state) } else { None };
    let code = native();
    let ticks = runtime.clock.raw().saturating_sub(start);
    if code == mpi_sys::MPI_SUCCESS as c_int {
        // Between two groups the arguments that count depend on the side.
        let part = if state.inter { nothing() } else { part() };
        let bytes = part.bytes.count(comm, state.rank, state.size);
        let cell = state.observed_cell(function, bytes);
        if !blocking {
            runtime.requests.made(made(), state.place, function, bytes);
        }
        if runtime.recording.load(Ordering::Relaxed) {
            state.table.record(cell, bytes, ticks);
            let call = (cell, bytes as usize);
            if let Some(events) = &runtime.events {
                let elements = trace::elements_of(runtime, part.datatype, part.op);
                trace::push(runtime, events, state.place, root, (cell, bytes as usize, elements), (start, ticks));
            }
            if log::log_enabled!(log::Level::Trace) {
                log_call(runtime, state, function.name(), root, call, ticks);
            }
        }
        if let Some(waited) = waited {
            synchronise::after(runtime, state, (function, cell), (start, ticks), waited);
        }
    }
    code
}
