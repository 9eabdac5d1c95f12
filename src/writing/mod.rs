//! Writes that end nothing but themselves. Beyond the limit on a file's length, and where nobody reads from a pipe any
//! more, the system not only refuses a write but also raises a signal, which would end the program for what Collie
//! writes.

pub mod standard_error;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::raw::c_int;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a write may raise.
const RAISED: [c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];

/// Keeps the signals from this thread for as long as it lives, and takes back what has come meanwhile.
struct WriteSignalsBlocked {
    mask: libc::sigset_t,
    /// Those that had come before, for somebody else to take.
    pending: libc::sigset_t,
}

/// Runs `action`, whose writes raise no signal in this thread.
pub fn without_write_signals<T>(action: impl FnOnce() -> T) -> T {
    let _blocked = WriteSignalsBlocked::new();
    action()
}

/// Closes the file, and tells the error of that: what was written before may not have come to the disk.
///
/// # Errors
/// What the system says, such as a file system of another host that had no room.
pub fn close(file: File) -> io::Result<()> {
    // SAFETY: nobody else has that number.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this process may write to what is at `path`; opens nothing.
///
/// # Errors
/// Why it may not, such as that there is nothing.
pub fn may_write(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a text that ends in a zero byte.
    if unsafe { libc::access(path.as_ptr(), libc::W_OK) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl WriteSignalsBlocked {
    fn new() -> Self {
        let pending = pending();
        let mut mask = MaybeUninit::zeroed();
        let raised = set(RAISED);
        // SAFETY: the first is a set; the out-parameter is valid for writes, and all zeros is a valid value.
        let mask = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const raised, mask.as_mut_ptr());
            mask.assume_init()
        };
        Self { mask, pending }
    }
}

impl Drop for WriteSignalsBlocked {
    fn drop(&mut self) {
        let now = pending();
        for signal in RAISED {
            if has(&now, signal) && !has(&self.pending, signal) {
                let (raised, none) = (set([signal]), libc::timespec { tv_sec: 0, tv_nsec: 0 });
                // SAFETY: both are valid for reads; what the signal tells is not asked for.
                unsafe { libc::sigtimedwait(&raw const raised, std::ptr::null_mut(), &raw const none) };
            }
        }
        // SAFETY: what the system gave out.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, std::ptr::null_mut()) };
    }
}

/// What has come to this thread or the process and is kept from it.
fn pending() -> libc::sigset_t {
    let mut pending = MaybeUninit::zeroed();
    // SAFETY: the out-parameter is valid for writes, and all zeros is a valid value.
    unsafe {
        libc::sigpending(pending.as_mut_ptr());
        pending.assume_init()
    }
}

fn set<const N: usize>(signals: [c_int; N]) -> libc::sigset_t {
    let mut set = MaybeUninit::zeroed();
    // SAFETY: the set is emptied before it is filled.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

fn has(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: a set that the system or this file has filled.
    unsafe { libc::sigismember(set, signal) == 1 }
}

/// Bytes that a file of this process may have (`ulimit -f`).
pub fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the out-parameter is valid for writes.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_of_writes_are_taken_back_and_others_are_left() {
        // SAFETY: raises signals in this thread, where they are blocked.
        unsafe {
            without_write_signals(|| libc::raise(libc::SIGXFSZ));
            let blocked = set([libc::SIGXFSZ, libc::SIGPIPE, libc::SIGUSR1]);
            let mut before = MaybeUninit::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, before.as_mut_ptr());
            libc::raise(libc::SIGPIPE);
            without_write_signals(|| {
                libc::raise(libc::SIGXFSZ);
                libc::raise(libc::SIGPIPE);
                libc::raise(libc::SIGUSR1);
            });
            let left = [libc::SIGXFSZ, libc::SIGPIPE, libc::SIGUSR1].map(|signal| has(&pending(), signal));
            assert_eq!(left, [false, true, true], "one was there before, and one is raised by no write");
            let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            while libc::sigtimedwait(&raw const blocked, std::ptr::null_mut(), &raw const none) > 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        }
    }

    #[test]
    fn the_limit_on_the_length_of_files_is_known() {
        // Far more than any other test writes meanwhile.
        let most = 1 << 50;
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the parameters are valid for what they are used for.
        let known = unsafe {
            libc::getrlimit(libc::RLIMIT_FSIZE, &mut before);
            libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: most.min(before.rlim_max), ..before });
            let known = longest_file();
            libc::setrlimit(libc::RLIMIT_FSIZE, &before);
            known
        };
        assert_eq!(known, most.min(before.rlim_max));
    }
}
