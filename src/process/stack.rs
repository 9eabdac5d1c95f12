//! The stack of this thread: whether a function is still running, told from a place in its part of it, since a
//! `longjmp` leaves no other trace; and where the program's own code called from.

use std::os::raw::{c_int, c_void};

#[repr(C)]
struct Context {
    private: [u8; 0],
}

unsafe extern "C" {
    fn _Unwind_Backtrace(look: extern "C" fn(*mut Context, *mut c_void) -> c_int, found: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
}

const GO_ON: c_int = 0;
const END: c_int = 4;

/// What a walk up the stack is after.
struct Walk {
    place: usize,
    /// Where the function looked at last begins in the stack, and an instruction of it.
    last: (usize, usize),
    /// Whether the walk has left the functions of this library that it began in.
    outside: bool,
    /// Whether the place belongs to a function of this library that has called, through others, the one that asks.
    found: Option<bool>,
}

extern "C" fn look(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the walk below, which nobody else uses meanwhile; the context is valid for as long as this function runs.
    // What it gives as canonical frame address is that of the function called from here: where this one's part begins.
    let (walk, begin, instruction) =
        unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetCFA(context), _Unwind_GetIP(context)) };
    let (last_begin, last_instruction) = walk.last;
    if (last_begin..begin).contains(&walk.place) {
        // In the functions that the walk begins in lie what is new and what an old call has left there.
        walk.found = Some(walk.outside && is_ours(last_instruction));
        return END;
    }
    walk.outside = walk.outside || last_begin != 0 && !is_ours(last_instruction);
    walk.last = (begin, instruction);
    GO_ON
}

/// Whether the function of this library whose variable is, or was, at `place` is still running and has called, through
/// functions of others, the one whose variable is at `here`. Where the stack cannot be walked that far, that is so.
pub fn is_running(place: usize, here: usize) -> bool {
    // Stacks grow downwards on every machine that MPI runs on.
    if here >= place {
        return false;
    }
    let mut walk = Walk { place, last: (0, 0), outside: false, found: None };
    // SAFETY: the function has the type that the unwinder asks for, and the walk outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut walk).cast()) };
    walk.found.unwrap_or(true)
}

/// Where each of the functions that are running goes on, from the innermost on, until `found` has what it wants.
pub fn walk(mut found: &mut dyn FnMut(usize) -> bool) {
    extern "C" fn look(context: *mut Context, found: *mut c_void) -> c_int {
        // SAFETY: the function below, which nobody else uses meanwhile; the context is valid for as long as this one
        // runs.
        let is_enough = unsafe { (*found.cast::<&mut dyn FnMut(usize) -> bool>())(_Unwind_GetIP(context)) };
        if is_enough { END } else { GO_ON }
    }
    // SAFETY: the function has the type that the unwinder asks for, and what it gets outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut found).cast()) };
}

/// Whether an instruction is in this library.
fn is_ours(instruction: usize) -> bool {
    let library = |address: usize| {
        let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: the out-parameter is valid for writes and read where it was filled.
        unsafe {
            (libc::dladdr(address as *const c_void, found.as_mut_ptr()) != 0).then(|| found.assume_init().dli_fbase)
        }
    };
    library(instruction) == library(is_ours as *const () as usize)
}
