//! Threads of Collie's own, beside the program's.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread of that name, which needs `stack` bytes of stack for itself. It gets no signals: they are for the
/// program's own threads.
///
/// # Errors
/// What the system says why there is none.
pub fn spawn(name: &str, stack: usize, action: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let builder = Builder::new().name(name.to_owned()).stack_size(stack + of_program());
    without_signals(|| builder.spawn(action))
}

/// Bytes of a thread's stack that are the program's: the C library lays what is thread-local in the program and its
/// libraries into the memory that it gets as a stack, where OpenMP's threadprivate arrays may take megabytes.
fn of_program() -> usize {
    type Least = unsafe extern "C" fn(*const libc::pthread_attr_t) -> libc::size_t;
    // SAFETY: asks for an address by a name that ends in 0.
    let least = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__pthread_get_minstack".as_ptr()) };
    if least.is_null() {
        return 0;
    }
    let mut attributes = std::mem::MaybeUninit::uninit();
    // SAFETY: glibc's function of this name takes attributes and gives a size; these are made before and destroyed after it.
    unsafe {
        let least = std::mem::transmute::<*mut libc::c_void, Least>(least);
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return 0;
        }
        let bytes = least(attributes.as_ptr());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        bytes
    }
}

/// Runs `action` with all signals kept from threads that it starts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_its_stack_beside_what_is_thread_local_and_no_signal() {
        assert!(of_program() > 0);
        let thread = spawn("collie-test", 64 << 10, || {
            let (mut own, mut bytes) = (std::mem::MaybeUninit::uninit(), 0);
            // SAFETY: the attributes are filled by the first call, read by the second and destroyed by the third.
            unsafe {
                assert_eq!(libc::pthread_getattr_np(libc::pthread_self(), own.as_mut_ptr()), 0);
                libc::pthread_attr_getstacksize(own.as_ptr(), &raw mut bytes);
                libc::pthread_attr_destroy(own.as_mut_ptr());
            }
            assert!(bytes >= (64 << 10) + of_program(), "{bytes}");
            let mut blocked = std::mem::MaybeUninit::uninit();
            // SAFETY: the set is filled by the call.
            let is_blocked = unsafe {
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), blocked.as_mut_ptr());
                libc::sigismember(blocked.as_ptr(), libc::SIGUSR2)
            };
            assert_eq!(is_blocked, 1);
        });
        thread.unwrap().join().unwrap();
    }
}
