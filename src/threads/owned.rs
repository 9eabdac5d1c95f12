//! A value that one thread uses at a time, for as long as it likes.

use super::sync::{AtomicUsize, Ordering, UnsafeCell, yield_now};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// How the threads that use a value come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One after another: something else orders them, so that what one did is seen by the next.
    InTurns,
    /// Possibly at the same time.
    AtOnce,
}

/// A value and who holds it.
#[derive(Debug)]
pub struct Owned<T> {
    /// A number of the thread's; 0 if nobody does.
    holder: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: only who holds the value makes references to it, one thread at a time, so that it only has to bear being used
// by one thread after another.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T> Owned<T> {
    /// Held by nobody.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { holder: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Holds the value, once no other thread does any more.
    ///
    /// # Safety
    /// `thread` is not 0, and no other live thread has the same. If it holds the value already, what held it is gone
    /// without having let go: a `longjmp` past it. With [`Threads::InTurns`] no other thread holds the value or is about to.
    #[inline(always)]
    pub unsafe fn hold(&self, thread: usize, threads: Threads) -> Held<'_, T> {
        match threads {
            Threads::InTurns => self.holder.store(thread, Ordering::Relaxed),
            Threads::AtOnce => self.wait_for(thread),
        }
        Held { owned: self, of_thread: PhantomData }
    }

    /// Other threads hold it for as long as reading some numbers takes, unless they are in a call on the same
    /// communicator, which MPI forbids.
    fn wait_for(&self, thread: usize) {
        while let Err(holder) = self.holder.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
            if holder == thread {
                return;
            }
            yield_now();
        }
    }

    /// Holds the value, unless somebody does, this thread included.
    ///
    /// # Safety
    /// `thread` is as for [`hold`](Self::hold). With [`Threads::InTurns`] no other thread comes to the value meanwhile.
    #[inline]
    pub unsafe fn try_hold(&self, thread: usize, threads: Threads) -> Option<Held<'_, T>> {
        let free = match threads {
            Threads::InTurns => {
                let free = self.holder.load(Ordering::Relaxed) == 0;
                if free {
                    self.holder.store(thread, Ordering::Relaxed);
                }
                free
            }
            Threads::AtOnce => self.holder.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed).is_ok(),
        };
        // Not `then_some`, which would make one that lets go of what somebody else holds.
        free.then(|| Held { owned: self, of_thread: PhantomData })
    }

    /// Whether the thread holds it.
    pub fn is_held_by(&self, thread: usize) -> bool {
        self.holder.load(Ordering::Relaxed) == thread
    }
}

/// The value, held until this is dropped.
pub struct Held<'a, T> {
    owned: &'a Owned<T>,
    /// Let go by the thread that holds it.
    of_thread: PhantomData<*mut T>,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: who holds the value is the only one to make references to it, and this one borrows from the holder.
        self.owned.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; the holder is borrowed mutably.
        self.owned.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.owned.holder.store(0, Ordering::Release);
    }
}
