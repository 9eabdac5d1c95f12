//! What is done at a signal.

use std::mem::MaybeUninit;
use std::os::raw::c_int;

/// What is done at it now.
pub fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut now = MaybeUninit::zeroed();
    // SAFETY: only asks; the out-parameter is valid for writes, and all zeros is a valid value.
    unsafe { (libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) == 0).then(|| now.assume_init()) }
}

/// Has something else done at it. May be called by handlers.
pub fn set_action(signal: c_int, handler: libc::sighandler_t) {
    // SAFETY: all zeros is a valid value; the handler does only what it may.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &new, std::ptr::null_mut());
    }
}
