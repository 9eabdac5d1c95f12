//! What threads share: who owns what, and how the others leave it alone.
//!
//! A program may call MPI from several threads at once (`MPI_THREAD_MULTIPLE`); MPI only forbids two collectives at
//! once on one communicator. Meanwhile any other thread may ask for a report (`SIGUSR2`, `collie_read`,
//! `MPI_Pcontrol(3)`), switch recording (`MPI_Pcontrol(0|1)`), reset the numbers (`MPI_Pcontrol(2)`) or choose
//! algorithms (`collie_choose`). The rules:
//!
//! 1. **What is kept of a communicator is [`Owned`] by one thread at a time.** A call holds it from before its first
//!    look until its record is written; so do nonblocking starts. Nobody else changes it. While a call is [`Away`] in
//!    MPI or in an algorithm, where it may wait for other ranks for ever, it says so and leaves alone what is counted,
//!    [`Whole`](Away::Whole) or, while an algorithm counts its messages, [`Mostly`](Away::Mostly) all of it.
//! 2. **Reports look, and do not hold**: at what nobody holds and at what the holder is away from, one reader at a
//!    time. A holder that comes back waits until the reader is done, for as long as copying some numbers takes; a
//!    reader that finds the holder at work waits for a moment, unless it is the same thread, in a handler or callback,
//!    and else leaves the communicator out. Each first says what it does and then looks at the other, with a fence
//!    between. The reader's is a system call that is one for all threads of the process, so that the holder's costs
//!    nothing. A report that a call makes on the way is made before it holds anything.
//! 3. **Nobody changes or frees what another thread owns.** Who wants it changed says so in [`Versions`]; the owner
//!    compares its own version when it next holds the communicator, and drops caches or numbers itself.
//! 4. **What any thread may touch at any time** is an atomic ([`Flags`], [`Versions`], [`Generation`]) or behind a lock
//!    of its own: the list of communicators, what is kept of those that are gone, the program's choices, requests, the
//!    log.
//! 5. Locks are never held while waiting for another rank or for a communicator that a call holds, with two
//!    exceptions: the delete callback of a communicator, on which no call can be under way; and threads that make
//!    communicators wait while a private one is made, in a call that all its ranks have come to.
//!
//! Where the program's threads come to MPI in turns, its own synchronisation orders them, and holding costs two plain
//! stores, being away two more; several at once cost an atomic exchange more. Nothing here knows MPI:
//! `tests/threads.rs` compiles the same files against `loom` and tries every order of the threads' steps.

pub mod flags;
pub mod owned;
pub mod versions;

pub use flags::Flags;
pub use owned::{Away, Held, Owned, Threads};
pub use versions::{Generation, Versions};

// Constructors for statics, which loom's atomics have none for.
impl Flags {
    /// None set.
    #[must_use]
    pub const fn new() -> Self {
        Self(sync::AtomicU8::new(0))
    }
}

impl Versions {
    /// The first.
    #[must_use]
    pub const fn new() -> Self {
        Self { version: sync::AtomicU64::new(0), resets: sync::AtomicU64::new(0) }
    }
}

impl Generation {
    /// The first.
    #[must_use]
    pub const fn new() -> Self {
        Self(sync::AtomicU64::new(1))
    }
}

/// What the files of this folder take from the standard library, and their test from `loom`.
mod sync {
    pub use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
    pub use std::thread::yield_now;

    /// How often a reader looks whether the holder has gone away, giving way to other threads in between.
    pub const LOOKS: usize = 1000;

    /// Keeps what the compiler emits before it from what it emits after it; with [`heavy_fence`] on the other side the
    /// processor does as well.
    #[inline(always)]
    pub fn light_fence() {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    }

    /// A full fence on every thread of the process at once; false where the system has none. May be called by signal
    /// handlers.
    pub fn heavy_fence() -> bool {
        // From <linux/membarrier.h>.
        const PRIVATE_EXPEDITED: std::os::raw::c_int = 1 << 3;
        const REGISTER_PRIVATE_EXPEDITED: std::os::raw::c_int = 1 << 4;
        // SAFETY: takes numbers only.
        let ask = |command: std::os::raw::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 };
        std::sync::atomic::fence(Ordering::SeqCst);
        // The process has to have said once that it wants it.
        ask(PRIVATE_EXPEDITED) || ask(REGISTER_PRIVATE_EXPEDITED) && ask(PRIVATE_EXPEDITED)
    }

    /// [`std::cell::UnsafeCell`] with the methods of loom's.
    #[derive(Debug)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub fn with<R>(&self, action: impl FnOnce(*const T) -> R) -> R {
            action(self.0.get())
        }

        #[inline(always)]
        pub fn with_mut<R>(&self, action: impl FnOnce(*mut T) -> R) -> R {
            action(self.0.get())
        }
    }
}
