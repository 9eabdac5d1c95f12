//! Communicators that are being freed. Delete callbacks of the program may communicate on them, before or after
//! Collie's has taken its state away: on each rank as the attributes were set there. Such calls all go to the native
//! library, also while the state is still there, so that the ranks do the same; and since a state made for them would
//! be deleted by nobody.

use crate::process::{last_communicators, stack};
use mpi_sys::MPI_Comm;
use std::cell::Cell;
use std::os::raw::c_int;

/// A call that frees a communicator; a variable of that call.
struct Freeing {
    comm: MPI_Comm,
    /// The call whose delete callback makes this one.
    outer: *const Freeing,
}

thread_local! {
    static INNERMOST: Cell<*const Freeing> = const { Cell::new(std::ptr::null()) };
}

/// Puts back what was there, also when an exception comes by.
struct Undo(*const Freeing);

impl Drop for Undo {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// Frees `comm` by `native`. No thread remembers what is kept of it any more, so that whoever looks for that comes to
/// ask whether it [is dying](is_dying).
pub fn free(comm: MPI_Comm, native: impl FnOnce() -> c_int) -> c_int {
    let freeing = Freeing { comm, outer: INNERMOST.get() };
    let _undo = Undo(freeing.outer);
    INNERMOST.set(&raw const freeing);
    if last_communicators::may_be_kept(comm) {
        last_communicators::invalidate_caches();
    }
    native()
}

/// Whether this thread is in the middle of freeing `comm`. One look at a pointer if it frees none.
pub fn is_dying(comm: MPI_Comm) -> bool {
    let here = 0u64;
    let mut call = INNERMOST.get();
    while !call.is_null() {
        // An error handler may have jumped out of the call.
        if !stack::is_running(call as usize, &raw const here as usize) {
            INNERMOST.set(std::ptr::null());
            return false;
        }
        // SAFETY: the variable of a call on this thread that is still running.
        let freeing = unsafe { &*call };
        if freeing.comm == comm {
            return true;
        }
        call = freeing.outer;
    }
    false
}
