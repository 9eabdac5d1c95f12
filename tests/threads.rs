//! What threads share (`src/threads`), compiled against loom, which tries every order of the threads' steps and every
//! value that a load may see: calls, reports, switches of recording, resets, nonblocking starts, signals.

#![allow(dead_code, reason = "what is compiled here is more than what is tried")]

use flags::Flags;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;
use owned::{Away, Owned, Threads};
use versions::{Generation, Versions};

#[path = "../src/threads/flags.rs"]
mod flags;
#[path = "../src/threads/owned.rs"]
mod owned;
#[path = "../src/threads/versions.rs"]
mod versions;

mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
    pub use loom::thread::yield_now;

    /// A second look is like the first one of another report.
    pub const LOOKS: usize = 1;

    /// What the other side's system call makes of it.
    pub fn light_fence() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    pub fn heavy_fence() -> bool {
        loom::sync::atomic::fence(Ordering::SeqCst);
        true
    }
}

/// What a communicator's state comes down to: its numbers, a cached way of carrying calls out, and what both rest on.
struct State {
    calls: u64,
    bytes: u64,
    /// Counted while the call is under way.
    messages: UnsafeCell<u64>,
    /// A cached call; freed by who owns the state only, and says whether calls are recorded.
    cached: Option<Box<bool>>,
    version: u64,
    resets: u64,
}

/// What the threads of a process share.
struct Process {
    state: Owned<State>,
    versions: Versions,
    recording: AtomicBool,
}

impl Process {
    fn new() -> Arc<Self> {
        let state = State { calls: 0, bytes: 0, messages: UnsafeCell::new(0), cached: None, version: 0, resets: 0 };
        Arc::new(Self { state: Owned::new(state), versions: Versions::default(), recording: AtomicBool::new(true) })
    }

    /// As the interposed calls do it; a nonblocking start does the same without anything to wait for.
    fn call(&self, thread: usize) {
        // SAFETY: the tests give each thread a number of its own.
        let mut state = unsafe { self.state.hold(thread, Threads::AtOnce) };
        self.catch_up(&mut state);
        let cached = state.cached.get_or_insert_with(|| Box::new(self.recording.load(Ordering::Relaxed)));
        let recorded = **cached;
        // The call itself, during which others do what they like.
        // SAFETY: held above; nothing changes meanwhile.
        unsafe { self.state.away(thread, Away::Whole, thread::yield_now) };
        if recorded {
            state.calls += 1;
            state.bytes += 8;
        }
    }

    /// The same by an algorithm of ours.
    fn play(&self, thread: usize) {
        // SAFETY: as above.
        let mut state = unsafe { self.state.hold(thread, Threads::AtOnce) };
        self.catch_up(&mut state);
        let messages = &state.messages;
        // SAFETY: what changes is what that names.
        unsafe { self.state.away(thread, Away::Mostly, || messages.with_mut(|messages| *messages += 1)) };
        state.calls += 1;
        state.bytes += 8;
    }

    /// What whoever holds the state does first.
    fn catch_up(&self, state: &mut State) {
        let version = self.versions.version();
        if state.version != version {
            (state.version, state.cached) = (version, None);
            let resets = self.versions.resets();
            if state.resets != resets {
                state.resets = resets;
                (state.calls, state.bytes, state.messages) = (0, 0, UnsafeCell::new(0));
            }
        }
    }

    /// The numbers, unless a call is changing them.
    fn report(&self, thread: usize) -> Option<u64> {
        let look = |state: &State, away: Option<Away>| {
            assert_eq!(state.bytes, 8 * state.calls);
            if away != Some(Away::Mostly) {
                // SAFETY: nobody changes it.
                state
                    .messages
                    .with(|messages| assert!(unsafe { *messages } <= state.calls + u64::from(away.is_some())));
            }
            let is_outdated = state.version != self.versions.version() && state.resets != self.versions.resets();
            if is_outdated { 0 } else { state.calls }
        };
        // SAFETY: the numbers are the threads' own; only what may be looked at is.
        unsafe { self.state.look(thread, Threads::AtOnce, look) }
    }

    /// The numbers, unless a call holds them.
    fn held(&self, thread: usize) -> Option<u64> {
        // SAFETY: as above.
        let mut state = unsafe { self.state.try_hold(thread, Threads::AtOnce) }?;
        self.catch_up(&mut state);
        Some(state.calls)
    }

    fn record(&self, on: bool) {
        self.recording.store(on, Ordering::Relaxed);
        self.versions.changed();
    }
}

/// What a thread does; the number is its own.
type Part = fn(&Process, usize);

/// Runs the threads' parts in every order; gives the process to `end` when all are done.
fn in_every_order<const N: usize>(parts: [Part; N], end: fn(&Process)) {
    // Threads that wait for one another: more changes of thread where none has to wait show no more.
    let preemption_bound = Some(if N > 2 { 2 } else { 3 });
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemption_bound;
    model.check(move || {
        let process = Process::new();
        let threads: Vec<_> = parts
            .into_iter()
            .zip(1..)
            .map(|(part, number)| {
                let process = Arc::clone(&process);
                thread::spawn(move || part(&process, number))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        end(&process);
    });
}

#[test]
fn a_report_sees_whole_calls_or_leaves_them_out() {
    let call: Part = |process, me| {
        process.call(me);
        process.call(me);
    };
    in_every_order([call, |process, me| assert!(process.report(me).is_none_or(|calls| calls <= 2))], |process| {
        assert_eq!(process.report(9), Some(2));
    });
}

#[test]
fn a_report_sees_nothing_that_an_algorithm_counts() {
    let play: Part = |process, me| process.play(me);
    in_every_order([play, |process, me| assert!(process.report(me).is_none_or(|calls| calls <= 1))], |process| {
        assert_eq!(process.report(9), Some(1));
    });
}

#[test]
fn who_holds_in_vain_lets_go_of_nothing() {
    let parts: [Part; 2] = [
        |process, me| process.call(me),
        |process, me| (0..2).for_each(|_| assert!(process.held(me).is_none_or(|calls| calls <= 1))),
    ];
    in_every_order(parts, |process| assert_eq!(process.held(9), Some(1)));
}

#[test]
fn two_reports_at_once() {
    let report: Part = |process, me| assert!(process.report(me).is_none_or(|calls| calls <= 1));
    in_every_order([|process, me| process.call(me), report, report], |process| assert_eq!(process.report(9), Some(1)));
}

#[test]
fn a_call_that_waits_for_ever_keeps_no_report_from_the_calls_before() {
    loom::model(|| {
        let process = Process::new();
        let (under_way, reported) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let caller = {
            let (process, under_way, reported) = (Arc::clone(&process), Arc::clone(&under_way), Arc::clone(&reported));
            thread::spawn(move || {
                process.call(1);
                // SAFETY: as above.
                let state = unsafe { process.state.hold(1, Threads::AtOnce) };
                let wait = || {
                    // As from a signal handler.
                    assert!(process.report(1).is_none_or(|calls| calls == 1));
                    under_way.store(true, Ordering::Release);
                    while !reported.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                };
                // SAFETY: held above; nothing changes.
                unsafe { process.state.away(1, Away::Whole, wait) };
                // In the middle of a call's own work.
                assert_eq!(process.report(1), None);
                drop(state);
            })
        };
        while !under_way.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert_eq!(process.report(2), Some(1));
        reported.store(true, Ordering::Release);
        caller.join().unwrap();
        assert_eq!(process.report(2), Some(1));
    });
}

#[test]
fn switching_recording_frees_nothing_in_use_and_holds_from_the_next_call_on() {
    let call: Part = |process, me| {
        process.call(me);
        process.call(me);
    };
    in_every_order([call, |process, _| process.record(false)], |process| {
        let before = process.report(9).unwrap();
        process.call(9);
        assert_eq!(process.report(9), Some(before));
        process.record(true);
        process.call(9);
        assert_eq!(process.report(9), Some(before + 1));
    });
}

#[test]
fn a_call_that_sees_the_change_sees_what_it_is_about() {
    in_every_order(
        [
            |process, _| process.record(false),
            |process, me| {
                process.call(me);
                // SAFETY: as above.
                let state = unsafe { process.state.hold(me, Threads::AtOnce) };
                assert!(state.version == 0 || state.cached.as_deref() == Some(&false));
            },
        ],
        |_| (),
    );
}

#[test]
fn a_reset_forgets_calls_begun_before_it_and_none_begun_after() {
    let reset_then_call: Part = |process, me| {
        process.versions.reset();
        process.call(me);
    };
    in_every_order([|process, me| process.call(me), reset_then_call], |process| {
        let calls = process.report(9).unwrap();
        assert!(calls == 1 || calls == 2, "{calls}");
    });
}

#[test]
fn a_call_a_report_and_a_switch_at_once() {
    let parts: [Part; 3] = [
        |process, me| process.call(me),
        // Twice: asking in vain must not let go of what a call holds.
        |process, me| (0..2).for_each(|_| assert!(process.report(me).is_none_or(|calls| calls <= 1))),
        |process, _| {
            process.record(false);
            process.versions.reset();
        },
    ];
    in_every_order(parts, |process| assert_eq!(process.report(9), Some(0)));
}

#[test]
fn what_a_longjmp_left_held_is_taken_over_by_its_own_thread_only() {
    loom::model(|| {
        let process = Process::new();
        // SAFETY: as above.
        std::mem::forget(unsafe { process.state.hold(1, Threads::AtOnce) });
        let reporter = {
            let process = Arc::clone(&process);
            thread::spawn(move || process.report(2))
        };
        process.call(1);
        assert!(reporter.join().unwrap().is_none_or(|calls| calls <= 1));
        assert_eq!(process.report(2), Some(1));
    });
}

#[test]
fn of_several_threads_one_answers_a_request() {
    loom::model(|| {
        let flags = Arc::new(Flags::default());
        let answers = Arc::new(AtomicU64::new(0));
        flags.set(4);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (flags, answers) = (Arc::clone(&flags), Arc::clone(&answers));
                thread::spawn(move || {
                    if flags.all() & 1 != 0 && flags.take(1) {
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        flags.set(1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(answers.load(Ordering::Relaxed) + u64::from(flags.all() & 1), 1);
        assert_eq!(flags.all() & 4, 4);
    });
}

#[test]
fn a_handle_used_again_is_not_taken_for_what_it_was() {
    loom::model(|| {
        let generation = Arc::new(Generation::default());
        let state = Arc::new(UnsafeCell::new(1));
        let made = Arc::new(AtomicBool::new(false));
        let known = generation.now();
        let freeing = {
            let (generation, state, made) = (Arc::clone(&generation), Arc::clone(&state), Arc::clone(&made));
            thread::spawn(move || {
                generation.next();
                // SAFETY: loom tells if another thread may look at it now.
                state.with_mut(|state| unsafe { *state = 2 });
                // The program hands the new communicator to its other thread.
                made.store(true, Ordering::Release);
            })
        };
        if made.load(Ordering::Acquire) {
            assert_ne!(generation.now(), known);
            // SAFETY: as above.
            state.with(|state| assert_eq!(unsafe { *state }, 2));
        }
        freeing.join().unwrap();
    });
}
