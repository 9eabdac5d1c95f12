//! A value that one thread uses at a time, for as long as it likes, and that others look at while it leaves it alone.

use super::sync::{AtomicUsize, LOOKS, Ordering, UnsafeCell, heavy_fence, light_fence, yield_now};
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

/// What the holder leaves alone while it is away, in something that may wait for other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Away {
    /// The whole value.
    Whole,
    /// All but what the type of the value names, which changes meanwhile.
    Mostly,
}

impl Away {
    /// Beside the thread's number, which is below both.
    const fn bit(self) -> usize {
        match self {
            Self::Whole => 1 << (usize::BITS - 1),
            Self::Mostly => 1 << (usize::BITS - 2),
        }
    }

    /// The thread that holds, 0 if none does, and whether it is away.
    const fn split(holder: usize) -> (usize, Option<Self>) {
        let thread = holder & !(Self::Whole.bit() | Self::Mostly.bit());
        match () {
            () if holder & Self::Whole.bit() != 0 => (thread, Some(Self::Whole)),
            () if holder & Self::Mostly.bit() != 0 => (thread, Some(Self::Mostly)),
            () => (thread, None),
        }
    }
}

/// A value and who holds it, which lies beside the beginning of the value.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Owned<T> {
    /// A number of the thread's, with a bit if it is away; 0 if nobody does.
    holder: AtomicUsize,
    /// The number of the thread that looks at the value, or is about to find out if it may; 0 if nobody does.
    reader: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: only who holds the value changes it, one thread at a time; who looks at it is one thread at a time too, while
// nobody holds it or the holder leaves alone what is looked at. So it only has to bear being used by one thread after
// another.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T> Owned<T> {
    /// Held by nobody.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { holder: AtomicUsize::new(0), reader: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Holds the value, once no other thread does any more.
    ///
    /// # Safety
    /// `thread` is an address or another number above 0 and below 2^62, and no other live thread has the same. If it
    /// holds the value already, what held it is gone without having let go: a `longjmp` past it. With
    /// [`Threads::InTurns`] no other thread holds the value or is about to.
    #[inline(always)]
    pub unsafe fn hold(&self, thread: usize, threads: Threads) -> Held<'_, T> {
        match threads {
            Threads::InTurns => self.holder.store(thread, Ordering::Relaxed),
            Threads::AtOnce => self.wait_for(thread),
        }
        self.after_readers();
        Held { owned: self, of_thread: PhantomData }
    }

    /// Other threads hold it for as long as reading some numbers takes, unless they are in a call on the same
    /// communicator, which MPI forbids.
    fn wait_for(&self, thread: usize) {
        while let Err(holder) = self.holder.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
            if Away::split(holder).0 == thread {
                return self.holder.store(thread, Ordering::Relaxed);
            }
            yield_now();
        }
    }

    /// Waits until no other thread holds the value, without holding it then: one that is about to let go of it may first
    /// want what this one is going to take with it.
    ///
    /// # Safety
    /// As for [`hold`](Self::hold).
    pub unsafe fn wait_until_free(&self, thread: usize, threads: Threads) {
        let is_held =
            || !matches!(Away::split(self.holder.load(Ordering::Relaxed)).0, holder if holder == 0 || holder == thread);
        while threads == Threads::AtOnce && is_held() {
            yield_now();
        }
    }

    /// Lets go of what the thread holds, if it does.
    ///
    /// # Safety
    /// What held it for `thread`, which is this thread's number, is gone without having let go: a `longjmp` past it.
    pub unsafe fn abandon(&self, thread: usize) {
        if self.is_held_by(thread) {
            self.holder.store(0, Ordering::Release);
        }
    }

    /// The holder, which has just said that it is no longer away, waits until nobody looks at the value. Whoever comes
    /// to look from now on finds the holder at it.
    #[inline(always)]
    fn after_readers(&self) {
        light_fence();
        if self.reader.load(Ordering::Acquire) != 0 {
            self.wait_for_reader();
        }
    }

    #[cold]
    fn wait_for_reader(&self) {
        while self.reader.load(Ordering::Acquire) != 0 {
            yield_now();
        }
    }

    /// Runs what may wait for other processes, while others may look at the value.
    ///
    /// # Safety
    /// `thread` holds the value. Until `action` is done it only reads the value, but for what `how` names, and no
    /// reference made before to what may change is used after it.
    #[inline(always)]
    pub unsafe fn away<R>(&self, thread: usize, how: Away, action: impl FnOnce() -> R) -> R {
        struct Back<'a, T>(&'a Owned<T>, usize);
        impl<T> Drop for Back<'_, T> {
            #[inline(always)]
            fn drop(&mut self) {
                let Self(owned, thread) = *self;
                owned.holder.store(thread, Ordering::Relaxed);
                owned.after_readers();
            }
        }
        self.holder.store(thread | how.bit(), Ordering::Release);
        // Where nothing unwinds, not by the destructor, which would be a function of its own.
        let back = Back(self, thread);
        let result = action();
        std::mem::forget(back);
        self.holder.store(thread, Ordering::Relaxed);
        self.after_readers();
        result
    }

    /// Looks at the value if nobody holds it or the holder is away, which `action` is told; waits for a moment for a
    /// holder that is not. May be called by signal handlers, whatever they interrupt.
    ///
    /// # Safety
    /// `thread` and `threads` are as for [`hold`](Self::hold). `action` changes the value only in ways that are no
    /// matter of who holds it, keeps no reference, and leaves alone what is named by [`Away::Mostly`] if it is told
    /// that.
    pub unsafe fn look<R>(
        &self,
        thread: usize,
        threads: Threads,
        action: impl FnOnce(&T, Option<Away>) -> R,
    ) -> Option<R> {
        struct Reading<'a>(&'a AtomicUsize);
        impl Drop for Reading<'_> {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Release);
            }
        }
        for _ in 0..LOOKS {
            match self.reader.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    let reading = Reading(&self.reader);
                    // From here on a holder that comes back sees the reader, or this sees that it has come back.
                    let fenced = heavy_fence();
                    let (holder, away) = Away::split(self.holder.load(Ordering::Acquire));
                    let (free, own) = (holder == 0, holder == thread);
                    let orderly = fenced || own || free && threads == Threads::InTurns;
                    if orderly && (free || away.is_some()) {
                        // SAFETY: nobody changes it before the reader is gone.
                        return Some(self.value.with(|value| action(unsafe { &*value }, away)));
                    }
                    drop(reading);
                    if own || !orderly {
                        return None;
                    }
                }
                // This looks at it already, further down the stack.
                Err(reader) if reader == thread => return None,
                Err(_) => {}
            }
            yield_now();
        }
        None
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
        free.then(|| {
            self.after_readers();
            Held { owned: self, of_thread: PhantomData }
        })
    }

    /// Whether the thread holds it.
    pub fn is_held_by(&self, thread: usize) -> bool {
        Away::split(self.holder.load(Ordering::Relaxed)).0 == thread
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
