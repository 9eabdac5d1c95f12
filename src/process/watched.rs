//! What the threads are in the middle of, where calls are watched ([`WATCHED`](super::flags::WATCHED)).

use super::kept::{Kept, Key};
use crate::monitor::Watched;
use parking_lot::Mutex;
use std::sync::Arc;

static THREADS: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());

static KEY: Key = Key::new();

thread_local! {
    static OWN: Kept<Option<Arc<Watched>>> = const { Kept::nothing(&KEY) };
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

/// The threads that live.
pub fn threads() -> Vec<Arc<Watched>> {
    let mut threads = THREADS.lock();
    threads.retain(|thread| Arc::strong_count(thread) > 1);
    threads.clone()
}
