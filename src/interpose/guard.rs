//! The boundary between C and Rust: no panic crosses it, and what Collie itself causes is not taken for the program's.

use super::state::Known;
use crate::mpi::constants;
use std::cell::Cell;
use std::os::raw::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a thread keeps from call to call. In one piece, since each look for a thread's own data is a function call.
pub struct Thread {
    /// Whether it is inside Collie.
    pub inside: Cell<bool>,
    /// The communicator of its last call.
    pub last: Cell<Known>,
    activity: Cell<&'static str>,
}

thread_local! {
    /// This thread's.
    pub static THREAD: Thread =
        const { Thread { inside: Cell::new(false), last: Cell::new(Known::NOTHING), activity: Cell::new("") } };
}

/// Runs `ours`, or `native` when this thread is inside Collie already: a reduction function or an attribute callback of
/// the program that calls MPI.
pub fn enter(call: &'static str, native: impl Fn() -> c_int, ours: impl FnOnce() -> c_int) -> c_int {
    if THREAD.with(|thread| thread.inside.replace(true)) {
        return native();
    }
    THREAD.with(|thread| thread.activity.set(call));
    let code = catch_unwind(AssertUnwindSafe(ours)).unwrap_or_else(|cause| abort(&cause));
    THREAD.with(|thread| thread.inside.set(false));
    code
}

/// Tells of a panic and ends the job: going on with one rank out of step would hang the others.
fn abort(cause: &(dyn std::any::Any + Send)) -> c_int {
    let cause = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
    let rank = super::runtime::get().map_or_else(|| "?".to_owned(), |runtime| runtime.world_rank.to_string());
    let context = super::state::last_call();
    let words = format!(
        "rank {rank}: internal error in {}{context}: {}; ending the job",
        THREAD.with(|thread| thread.activity.get()),
        cause.unwrap_or("no message")
    );
    super::log::tell_before_the_end(&words);
    // SAFETY: MPI is initialised where Collie is active; if it is not, abort below ends the process.
    unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), 70) };
    std::process::abort()
}
