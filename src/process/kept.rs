//! What a thread keeps from call to call, for as long as it can make calls.
//!
//! Programs call MPI from destructors of static objects and from functions registered with `atexit`; the thread's
//! objects with destructors are gone by then. So what is kept is no such object but an address without a destructor.
//! When a thread other than the main one ends, a key of POSIX threads frees what is there; the main thread's lasts as
//! long as the process.

use once_cell::sync::OnceCell;
use std::cell::Cell;
use std::os::raw::c_void;

/// A place for a value of this thread; in a `thread_local!` that is `const`, so that looking at it needs no set-up.
pub struct Kept<T: 'static> {
    address: Cell<*mut T>,
    key: &'static Key,
}

/// Frees the values of threads that end; one per kind of value.
pub struct Key(OnceCell<Option<libc::pthread_key_t>>);

impl Key {
    /// Not yet known to the system.
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// Has `free` called with `place` when this thread ends.
    fn at_the_end(&self, free: unsafe extern "C" fn(*mut c_void), place: *const c_void) {
        let key = self.0.get_or_init(|| {
            let mut key = 0;
            // SAFETY: the out-parameter is valid for writes.
            (unsafe { libc::pthread_key_create(&mut key, Some(free)) } == 0).then_some(key)
        });
        if let Some(key) = key {
            // SAFETY: the key is the system's. If there is no memory for it, the value is freed with the process.
            unsafe { libc::pthread_setspecific(*key, place) };
        }
    }
}

impl<T: Default + 'static> Kept<T> {
    /// Without a value; `key` is for values of this kind only.
    pub const fn nothing(key: &'static Key) -> Self {
        Self { address: Cell::new(std::ptr::null_mut()), key }
    }

    /// Lends the value, made where there is none. It is away while it is lent: an action that lends it again gets
    /// another one, and one that is jumped out of leaves it to nobody.
    #[inline]
    pub fn lend<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        let address = self.address.replace(std::ptr::null_mut());
        let address = if address.is_null() { self.make() } else { address };
        let lent = Lent { place: self, address };
        // SAFETY: `make` gave the address of a box, which is in nobody else's hands while it is not in its place.
        action(unsafe { &mut *lent.address })
    }

    #[cold]
    fn make(&self) -> *mut T {
        self.key.at_the_end(free::<T>, std::ptr::from_ref(self).cast());
        Box::into_raw(Box::default())
    }
}

/// A value on loan.
struct Lent<'a, T: 'static> {
    place: &'a Kept<T>,
    address: *mut T,
}

impl<T: 'static> Drop for Lent<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let other = self.place.address.replace(self.address);
        if !other.is_null() {
            // SAFETY: made by `Kept::make` for an action inside this one, which has given it back.
            drop(unsafe { Box::from_raw(other) });
        }
    }
}

/// Called by the system when a thread ends. A later call on that thread makes a new value and says so to the key, whose
/// turn then comes again.
unsafe extern "C" fn free<T: 'static>(place: *mut c_void) {
    // SAFETY: the address of this thread's place, whose memory is there until all keys have had their turn.
    let address = unsafe { &*place.cast_const().cast::<Kept<T>>() }.address.replace(std::ptr::null_mut());
    if !address.is_null() {
        // SAFETY: made by `Kept::make`, and taken out of its place.
        drop(unsafe { Box::from_raw(address) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static KEY: Key = Key::new();
    static LIVE: AtomicUsize = AtomicUsize::new(0);

    #[derive(Debug)]
    struct Counted(u32);

    impl Default for Counted {
        fn default() -> Self {
            LIVE.fetch_add(1, Ordering::SeqCst);
            Self(0)
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::SeqCst);
        }
    }

    thread_local! {
        static PLACE: Kept<Counted> = const { Kept::nothing(&KEY) };
        static LATE: Late = const { Late };
    }

    /// Uses the place when the thread's objects are being destroyed.
    struct Late;

    impl Drop for Late {
        fn drop(&mut self) {
            PLACE.with(|place| place.lend(|value| value.0 += 1));
        }
    }

    #[test]
    fn a_value_lasts_until_its_thread_ends() {
        let done = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&done);
        let thread = std::thread::spawn(move || {
            LATE.with(|_| ());
            PLACE.with(|place| {
                place.lend(|value| value.0 = 7);
                place.lend(|outer| {
                    assert_eq!((outer.0, place.lend(|inner| inner.0)), (7, 0));
                });
                assert_eq!(place.lend(|value| value.0), 7);
            });
            seen.store(LIVE.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        thread.join().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 1);
        assert_eq!(LIVE.load(Ordering::SeqCst), 0);
    }
}
