//! The memory that a thread works in.

use crate::mpi::memory::Pool;
use crate::process::kept::{Kept, Key};

static KEY: Key = Key::new();

thread_local! {
    static POOL: Kept<Pool> = const { Kept::nothing(&KEY) };
}

/// Lends the thread's working memory.
#[inline]
pub fn with_pool<T>(action: impl FnOnce(&mut Pool) -> T) -> T {
    POOL.with(|pool| pool.lend(action))
}
