//! Control from inside the program: what `collie.h` offers.
//!
//! Choices made here are the program's word and come before variables and rules. Every rank that takes part in the
//! collectives concerned has to make the same choice at the same point, as with any collective call.

#![allow(clippy::missing_safety_doc, reason = "this documentation becomes that of a C header")]

use crate::call::attachment::{Seen, Visit};
use crate::call::choices::EVERYWHERE;
use crate::call::regions::{self, Said};
use crate::call::registry;
use crate::mpi::constants;
use crate::operation::Operation;
use crate::process::runtime;
use crate::selection::Wanted;
use crate::service::report;
use mpi_sys::MPI_Comm;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int};

/// What a call of `collie.h` gives: 0, or one of the codes below.
const DONE: c_int = 0;
/// The name or choice is unknown; a line on stderr says what is accepted.
const UNKNOWN: c_int = 1;
/// MPI is not initialised, or has ended.
const INACTIVE: c_int = 2;
/// The report could not be written; a line on stderr says why.
const UNWRITTEN: c_int = 3;

/// Version of the library, as `major.minor.patch`; a static string.
#[unsafe(no_mangle)]
pub extern "C" fn collie_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Chooses how `operation` ("bcast", "reduce", ...) runs from now on, on every communicator: "auto", "native", or an
/// algorithm with parameters, as in the environment variables. All ranks have to make the same choice.
///
/// `operation` and `choice` are NUL-terminated strings. Returns 0, or 1 for an unknown operation, algorithm, parameter
/// or value, or a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn collie_choose(operation: *const c_char, choice: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let Some((operation, wanted)) = (unsafe { read(operation, choice) }) else { return UNKNOWN };
    EVERYWHERE.choose(operation, wanted);
    DONE
}

/// As `collie_choose`, but on the communicator `comm` only, where it takes precedence over `collie_choose`.
///
/// `operation` and `choice` are NUL-terminated strings. Returns 0, 1 as above, or 2 if MPI is not initialised or `comm`
/// is invalid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn collie_choose_on(comm: MPI_Comm, operation: *const c_char, choice: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let Some((operation, wanted)) = (unsafe { read(operation, choice) }) else { return UNKNOWN };
    if comm == constants::comm_null() {
        return INACTIVE;
    }
    let Some(Ok(attachment)) = runtime::get().map(|runtime| registry::of(runtime, comm)) else { return INACTIVE };
    // SAFETY: the communicator is alive.
    unsafe { &*attachment }.chosen.choose(operation, wanted);
    DONE
}

/// What this rank has counted for an operation since the start, or since `MPI_Pcontrol(2)`.
#[repr(C)]
pub struct CollieStatistics {
    /// Calls.
    pub calls: u64,
    /// Calls that went to the MPI library's own collective.
    pub native_calls: u64,
    /// Signature bytes that this rank contributed.
    pub bytes: u64,
    /// Time in the calls, nanoseconds.
    pub nanoseconds: u64,
}

/// Fills `statistics` for `operation`, over all communicators that still exist, except communicators that another
/// thread is updating at that moment. Calls under way are not counted yet. Local: no communication.
///
/// `operation` is a NUL-terminated string. Returns 0, 1 for an unknown operation or a null pointer, or 2 if MPI is not
/// initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn collie_read(operation: *const c_char, statistics: *mut CollieStatistics) -> c_int {
    // SAFETY: the caller's promise.
    let Some(name) = (unsafe { text(operation) }) else { return complain("collie_read: operation is null") };
    let Some(operation) = Operation::from_name(&name) else { return complain(&unknown_operation(&name)) };
    if statistics.is_null() {
        return complain("collie_read: statistics is null");
    }
    let Some(runtime) = runtime::get() else { return INACTIVE };
    let mut sum = CollieStatistics { calls: 0, native_calls: 0, bytes: 0, nanoseconds: 0 };
    let add = |seen: Seen| {
        if seen.is_outdated {
            return;
        }
        let counters = seen.attached.communicator.tally.table.records(runtime.nanoseconds_per_tick);
        for counter in counters.iter().filter(|counter| counter.function == operation.into()) {
            sum.calls += counter.calls;
            sum.native_calls += if *counter.algorithm == *crate::monitor::NATIVE { counter.calls } else { 0 };
            sum.bytes += counter.bytes;
            sum.nanoseconds += counter.total_ns;
        }
    };
    // SAFETY: `add` reads the counters of calls, which a holder that is away does not change, and are not what messages
    // are counted in; it keeps copies only and clones nothing of the caches. `AnyTime` asks nothing of this thread.
    let left_out = registry::walk().map_or(0, |walk| unsafe { walk.each(Visit::AnyTime, add) });
    if left_out > 0 {
        log::debug!("collie_read leaves out {left_out} communicators that are being updated");
    }
    // SAFETY: it is not null, and then the caller's promise.
    unsafe { statistics.write(sum) };
    DONE
}

/// Writes the report now, as `MPI_Finalize` would. Collective over `MPI_COMM_WORLD`.
///
/// Returns 0, 2 if MPI is not initialised, or 3 (on rank 0) if the report could not be written.
#[unsafe(no_mangle)]
pub extern "C" fn collie_report() -> c_int {
    match runtime::get() {
        None => INACTIVE,
        Some(runtime) if report::report(runtime) => DONE,
        Some(_) => UNWRITTEN,
    }
}

/// Begins a region of the program on this thread: the report says how long it took, and how much of that was spent in
/// collectives and messages. Regions may be nested. A program that declares `#pragma weak collie_region_begin` and
/// checks that the function is not null need not be linked with Collie. In Fortran: `call collie_region_begin('name')`.
///
/// `name` is a NUL-terminated string. Returns 0, 1 for a null pointer, or 2 if MPI is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn collie_region_begin(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { text(name) } {
        Some(name) => begin_region(&name),
        None => complain("collie_region_begin: name is null"),
    }
}

/// Ends the region of that name that began last on this thread.
///
/// `name` is a NUL-terminated string. Returns 0, 1 if no such region has begun or for a null pointer, or 2 if MPI is
/// not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn collie_region_end(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { text(name) } {
        Some(name) => end_region(&name),
        None => complain("collie_region_end: name is null"),
    }
}

fn begin_region(name: &str) -> c_int {
    let Some(runtime) = runtime::get() else { return INACTIVE };
    regions::begin(runtime, name, Said::ByName);
    DONE
}

fn end_region(name: &str) -> c_int {
    match runtime::get() {
        None => INACTIVE,
        Some(runtime) if regions::end(runtime, name) => DONE,
        Some(_) => {
            let mistake = format!("collie_region_end(\"{name}\"): no such region has begun on this thread");
            if crate::process::log::is_new(&mistake) { complain(&mistake) } else { UNKNOWN }
        }
    }
}

/// The same for Fortran, which passes the length behind all arguments and fills up with blanks.
macro_rules! fortran_regions {
    ($($symbol:literal => $action:ident;)*) => {
        $(const _: () = {
            /// # Safety
            /// A text of that length, or null.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn entry(name: *const c_char, length: usize) {
                // What is absent has no name, as an empty text.
                let name = match name.is_null() {
                    true => &[],
                    // SAFETY: the caller's promise.
                    false => unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) },
                };
                $action(String::from_utf8_lossy(name).trim_end());
            }
        };)*
    };
}

fortran_regions! {
    "collie_region_begin_" => begin_region;
    "collie_region_begin__" => begin_region;
    "collie_region_end_" => end_region;
    "collie_region_end__" => end_region;
}

/// Reads an operation and a choice; a line on stderr if they are wrong.
unsafe fn read(operation: *const c_char, choice: *const c_char) -> Option<(Operation, Wanted)> {
    // SAFETY: the caller's promise.
    let (name, choice) = unsafe { (text(operation), text(choice)) };
    let (Some(name), Some(choice)) = (name, choice) else {
        complain("collie_choose: operation or choice is null");
        return None;
    };
    let Some(operation) = Operation::from_name(&name) else {
        complain(&unknown_operation(&name));
        return None;
    };
    match Wanted::parse(operation, &choice) {
        Ok(wanted) => Some((operation, wanted)),
        Err(words) => {
            complain(&words);
            None
        }
    }
}

/// The text that a caller passed; nothing for a null pointer.
///
/// # Safety
/// A string that ends in a zero byte and stays as it is meanwhile, or null.
unsafe fn text<'a>(string: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: it is not null, and then the caller's promise.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_string_lossy())
}

fn unknown_operation(name: &str) -> String {
    let accepted: Vec<_> = Operation::ALL.iter().map(|operation| operation.name()).collect();
    format!("unknown operation '{name}'; accepted: {}", accepted.join(", "))
}

fn complain(words: &str) -> c_int {
    crate::process::log::tell(words);
    UNKNOWN
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    #[test]
    fn null_pointers_are_refused() {
        let (bcast, comm) = (c"bcast".as_ptr(), constants::comm_null());
        let mut statistics = CollieStatistics { calls: 0, native_calls: 0, bytes: 0, nanoseconds: 0 };
        // SAFETY: all are strings that end in a zero byte, or null, and the statistics can be written, or are null.
        let codes = unsafe {
            [
                collie_choose(null(), bcast),
                collie_choose(bcast, null()),
                collie_choose_on(comm, null(), bcast),
                collie_choose_on(comm, bcast, null()),
                collie_read(null(), &raw mut statistics),
                collie_read(bcast, null_mut()),
                collie_region_begin(null()),
                collie_region_end(null()),
            ]
        };
        assert_eq!(codes, [UNKNOWN; 8]);
        // SAFETY: as above.
        let inactive = unsafe { [collie_read(bcast, &raw mut statistics), collie_region_begin(bcast)] };
        assert_eq!(inactive, [INACTIVE; 2], "MPI is not initialised");
    }
}
