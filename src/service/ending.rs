//! Ends that come without `MPI_Finalize`: `exit`, and `SIGTERM` as batch systems and launchers send it, where the
//! program left its default action in place. Each rank that comes to such an end writes what it knows first, as before
//! `MPI_Abort`.

use super::deadline::{self, Cut};
use super::partial::{self, OnStderr};
use super::places;
use super::signals::{action, set_action};
use super::unseen;
use crate::call::attachment::Visit;
use crate::communicator::segment;
use crate::process::runtime::{self, Runtime};
use std::os::raw::{c_int, c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, Ordering};

/// How far the last report is: one of the two below, or the system's number of the thread that writes it, which is
/// positive.
static LAST: AtomicI64 = AtomicI64::new(NONE_YET);

const NONE_YET: i64 = 0;
const DONE: i64 = -1;

/// How long it is waited for it, nanoseconds at once.
const POLL: c_long = 1_000_000;

/// The process that listens; 0 for none. One that it forks does not.
static LISTENING: AtomicU32 = AtomicU32::new(0);

/// Listens from now on, if somebody wants reports.
pub fn listen(runtime: &Runtime) {
    if !places::files(runtime).take_single_ranks() {
        return;
    }
    LISTENING.store(std::process::id(), Ordering::SeqCst);
    // SAFETY: the function stays where it is, as the library is never unloaded. Where there is no room for one more, the
    // status of a report that is cut off is that of a failure.
    unsafe { on_exit(exits_with, std::ptr::null_mut()) };
    if action(libc::SIGTERM).is_some_and(|now| now.sa_sigaction == libc::SIG_DFL) {
        set_action(libc::SIGTERM, handler());
    }
}

/// The end is the usual one.
pub fn ignore() {
    LISTENING.store(0, Ordering::SeqCst);
    if action(libc::SIGTERM).is_some_and(|now| now.sa_sigaction == handler()) {
        set_action(libc::SIGTERM, libc::SIG_DFL);
    }
}

/// Writes this rank's last report, bounded in time; nothing if there has been one. If another thread is writing it,
/// waits for that, as the process may end afterwards; if this thread is, what has interrupted it goes on.
pub fn last_report(runtime: &Runtime, cut: Cut) {
    if LAST.compare_exchange(NONE_YET, this_thread(), Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return wait_for_writer();
    }
    segment::remove_names();
    // The job ends either way.
    drop(deadline::bounded(cut, || {
        if let Cut::Exit(_) = cut {
            flush_output();
        }
        catch_unwind(AssertUnwindSafe(|| {
            let (when, on_stderr) = match cut {
                Cut::Abort(code) => (format!("before MPI_Abort with code {code}"), OnStderr::EachRank),
                Cut::Signal(_) => ("at SIGTERM".to_owned(), OnStderr::FirstRank),
                Cut::Exit(_) => ("at exit without MPI_Finalize".to_owned(), OnStderr::FirstRank),
            };
            partial::report(runtime, &when, Visit::AnyTime, on_stderr);
        }))
    }));
    LAST.store(DONE, Ordering::SeqCst);
}

/// Waits until another thread has written the last report, no longer than that may take. Handlers may do so.
fn wait_for_writer() {
    let polls = deadline::SECONDS * 1_000_000_000 / POLL;
    for _ in 0..polls {
        if [DONE, this_thread()].contains(&LAST.load(Ordering::SeqCst)) {
            return;
        }
        let time = libc::timespec { tv_sec: 0, tv_nsec: POLL };
        // SAFETY: the time is valid for reads; the rest is not asked for.
        unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
    }
}

fn this_thread() -> i64 {
    // SAFETY: only asks.
    unsafe { libc::syscall(libc::SYS_gettid) }
}

/// What `MPI_Abort` does besides `native`.
pub fn abort(code: c_int, native: impl Fn() -> c_int) -> c_int {
    segment::remove_names();
    if let Some(runtime) = runtime::get().filter(|runtime| places::files(runtime).take_single_ranks()) {
        last_report(runtime, Cut::Abort(code));
    }
    native()
}

fn listening() -> Option<&'static Runtime> {
    if LISTENING.load(Ordering::SeqCst) == std::process::id() { runtime::known() } else { None }
}

fn handler() -> libc::sighandler_t {
    let handler: extern "C" fn(c_int) = terminated;
    handler as *const () as libc::sighandler_t
}

/// What is interrupted never goes on, so the report is written here, as before an `MPI_Abort` in a handler; then the
/// signal does what it would have done.
extern "C" fn terminated(signal: c_int) {
    if let Some(runtime) = listening() {
        last_report(runtime, Cut::Signal(signal));
        if LAST.load(Ordering::SeqCst) != DONE {
            // By what was interrupted, or another thread that takes long, and the process ends when it is written.
            return;
        }
    }
    set_action(signal, libc::SIG_DFL);
    // SAFETY: may be called by handlers. The signal is blocked until this one returns.
    unsafe { libc::raise(signal) };
}

/// Runs when the program's own functions for the end have.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    segment::remove_names();
    unseen::tell_if_past();
    // The program's libraries have functions for the end as well, and one of them may still end MPI. What is added now runs
    // when all of theirs have.
    // SAFETY: the function stays where it is, as the library is never unloaded.
    if listening().is_none() || unsafe { on_exit(after_all, std::ptr::null_mut()) } == 0 {
        return;
    }
    after_all(STATUS.load(Ordering::SeqCst), std::ptr::null_mut());
}

extern "C" fn after_all(status: c_int, _: *mut c_void) {
    if let Some(runtime) = listening() {
        last_report(runtime, Cut::Exit(status));
    }
}

/// The status that the process exits with, once it does.
static STATUS: AtomicI32 = AtomicI32::new(libc::EXIT_FAILURE);

unsafe extern "C" {
    /// The C library's standard output.
    static stdout: *mut libc::FILE;
    /// As `atexit`, with a function that is told the status: an extension of glibc.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Remembers it.
extern "C" fn exits_with(status: c_int, _: *mut c_void) {
    STATUS.store(status, Ordering::SeqCst);
}

/// Writes out what the program has printed: it would be lost if the report was cut off.
fn flush_output() {
    // SAFETY: the stream is there as long as the process.
    unsafe { libc::fflush(stdout) };
}
