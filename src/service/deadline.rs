//! A bound on the time of what is done before the end of a job. Programs call `MPI_Abort` from signal handlers, and
//! `SIGTERM` is one, where the interrupted function may hold a lock that the report needs, the allocator's for
//! instance, or may have left memory in disorder: the job must end all the same. A timer of this thread, and signals of
//! crashes, cut the report off.
//!
//! Between arming and disarming nothing is called that may itself wait for such a lock.

use super::signals::set_action;
use crate::mpi::{constants, words};
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

/// Seconds for the report, and for the native `MPI_Abort` once the report was cut off.
pub const SECONDS: libc::time_t = 3;

/// What cuts off: the timer, and crashes.
const SIGNALS: [c_int; 6] = [libc::SIGALRM, libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// How the process ends once the report was cut off.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// By `MPI_Abort` with this code.
    Abort(c_int),
    /// By this signal.
    Signal(c_int),
    /// By exiting with this status, as it was about to.
    Exit(c_int),
}

static WAY: AtomicU8 = AtomicU8::new(ABORT);
/// Of `MPI_Abort`, or the signal.
static CODE: AtomicI32 = AtomicI32::new(0);
static TIMER: AtomicI32 = AtomicI32::new(-1);
static PHASE: AtomicU8 = AtomicU8::new(IDLE);

const ABORT: u8 = 0;
const SIGNAL: u8 = 1;
const EXIT: u8 = 2;

const IDLE: u8 = 0;
const REPORTING: u8 = 1;
const ABORTING: u8 = 2;

/// Tells this timer's signals from the program's own.
static MARK: u8 = 0;

/// Runs `action`; the process ends the way of `cut` if that does not end in time, or crashes. Nothing is bounded where
/// another thread does the same, or the system has no timer left.
pub fn bounded<T>(cut: Cut, action: impl FnOnce() -> T) -> T {
    if PHASE.compare_exchange(IDLE, REPORTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return action();
    }
    let (way, code) = match cut {
        Cut::Abort(code) => (ABORT, code),
        Cut::Signal(signal) => (SIGNAL, signal),
        Cut::Exit(status) => (EXIT, status),
    };
    WAY.store(way, Ordering::SeqCst);
    CODE.store(code, Ordering::SeqCst);
    let before = SIGNALS.map(take);
    let mask = unblock();
    let armed = create_timer() && set_timer();
    let result = action();
    if armed {
        // SAFETY: the timer was made above.
        unsafe { libc::syscall(libc::SYS_timer_delete, TIMER.load(Ordering::SeqCst)) };
    }
    // SAFETY: what the system gave out.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut()) };
    for (signal, before) in SIGNALS.iter().zip(before) {
        // SAFETY: as above.
        unsafe { libc::sigaction(*signal, &before, std::ptr::null_mut()) };
    }
    PHASE.store(IDLE, Ordering::SeqCst);
    result
}

/// Has a signal cut off; gives what was done at it before.
fn take(signal: c_int) -> libc::sigaction {
    type Informed = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    let handler: Informed = cut_off;
    let mut before = MaybeUninit::zeroed();
    // SAFETY: all zeros is a valid value; the out-parameter is valid for writes.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handler as *const () as libc::sighandler_t;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(signal, &ours, before.as_mut_ptr());
        before.assume_init()
    }
}

/// Lets the signals come, also within a handler of one of them; gives the mask before.
fn unblock() -> libc::sigset_t {
    let (mut wanted, mut before) = (MaybeUninit::zeroed(), MaybeUninit::zeroed());
    // SAFETY: the set is emptied before it is filled; the out-parameter is valid for writes.
    unsafe {
        libc::sigemptyset(wanted.as_mut_ptr());
        for signal in SIGNALS {
            libc::sigaddset(wanted.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, wanted.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

/// Makes a timer that signals this thread. Asked of the system itself: the C library's function may allocate.
fn create_timer() -> bool {
    let mut timer: c_int = -1;
    // SAFETY: all zeros is a valid value; the out-parameter is valid for writes.
    let code = unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_value.sival_ptr = (&raw const MARK).cast_mut().cast();
        event.sigev_signo = libc::SIGALRM;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as c_int;
        libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer)
    };
    TIMER.store(timer, Ordering::SeqCst);
    code == 0
}

/// Has the timer go off once, from now.
fn set_timer() -> bool {
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let time = libc::itimerspec { it_interval: zero, it_value: libc::timespec { tv_sec: SECONDS, tv_nsec: 0 } };
    let null = std::ptr::null_mut::<c_void>();
    // SAFETY: the timer was made above; the time is valid for reads.
    unsafe { libc::syscall(libc::SYS_timer_settime, TIMER.load(Ordering::SeqCst), 0, &raw const time, null) == 0 }
}

/// Ends the job without the report, and the process if the MPI library does not come to an end either.
extern "C" fn cut_off(signal: c_int, information: *mut libc::siginfo_t, _: *mut c_void) {
    if signal == libc::SIGALRM {
        // SAFETY: the system passes valid information.
        let (code, mark) = unsafe { ((*information).si_code, (*information).si_value().sival_ptr) };
        if code != libc::SI_TIMER || mark.cast_const() != (&raw const MARK).cast() {
            return;
        }
    }
    let code = CODE.load(Ordering::SeqCst);
    if PHASE.swap(ABORTING, Ordering::SeqCst) == REPORTING {
        let told: &[u8] = match WAY.load(Ordering::SeqCst) {
            ABORT => b"collie: no report before MPI_Abort: called from a signal handler, it could not be written\n",
            SIGNAL => {
                b"collie: no report at SIGTERM: it could not be written from where the signal interrupted the program\n"
            }
            _ => b"collie: no report at exit without MPI_Finalize: it could not be written\n",
        };
        words::write_at_once(told);
        match WAY.load(Ordering::SeqCst) {
            ABORT => {
                set_timer();
                // SAFETY: MPI is initialised where a report can be asked for; what it may hang in, the timer cuts off.
                unsafe { mpi_sys::PMPI_Abort(constants::comm_world(), code) };
            }
            SIGNAL => die_of(code),
            _ => {}
        }
    }
    // SAFETY: ends the process at once; the launcher ends the job.
    unsafe { libc::_exit(code) };
}

/// Ends the process by the signal, also within its handler.
fn die_of(signal: c_int) {
    set_action(signal, libc::SIG_DFL);
    let mut set = MaybeUninit::zeroed();
    // SAFETY: the set is emptied before it is filled; all of this may be done in handlers.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
        libc::raise(signal);
    }
}
