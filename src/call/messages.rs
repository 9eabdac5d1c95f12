//! The program's calls beside collectives, counted and timed, so that the time outside collectives is placed too.

use crate::communicator::making;
use crate::monitor::{Area, MessageCall, MessageCounts, MessageRecord, MessageSum, Shortness};
use crate::mpi::error::SUCCESS;
use crate::mpi::{constants, datatype, handler};
use crate::process::guard;
use crate::process::kept::{Kept, Key};
use crate::process::runtime::{self, Runtime};
use mpi_sys::MPI_Datatype;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether they are counted now.
static COUNTS: AtomicBool = AtomicBool::new(false);
/// Whether they are to be, while anything is recorded (`COLLIE_OBSERVE`).
static WANTED: AtomicBool = AtomicBool::new(false);
static SHORTNESS: OnceCell<Shortness> = OnceCell::new();

/// What all threads have counted, also those that have ended, whose counts others go on with.
static ALL: Mutex<Vec<&'static MessageCounts>> = Mutex::new(Vec::new());
static FREE: Mutex<Vec<&'static MessageCounts>> = Mutex::new(Vec::new());

/// What had been counted when the program wanted it forgotten.
static FORGOTTEN: Mutex<Vec<MessageSum>> = Mutex::new(Vec::new());

static KEY: Key = Key::new();

thread_local! {
    static OWN: Kept<Own> = const { Kept::nothing(&KEY) };
}

/// The counts of a thread, for as long as it lives.
struct Own(&'static MessageCounts);

impl Default for Own {
    fn default() -> Self {
        let free = FREE.lock().pop();
        Self(free.unwrap_or_else(|| {
            let made: &'static MessageCounts = Box::leak(Box::default());
            ALL.lock().push(made);
            made
        }))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // A call that the thread makes after this finds others.
        guard::thread().messages.set(std::ptr::null());
        FREE.lock().push(self.0);
    }
}

/// Counts from now on, if that is wanted.
pub fn start(runtime: &Runtime, wanted: bool) {
    SHORTNESS.get_or_init(|| Shortness::of(runtime.nanoseconds_per_tick));
    WANTED.store(wanted, Ordering::Relaxed);
    set_recording(runtime.recording.load(Ordering::Relaxed));
}

/// Goes along with whether anything is recorded.
pub fn set_recording(on: bool) {
    COUNTS.store(on && WANTED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether such calls are counted.
pub fn are_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Forgets what was counted.
pub fn reset() {
    *FORGOTTEN.lock() = sums();
}

/// What a call sends, reads or writes.
#[derive(Clone, Copy)]
pub struct Moved {
    /// Bytes.
    known: u64,
    /// Elements of a type whose size only the MPI library knows. It is asked when the call has succeeded: of what is
    /// wrong with a type it would tell `MPI_COMM_WORLD`, not whom the program's call is to tell.
    asked: Option<(u64, MPI_Datatype)>,
}

impl Moved {
    /// Nothing.
    pub const NOTHING: Self = Self::bytes(0);

    const fn bytes(known: u64) -> Self {
        Self { known, asked: None }
    }
}

/// A call that moves something, or nothing.
#[inline(always)]
pub fn count(call: MessageCall, moved: impl FnOnce() -> Moved, native: impl FnOnce() -> c_int) -> c_int {
    if makes_communicators(call) {
        return making::by_program(|| count_as_it_is(call, moved, native));
    }
    count_as_it_is(call, moved, native)
}

#[inline(always)]
fn count_as_it_is(call: MessageCall, moved: impl FnOnce() -> Moved, native: impl FnOnce() -> c_int) -> c_int {
    if !COUNTS.load(Ordering::Relaxed) {
        return native();
    }
    let moved = moved();
    let code = counted(call, moved.known, native);
    if code != SUCCESS {
        take_back(call, moved.known);
    } else if let Some(asked) = moved.asked {
        ask(call, asked);
    }
    code
}

/// Whether MPI libraries make communicators of their own for what such a call makes.
const fn makes_communicators(call: MessageCall) -> bool {
    use MessageCall::{FileOpen, WinAllocate, WinAllocateShared, WinCreate, WinCreateDynamic};
    matches!(call, FileOpen | WinAllocate | WinAllocateShared | WinCreate | WinCreateDynamic)
}

/// What a call that failed has not moved.
#[cold]
fn take_back(call: MessageCall, bytes: u64) {
    own().moved(call, bytes.wrapping_neg());
}

#[cold]
fn ask(call: MessageCall, (count, datatype): (u64, MPI_Datatype)) {
    let size = match handler::may_hide_errors() {
        // The call may have failed after all, for this handle.
        true => datatype::ask_size(datatype),
        false => {
            let mut size = 0;
            // SAFETY: the MPI library has just taken the handle; the out-parameter is valid for writes.
            let code = unsafe { mpi_sys::PMPI_Type_size_x(datatype, &mut size) };
            usize::try_from(size).ok().filter(|_| code == SUCCESS)
        }
    };
    own().moved(call, count.saturating_mul(size.unwrap_or(0) as u64));
}

#[inline]
fn counted(call: MessageCall, bytes: u64, native: impl FnOnce() -> c_int) -> c_int {
    let counts = own();
    if !counts.count(call, bytes) {
        return native();
    }
    let Some(runtime) = runtime::known() else { return native() };
    if call.area() != Area::PointToPoint {
        return timed_around(runtime, counts, call, native);
    }
    let start = runtime.clock.raw();
    let code = native();
    timed(counts, call, runtime.clock.raw().saturating_sub(start));
    code
}

/// A call that may make calls of MPI itself, as libraries do that read and write files: their time is told as theirs.
fn timed_around(runtime: &Runtime, counts: &MessageCounts, call: MessageCall, native: impl FnOnce() -> c_int) -> c_int {
    let within = || guard::thread().collectives().1 + counts.message_ticks();
    let (before, start) = (within(), runtime.clock.raw());
    let code = native();
    let ticks = runtime.clock.raw().saturating_sub(start);
    timed(counts, call, ticks.saturating_sub(within().saturating_sub(before)));
    code
}

/// The same for a call that was timed for another reason too, and in which messages have this part.
pub fn count_part(call: MessageCall, ticks: u64) {
    if COUNTS.load(Ordering::Relaxed) {
        own().known(call, ticks);
    }
}

#[inline]
fn timed(counts: &MessageCounts, call: MessageCall, ticks: u64) {
    if let Some(shortness) = SHORTNESS.get() {
        counts.timed(call, ticks, *shortness);
    }
}

#[inline(always)]
fn own() -> &'static MessageCounts {
    let known = guard::thread().messages.get().cast::<MessageCounts>();
    // SAFETY: nobody else writes there, and what is counted in is never freed.
    if known.is_null() { find_own() } else { unsafe { &*known } }
}

#[cold]
fn find_own() -> &'static MessageCounts {
    let own = OWN.with(|own| own.lend(|own| own.0));
    guard::thread().messages.set(std::ptr::from_ref(own).cast());
    own
}

/// What this thread counts, if anything, for others to read: once it has ended, a later thread goes on with it.
pub fn counts_of_this_thread() -> Option<&'static MessageCounts> {
    WANTED.load(Ordering::Relaxed).then(own)
}

/// Nobody receives what is sent there.
const NOBODY: c_int = mpi_sys::MPI_PROC_NULL as c_int;

/// `count` elements that are sent to that rank; none for counts that MPI forbids.
#[inline]
pub fn moved_to(to: c_int, count: i64, datatype: MPI_Datatype) -> Moved {
    moved_of_named(to, count, datatype.0 as usize, || datatype)
}

/// The same of the datatype that goes by that number, which is none of another one.
#[inline]
pub fn moved_of_named(to: c_int, count: i64, name: usize, datatype: impl FnOnce() -> MPI_Datatype) -> Moved {
    if to == NOBODY {
        return Moved::NOTHING;
    }
    let count = u64::try_from(count).unwrap_or(0);
    let (known, size) = guard::thread().sent.get();
    if known == name { Moved::bytes(count * size) } else { moved_of_other(count, name, datatype()) }
}

#[cold]
fn moved_of_other(count: u64, name: usize, datatype: MPI_Datatype) -> Moved {
    if datatype == constants::datatype_null() {
        return Moved::NOTHING;
    }
    match datatype::size_of_predefined(datatype) {
        // The handle of another type may come to mean a third one.
        None => Moved { known: 0, asked: Some((count, datatype)) },
        Some(size) => {
            guard::thread().sent.set((name, size as u64));
            Moved::bytes(count * size as u64)
        }
    }
}

fn sums() -> Vec<MessageSum> {
    let mut sums = vec![MessageSum::default(); MessageCall::ALL.len()];
    for counts in ALL.lock().iter() {
        sums.iter_mut().zip(counts.sums()).for_each(|(sum, counted)| *sum = sum.and(counted));
    }
    sums
}

/// What was counted, for this rank's record.
pub fn records(runtime: &Runtime) -> Vec<MessageRecord> {
    let forgotten = FORGOTTEN.lock();
    let sums = sums().into_iter().enumerate().map(|(place, sum)| match forgotten.get(place) {
        Some(before) => sum.since(*before),
        None => sum,
    });
    let sums: Vec<(MessageCall, MessageSum)> = MessageCall::ALL.iter().copied().zip(sums).collect();
    let ticks_of = |estimated: bool| {
        let those = sums.iter().filter(|(call, _)| call.returns_at_once() == estimated);
        those.map(|(_, sum)| sum.ticks).sum::<u64>()
    };
    // Of few calls a long one that stands for others may tell more time than there was.
    let (told, most) = (ticks_of(true), most_ticks(runtime).saturating_sub(ticks_of(false)));
    let within = |call: MessageCall, ticks: u64| match call.returns_at_once() && told > most {
        true => (ticks as f64 * most as f64 / told as f64) as u64,
        false => ticks,
    };
    let record = |(call, sum): &(MessageCall, MessageSum)| MessageRecord {
        call: *call as u8,
        calls: sum.calls,
        bytes: sum.bytes,
        total_ns: runtime.nanoseconds(within(*call, sum.ticks)),
    };
    sums.iter().filter(|(_, sum)| sum.calls > 0).map(record).collect()
}

/// What all threads together can have spent in messages: the run, but for this thread's collectives.
fn most_ticks(runtime: &Runtime) -> u64 {
    let run = runtime.clock.raw().saturating_sub(runtime.run_began());
    let (_, collective) = guard::thread().collectives();
    run.saturating_mul(ALL.lock().len() as u64).saturating_sub(collective)
}
