//! The watch for calls that do not end (`COLLIE_WATCHDOG`): a thread of its own looks at what the others are in the
//! middle of. It never calls MPI, whose thread level is the program's business.

use crate::communicator::state::Communicator;
use crate::monitor::{Function, Subject, Watched};
use crate::mpi::communicator;
use crate::process::flags::{self, ASKED, WATCHED};
use crate::process::kept::{Kept, Key};
use crate::process::log;
use crate::process::runtime::Runtime;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The thread only writes lines.
const STACK_BYTES: usize = 256 << 10;

static THREADS: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());
static WATCHER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
static END: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

static KEY: Key = Key::new();

thread_local! {
    static OWN: Kept<Option<Arc<Watched>>> = const { Kept::nothing(&KEY) };
}

/// Starts the watch for calls of at least `seconds` seconds.
pub fn start(runtime: &'static Runtime, seconds: u32) {
    let watcher = without_signals(|| {
        let builder = std::thread::Builder::new().name("collie-watch".to_owned()).stack_size(STACK_BYTES);
        builder.spawn(move || watch(runtime, Duration::from_secs(seconds.into())))
    });
    match watcher {
        Ok(watcher) => {
            *WATCHER.lock() = Some(watcher);
            flags::set(WATCHED);
        }
        Err(error) => ::log::warn!("calls are not watched: {error}"),
    }
}

/// Ends the watch.
pub fn end() {
    flags::take(WATCHED);
    *END.0.lock() = true;
    END.1.notify_all();
    if let Some(watcher) = WATCHER.lock().take() {
        // A panic there has been told; nothing depends on the thread any more.
        drop(watcher.join());
    }
}

/// Runs `action` with all signals kept from threads that it starts: they are for the program's own.
fn without_signals<T>(action: impl FnOnce() -> T) -> T {
    let (mut all, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: the first is filled before it is read; the second is filled by the call that reads the first.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = action();
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

fn watch(runtime: &Runtime, limit: Duration) {
    let ticks = (limit.as_nanos() as f64 / runtime.nanoseconds_per_tick) as u64;
    let mut ended = END.0.lock();
    let mut answered = false;
    while !*ended {
        END.1.wait_for(&mut ended, INTERVAL.min(limit / 4));
        // A thread that is stuck does not come to the report that it was asked for; where it is can be told.
        let asked = flags::is_set(ASKED);
        for thread in threads() {
            let (now, scale) = (runtime.clock.raw(), runtime.nanoseconds_per_tick);
            let words = match asked && !answered {
                true => thread.words(now, scale),
                false => thread.overdue(now, ticks, scale),
            };
            if let Some(words) = words {
                log::tell(&format!("rank {}: {words}", runtime.world_rank));
            }
        }
        answered = asked;
    }
}

/// The threads that live.
fn threads() -> Vec<Arc<Watched>> {
    let mut threads = THREADS.lock();
    threads.retain(|thread| Arc::strong_count(thread) > 1);
    threads.clone()
}

/// Where this thread tells what it does.
pub fn of_this_thread() -> Arc<Watched> {
    let make = || {
        let made = Arc::new(Watched::default());
        THREADS.lock().push(Arc::clone(&made));
        made
    };
    OWN.with(|own| own.lend(|own| Arc::clone(own.get_or_insert_with(make))))
}

/// This thread comes to a call.
pub fn enter(state: &mut Communicator, function: Function, start: u64) -> Arc<Watched> {
    let (number, subject) = match state.watched.take() {
        Some((number, subject)) => (number + 1, subject),
        None => (1, Arc::new(subject(state))),
    };
    state.watched = Some((number, Arc::clone(&subject)));
    let own = of_this_thread();
    own.enter(subject, function, number, start);
    own
}

/// The communicator, as far as it can be told without asking another rank.
fn subject(state: &Communicator) -> Subject {
    let name = communicator::name(state.comm).ok().flatten();
    let identity = || format!("communicator {}", state.identity());
    let members = communicator::world_ranks(state.comm, false).unwrap_or_default();
    let own_ranks = || (0..state.size as u32).collect();
    let world: Option<Vec<u32>> = members.into_iter().map(|rank| u32::try_from(rank).ok()).collect();
    Subject {
        name: name.unwrap_or_else(identity),
        rank: state.rank as u32,
        members: world.filter(|members| members.len() == state.size).unwrap_or_else(own_ranks),
    }
}
