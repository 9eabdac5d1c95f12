//! The boundary between C and Rust: what Collie itself causes is not taken for the program's, and the ways that lead
//! out of a call past its end are known: a panic ends the job, an exception of the program goes on, and a `longjmp` out
//! of an error handler is recognised by the next call.

use super::flags::{self, WATCHED};
use super::last_communicators::LastCommunicators;
use super::{own_word, stack, watched};
use crate::mpi::end::{EX_SOFTWARE, end_job};
use crate::mpi::error::{Error, SUCCESS};
use crate::mpi::words::tell_before_the_end;
use crate::mpi::{communicator, handler};
use crate::operation::Operation;
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use std::cell::Cell;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Beside the address of a mark, which is a multiple of 8: what the MPI library calls meanwhile is the program's own
/// doing, such as an error handler that makes a collective call, in which ranks take part that are in no other.
const PASSED_ON: usize = 1;

/// What a thread keeps from call to call. In one piece, since each look for a thread's own data may be a function call;
/// and without destructors, since programs call MPI when their thread's objects are gone.
///
/// What a call on the communicator of the call before looks at comes first and is one line of the cache: a program that
/// computes between its calls has none of this in it.
#[repr(C, align(64))]
pub struct Thread {
    /// The mark of the call that it is inside Collie for, with [`PASSED_ON`] while that runs in the MPI library as the
    /// program made it; 0 outside.
    inside: Cell<usize>,
    /// Collective calls so far, and their ticks.
    collectives: Cell<(u64, u64)>,
    /// Where other threads may read these, if one wants to.
    told: Cell<Option<&'static Collectives>>,
    /// Whether the call that it is in was made in the middle of another one.
    in_callback: Cell<bool>,
    /// The operation that one of our algorithms is running for.
    playing: Cell<Option<Operation>>,
    /// The communicators of its last calls.
    pub communicators: LastCommunicators,
    /// What its messages are counted in, which is an address here and known to who counts them; null before the first,
    /// and when others may have been given it.
    pub messages: Cell<*const ()>,
    /// The predefined datatype of its last message, as C or Fortran names it, and the type's size.
    pub sent: Cell<(usize, u64)>,
    activity: Cell<&'static str>,
    /// An error to raise when Collie is left.
    error: Cell<Option<(MPI_Comm, Error, &'static str)>>,
}

const _: () = assert!(std::mem::offset_of!(Thread, communicators) + LastCommunicators::LATEST <= 64, "one line");

/// What a thread has counted of collectives, for others to read: the two numbers may be of neighbouring moments.
#[derive(Debug, Default)]
pub struct Collectives {
    calls: AtomicU64,
    ticks: AtomicU64,
}

impl Collectives {
    /// Calls so far, and their ticks.
    pub fn get(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.ticks.load(Ordering::Relaxed))
    }

    fn set(&self, (calls, ticks): (u64, u64)) {
        self.calls.store(calls, Ordering::Relaxed);
        self.ticks.store(ticks, Ordering::Relaxed);
    }
}

thread_local! {
    /// Each thread's, found by [`thread`].
    static THREAD: Thread = const {
        Thread {
            inside: Cell::new(0),
            communicators: LastCommunicators::none(),
            messages: Cell::new(std::ptr::null()),
            sent: Cell::new((usize::MAX, 0)),
            activity: Cell::new(""),
            in_callback: Cell::new(false),
            playing: Cell::new(None),
            error: Cell::new(None),
            collectives: Cell::new((0, 0)),
            told: Cell::new(None),
        }
    };
}

/// This thread's, which nobody takes away before the thread's last instruction, and no other thread can be given.
#[inline(always)]
pub fn thread() -> &'static Thread {
    let known = std::ptr::with_exposed_provenance::<Thread>(own_word::get());
    // SAFETY: it has no destructor, so that it lives as long as the thread; what is not `Sync` stays on it. The word of
    // this thread is null or what was written there below.
    unsafe { if known.is_null() { find_thread() } else { &*known } }
}

/// The same the first time, and where no word tells.
#[cold]
fn find_thread() -> &'static Thread {
    THREAD.with(|thread| {
        let thread = std::ptr::from_ref(thread);
        own_word::set(thread.expose_provenance());
        // SAFETY: as above.
        unsafe { &*thread }
    })
}

/// Lets go of all that a `longjmp` past a call has left held by this thread; known to who keeps the communicators.
static ABANDON: OnceCell<fn()> = OnceCell::new();

/// Has what a jump leaves behind held let go by this.
pub fn set_abandon(abandon: fn()) {
    ABANDON.get_or_init(|| abandon);
}

/// Where the thread's last call was, in words; known to who keeps the communicators.
static LAST_CALL: OnceCell<fn() -> String> = OnceCell::new();

/// Has messages say where the thread's last call was.
pub fn set_last_call(words: fn() -> String) {
    LAST_CALL.get_or_init(|| words);
}

/// A number that no other live thread has, and not 0.
#[inline]
pub fn this_thread() -> usize {
    thread().number()
}

impl Thread {
    /// A number that no other live thread has, and not 0.
    #[inline(always)]
    pub fn number(&self) -> usize {
        // An address is none of another live thread's.
        std::ptr::from_ref(self).addr()
    }

    /// So many collective calls more, of so many ticks.
    #[inline(always)]
    pub fn count(&self, calls: u64, ticks: u64) {
        let (before, ticks_before) = self.collectives.get();
        let now = (before + calls, ticks_before + ticks);
        self.collectives.set(now);
        if let Some(told) = self.told.get() {
            told.set(now);
        }
    }

    /// Tells others there what it counts, from now on and until it is given another place, or none.
    pub fn tell(&self, place: Option<&'static Collectives>) {
        if let Some(place) = place {
            place.set(self.collectives.get());
        }
        self.told.set(place);
    }

    /// Its collective calls so far, and their ticks.
    pub fn collectives(&self) -> (u64, u64) {
        self.collectives.get()
    }

    /// Whether it is inside Collie, or seems to be.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.inside.get() != 0
    }

    /// Enters Collie until the result is dropped or [left](Inside::leave). `mark` is a variable of the entering
    /// function.
    #[inline]
    pub fn enter<'a>(&'a self, mark: &'a Mark) -> Inside<'a> {
        Inside { thread: self, outer: self.inside.replace(mark.address()) }
    }

    /// The same for a call that is passed on and does nothing else that calls MPI.
    #[inline]
    pub fn enter_to_pass_on<'a>(&'a self, mark: &'a Mark) -> Inside<'a> {
        Inside { thread: self, outer: self.inside.replace(mark.address() | PASSED_ON) }
    }

    /// Runs the native form of the call that this thread is inside Collie for.
    #[inline]
    fn pass_on<T>(&self, native: impl FnOnce() -> T) -> T {
        struct Back<'a>(&'a Thread, usize);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.inside.set(self.1);
            }
        }
        let inside = self.inside.get();
        self.inside.set(inside | PASSED_ON);
        // Also where an exception of the program comes by.
        let _back = Back(self, inside);
        native()
    }
}

/// Runs the native form of the call that this thread is inside Collie for: the program's callbacks in it may make calls
/// of their own.
#[inline]
pub fn pass_on<T>(native: impl FnOnce() -> T) -> T {
    thread().pass_on(native)
}

impl Thread {
    /// As [`play`], on this thread.
    #[inline]
    pub fn play<T>(&self, operation: Operation, action: impl FnOnce() -> T) -> T {
        self.playing.set(Some(operation));
        let result = action();
        self.playing.set(None);
        result
    }
}

/// A place in the stack that tells whether the function that it belongs to is still running.
pub struct Mark(#[allow(dead_code, reason = "only its address is used")] u64);

impl Mark {
    /// To be kept in a variable.
    #[inline]
    pub const fn new() -> Self {
        Self(0)
    }

    #[inline]
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// This thread is inside Collie as long as this lasts. Dropped without being left where a panic or an exception of the
/// program comes by.
pub struct Inside<'a> {
    thread: &'a Thread,
    /// What it was inside for before: a call that was passed on, or nothing.
    outer: usize,
}

impl Inside<'_> {
    /// Leaves Collie, then raises the error that came up inside: the program's handler may jump wherever it likes.
    #[inline]
    pub fn leave(self, code: c_int) -> c_int {
        let Self { thread, outer } = self;
        std::mem::forget(self);
        thread.inside.set(outer);
        if code != SUCCESS {
            thread.raise_kept();
        }
        code
    }
}

impl Drop for Inside<'_> {
    #[cold]
    fn drop(&mut self) {
        if std::thread::panicking() {
            abort(self.thread);
        }
        self.thread.has_left_no_algorithm("an exception");
        self.thread.inside.set(self.outer);
        self.thread.error.set(None);
    }
}

impl Thread {
    #[cold]
    fn raise_kept(&self) {
        if let Some((comm, error, function)) = self.error.take() {
            // MPI will name the function that raises errors, and perhaps a message of ours.
            if handler::is_fatal(comm).unwrap_or(false) {
                let text = handler::text(error).unwrap_or_else(|_| format!("error {}", error.0));
                tell_before_the_end(&words_of_call("an error", function, &format!(": {text}")));
            }
            communicator::raise(comm, error);
        }
    }

    /// Whether a call made now comes from a call that this thread is in. If it does not, although the thread seems to
    /// be inside, an error handler has jumped out of the call before.
    #[cold]
    fn is_nested(&self, here: usize) -> bool {
        if stack::is_running(self.inside.get() & !PASSED_ON, here) {
            return true;
        }
        self.inside.set(0);
        self.error.set(None);
        self.has_left_no_algorithm("a jump");
        // What the call had no chance to take back. The state that it holds is its own thread's to hold again, but other
        // threads may call on the communicator too.
        if flags::is_set(WATCHED) {
            watched::of_this_thread().leave();
        }
        if let Some(abandon) = ABANDON.get() {
            abandon();
        }
        false
    }

    /// Ends the job if `way` has led out of one of our algorithms: the messages under way would meet those of later
    /// calls.
    fn has_left_no_algorithm(&self, way: &str) {
        if let Some(operation) = self.playing.take() {
            let what =
                format!("{way} out of the program's reduction function has interrupted one of Collie's algorithms");
            tell_and_abort(&what, operation.row().mpi_name);
        }
    }
}

/// So many collective calls more on this thread, of so many ticks.
#[inline]
pub fn count(calls: u64, ticks: u64) {
    thread().count(calls, ticks);
}

/// Runs `ours`, or `native` when this thread is inside Collie already: a reduction function or an attribute callback of
/// the program that calls MPI.
pub fn enter(call: &'static str, native: impl Fn() -> c_int, ours: impl FnOnce() -> c_int) -> c_int {
    let (thread, mark) = (thread(), Mark::new());
    if thread.is_inside() && thread.is_nested(mark.address()) {
        return native();
    }
    thread.run_inside(&mark, call, ours)
}

/// The same for a call of the program's, which may also come from a callback in a call that is passed on: an error
/// handler, where the other ranks make the call in no callback. Then [`is_in_a_callback`] while `ours` runs.
pub fn enter_call(call: &'static str, native: impl Fn() -> c_int, ours: impl FnOnce() -> c_int) -> c_int {
    let (thread, mark) = (thread(), Mark::new());
    let is_nested = thread.is_inside() && thread.is_nested(mark.address());
    if is_nested && thread.inside.get() & PASSED_ON == 0 {
        return native();
    }
    let before = thread.in_callback.replace(is_nested);
    let code = thread.run_inside(&mark, call, ours);
    thread.in_callback.set(before);
    code
}

/// Whether the call that this thread has [entered](enter_call) was made in the middle of another one, which is passed
/// on.
#[inline]
pub fn is_in_a_callback() -> bool {
    thread().in_callback.get()
}

impl Thread {
    fn run_inside(&self, mark: &Mark, call: &'static str, ours: impl FnOnce() -> c_int) -> c_int {
        let inside = self.enter(mark);
        let before = self.activity.replace(call);
        let code = ours();
        self.activity.set(before);
        inside.leave(code)
    }
}

/// Whether what runs now was called by the program's or MPI's code inside a call that this thread is in: a callback, or
/// an error handler.
pub fn is_in_a_call() -> bool {
    let (thread, mark) = (thread(), Mark::new());
    thread.is_inside() && thread.is_nested(mark.address())
}

/// Runs an algorithm of ours, which nothing may jump out of.
#[inline]
pub fn play<T>(operation: Operation, action: impl FnOnce() -> T) -> T {
    thread().play(operation, action)
}

/// Has `error` of a call of `function` raised on the program's communicator when Collie is left; gives the code to
/// return to the program.
#[cold]
pub fn raise(comm: MPI_Comm, error: Error, function: &'static str) -> c_int {
    thread().error.set(Some((comm, error, function)));
    error.0
}

/// After a panic, whose message has been told: going on with one rank out of step would hang the others.
fn abort(thread: &Thread) -> ! {
    let playing = thread.playing.get().map(|operation| operation.row().mpi_name);
    tell_and_abort("internal error", playing.unwrap_or(thread.activity.get()))
}

fn tell_and_abort(what: &str, call: &str) -> ! {
    end_job(&words_of_call(what, call, "; ending the job"), EX_SOFTWARE)
}

/// What is wrong in the thread's last call, which is one of the function `call`, before the job ends.
fn words_of_call(what: &str, call: &str, more: &str) -> String {
    let rank = super::runtime::get().map_or_else(|| "?".to_owned(), |runtime| runtime.world_rank.to_string());
    let context = LAST_CALL.get().map_or_else(String::new, |last_call| last_call());
    format!("rank {rank}: {what} in {call}{context}{more}")
}
