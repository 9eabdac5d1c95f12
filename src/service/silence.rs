//! Ranks that do not answer in `MPI_Init`: those that Collie is not preloaded on, which never will.

use super::own_thread;
use crate::process::log;
use crate::process::runtime::Runtime;
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// Ranks come to the end of the MPI library's own `MPI_Init` within less than this, one after another. Calls that are
/// watched for a shorter time (`COLLIE_WATCHDOG`) are told of after that.
const PATIENCE: Duration = Duration::from_secs(10);
/// The thread only writes a line.
const STACK_BYTES: usize = 64 << 10;
/// Ranks that tell. Among the first few is one that waits, unless none of them has Collie.
const TELLING: usize = 4;

/// Whether the wait has ended. It stays for good: race detectors would see a channel freed by the one thread that the other
/// has used, and not what orders them.
static ENDED: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Runs `action`, which waits for all ranks, and tells when that takes long.
pub fn warn_if_slow<T>(runtime: &Runtime, action: impl FnOnce() -> T) -> T {
    let rank = runtime.world_rank;
    if rank >= TELLING || runtime.world_size == 1 {
        return action();
    }
    let watched = runtime.configuration_here().watchdog_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let patience = watched.map_or(PATIENCE, |watched| watched.min(PATIENCE));
    *ENDED.0.lock() = false;
    let watcher = own_thread::spawn("collie-silence", STACK_BYTES, move || {
        let mut ended = ENDED.0.lock();
        ENDED.1.wait_while_for(&mut ended, |ended| !*ended, patience);
        if !*ended {
            log::tell(&words(rank, patience));
        }
    });
    let result = action();
    *ENDED.0.lock() = true;
    ENDED.1.notify_all();
    if let Ok(watcher) = watcher {
        // It says nothing later than now, and leaves no thread behind that the program did not start.
        drop(watcher.join());
    }
    result
}

fn words(rank: usize, patience: Duration) -> String {
    let seconds = patience.as_secs();
    format!(
        "rank {rank} has waited in MPI_Init for {seconds} s for all ranks to begin: one is slow or has stopped, or libcollie.so is \
         not preloaded on it (Open MPI: mpirun -x LD_PRELOAD=..., MPICH: mpiexec -genv LD_PRELOAD ...)"
    )
}
