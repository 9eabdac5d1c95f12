//! What is recorded of a call that was made, however it was carried out: its counter, what this thread has spent in
//! calls, the site that it came from, and the log of calls.
//!
//! The fast path does without: it is taken only where nothing but the counter and the thread want to know of a call.

use super::hooks::{self, LoggedCall};
use crate::monitor::{CounterId, Function, Table};
use crate::process::guard;
use crate::process::runtime::Runtime;
use std::ops::DerefMut;

/// A call as it is recorded.
pub struct RecordedCall {
    /// Where it is counted.
    pub counter: CounterId,
    /// Bytes that it counts as having moved.
    pub moved: u64,
    /// What it took.
    pub ticks: u64,
    /// The function that the program called. `None` for a collective's part in a call that deals with requests: that is
    /// no collective call of this thread, and has no site.
    pub called: Option<Function>,
    /// The same for the log, with the bytes that this rank contributed.
    pub logged: LoggedCall,
}

/// Records a call, in `table` and wherever else somebody wants to know of it.
#[inline]
pub fn record(runtime: &Runtime, mut table: impl DerefMut<Target = Table>, call: &RecordedCall) {
    let RecordedCall { counter, moved, ticks, called, logged } = *call;
    table.record(counter, moved, ticks);
    // It may be a lock's, which nobody has to wait for while sites and the log are seen to.
    drop(table);
    guard::count(u64::from(called.is_some()), ticks);
    if let (Some(function), Some(sites)) = (called, hooks::sites()) {
        sites.count(function, moved, ticks);
    }
    if let Some(log) = hooks::log() {
        log.push(runtime, logged);
    }
}
