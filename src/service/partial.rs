//! The report of this rank alone, as far as it knows, without a word to the others: asked for by `SIGUSR2`, or before
//! `MPI_Abort` and other [`ending`](super::ending)s.

use super::signals::set_action;
use super::{alone, checkpoint, outputs, places, record};
use crate::call::attachment::Visit;
use crate::process::flags::{self, ASKED};
use crate::process::floating_point::apart;
use crate::process::runtime::Runtime;
use crate::report::with_word;
use crate::selection::ReportTarget;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// What was done at the signal before.
static BEFORE: OnceCell<Before> = OnceCell::new();

/// The process that listens.
static LISTENING: AtomicU32 = AtomicU32::new(0);

struct Before(libc::sigaction);

// SAFETY: plain values, never changed.
unsafe impl Send for Before {}
// SAFETY: as above.
unsafe impl Sync for Before {}

type Plain = extern "C" fn(c_int);
type Informed = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Listens to the signal, unless the program ignores it or wants no report. A handler that was there goes on being
/// called; one that the program sets later takes the place of this one.
pub fn listen(runtime: &Runtime) {
    if targets(runtime).is_empty() {
        return;
    }
    let mut before = MaybeUninit::uninit();
    // SAFETY: only asks; the out-parameter is valid for writes and filled where that succeeds.
    let before = unsafe {
        if libc::sigaction(libc::SIGUSR2, std::ptr::null(), before.as_mut_ptr()) != 0 {
            return;
        }
        before.assume_init()
    };
    // A handler that is to be called once would be called for ever.
    let is_left_alone = before.sa_sigaction == libc::SIG_IGN || before.sa_flags & libc::SA_RESETHAND != 0;
    if is_left_alone || BEFORE.set(Before(before)).is_err() {
        return;
    }
    LISTENING.store(std::process::id(), Ordering::SeqCst);
    let flags = match before.sa_sigaction {
        // It would have ended the process: no call that it interrupts is to notice.
        libc::SIG_DFL => libc::SA_RESTART,
        // Programs wake threads up with a handler that does nothing and has system calls end.
        _ => before.sa_flags & (libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_NODEFER),
    };
    // SAFETY: all zeros is a valid value; the handler does only what a handler may.
    let code = unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handler();
        ours.sa_flags = libc::SA_SIGINFO | flags;
        ours.sa_mask = before.sa_mask;
        libc::sigaction(libc::SIGUSR2, &ours, std::ptr::null_mut())
    };
    if code != 0 {
        ::log::warn!("no handler for SIGUSR2 could be installed");
    }
}

/// Puts back what was there, unless the program has changed it since.
pub fn ignore() {
    let Some(Before(before)) = BEFORE.get() else { return };
    let mut now = MaybeUninit::uninit();
    // SAFETY: the out-parameter is read where it was filled; what is set was got from the system.
    unsafe {
        if libc::sigaction(libc::SIGUSR2, std::ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == handler()
        {
            libc::sigaction(libc::SIGUSR2, before, std::ptr::null_mut());
        }
    }
}

fn handler() -> libc::sighandler_t {
    let handler: Informed = asked;
    handler as *const () as libc::sighandler_t
}

/// Touches atomics only, then does what was done before.
///
/// `BEFORE` is set before this is installed.
extern "C" fn asked(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(Before(before)) = BEFORE.get() else { return };
    let is_forked = LISTENING.load(Ordering::SeqCst) != std::process::id();
    if !is_forked {
        flags::set(ASKED);
    }
    if before.sa_sigaction == libc::SIG_DFL {
        if is_forked {
            // Of a process that the program has forked nobody wants a report: what the signal does to others.
            set_action(signal, libc::SIG_DFL);
            // SAFETY: may be called by handlers. The signal is blocked until this one returns.
            unsafe { libc::raise(signal) };
        }
        return;
    }
    let address = before.sa_sigaction as *const ();
    if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the system was given this address as a handler of that kind.
        let handler: Informed = unsafe { std::mem::transmute(address) };
        handler(signal, information, context);
    } else {
        // SAFETY: as above.
        let handler: Plain = unsafe { std::mem::transmute(address) };
        handler(signal);
    }
}

/// Who writes reports of one rank alone to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStderr {
    /// Whoever writes one.
    EachRank,
    /// Rank 0: all ranks come to such an end together, and thousands of reports are not read.
    FirstRank,
}

/// Writes what this rank knows to each target: files get the rank into their name.
pub fn report(runtime: &Runtime, when: &str, visit: Visit, on_stderr: OnStderr) {
    // One at a time: two threads would write to the same files.
    static WRITING: Mutex<()> = Mutex::new(());
    let is_wanted = |target: &&ReportTarget| {
        **target != ReportTarget::Stderr || on_stderr == OnStderr::EachRank || runtime.world_rank == 0
    };
    let targets: Vec<_> = targets(runtime).iter().filter(is_wanted).collect();
    if targets.is_empty() && places::files(runtime).checkpoints.is_none() {
        return;
    }
    let _writing = WRITING.lock();
    apart(|| {
        let record = record::of_this_rank_alone(runtime, visit);
        let summary = alone::summary(runtime, record, when);
        for target in targets {
            outputs::write_report(runtime, &of_rank(target, runtime.world_rank), &summary);
        }
        checkpoint::write(runtime, &summary);
    });
}

/// Where reports go.
fn targets(runtime: &Runtime) -> &[ReportTarget] {
    &places::files(runtime).report
}

/// `report.json` of rank 3 is `report.rank3.json`.
fn of_rank(target: &ReportTarget, rank: usize) -> ReportTarget {
    match target {
        ReportTarget::Stderr => ReportTarget::Stderr,
        ReportTarget::File { path, format } => {
            ReportTarget::File { path: with_word(path, &format!("rank{rank}")), format: *format }
        }
    }
}
