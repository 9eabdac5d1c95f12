//! The watch for calls that do not end (`COLLIE_WATCHDOG`): a thread of its own looks at what the others are in the
//! middle of. It never calls MPI, whose thread level is the program's business.

use super::own_thread;
use crate::process::flags::{self, ASKED, WATCHED};
use crate::process::runtime::Runtime;
use crate::process::{log, watched};
use parking_lot::{Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The thread only writes lines.
const STACK_BYTES: usize = 256 << 10;

static WATCHER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
static END: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Starts the watch for calls of at least `seconds` seconds.
pub fn start(runtime: &'static Runtime, seconds: u32) {
    let limit = Duration::from_secs(seconds.into());
    match own_thread::spawn("collie-watch", STACK_BYTES, move || watch(runtime, limit)) {
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

fn watch(runtime: &Runtime, limit: Duration) {
    let ticks = (limit.as_nanos() as f64 / runtime.nanoseconds_per_tick) as u64;
    let mut ended = END.0.lock();
    let mut answered = false;
    while !*ended {
        END.1.wait_for(&mut ended, INTERVAL.min(limit / 4));
        // A thread that is stuck does not come to the report that it was asked for; where it is can be told.
        let asked = flags::is_set(ASKED);
        for thread in watched::threads() {
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
