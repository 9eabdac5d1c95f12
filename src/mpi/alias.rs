//! Whether the native library refuses a call whose send and receive buffers are one.
//!
//! | | Open MPI 4.1.4, 5.0.11 | MPICH 4.0.2, 5.0.2 |
//! | --- | --- | --- |
//! | allreduce, from address to address | refused for two elements and more | refused |
//! | reduce at the root, from address to address | refused | refused |
//! | gather and scatter at the root, allgather, with the own block | computed | refused if counts and types are the same |
//! | alltoall, from address to address | computed | refused if counts and types are the same |
//! | alltoallv, from address to address | computed | refused if types and the arrays of counts are the same, else not computed |
//! | counts of 0 | accepted | accepted; of alltoallv refused |
//!
//! Both libraries have a switch that turns the checks off (`mpi_param_check`, `MPIR_CVAR_COLL_ALIAS_CHECK`), and builds
//! differ, so the library is asked: once for an operation, when the program first makes such a call.

use super::alone;
use super::collectives::native;
use super::constants;
use super::error::check;
use super::family;
use super::handler::returning_errors;
use super::passed::Passed;
use crate::operation::Operation;
use mpi_sys::MPI_Comm;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicU8, Ordering};

/// What the library was asked so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Answer {
    Unknown,
    Accepts,
    Refuses,
}

static ANSWERS: [[AtomicU8; 2]; Operation::ALL.len()] =
    [const { [const { AtomicU8::new(Answer::Unknown as u8) }; 2] }; Operation::ALL.len()];

/// Whether the library refuses `operation` on `count` elements at one address. Where counts are in arrays, it may look
/// at the address of the array alone, and refuse a call without elements.
pub fn is_refused(operation: Operation, count: i64) -> bool {
    let in_arrays = operation.has_own_counts();
    if count == 0 && !in_arrays {
        return false;
    }
    let several = count > if in_arrays { 0 } else { 1 };
    let answer = &ANSWERS[operation as usize][usize::from(several)];
    match answer.load(Ordering::Relaxed) {
        known if known == Answer::Refuses as u8 => true,
        known if known == Answer::Accepts as u8 => false,
        _ => {
            let elements = if in_arrays { c_int::from(several) } else { 1 + c_int::from(several) };
            let asked = alone::ask(|comm| {
                let is_refused = || check(ask(operation, elements, comm)).is_err();
                // Open MPI 4.1.4 raises this error of MPI_Allreduce on MPI_COMM_WORLD, whatever the communicator.
                match family::HANDLERS_MAY_BE_UNSET {
                    true => Ok(is_refused()),
                    false => returning_errors(constants::comm_world(), || Ok(is_refused())),
                }
            });
            // A local failure must not send this rank to the native library alone.
            let Ok(refused) = asked else { return false };
            let found = if refused { Answer::Refuses } else { Answer::Accepts };
            answer.store(found as u8, Ordering::Relaxed);
            refused
        }
    }
}

/// Where the only block is.
static NO_DISPLACEMENT: c_int = 0;

/// Makes such a call on a communicator of this rank alone.
fn ask(operation: Operation, count: c_int, comm: MPI_Comm) -> c_int {
    let mut elements: [c_int; 2] = [0; 2];
    // A rank that has nothing may well pass no address.
    let at = if count > 0 { elements.as_mut_ptr().cast::<c_void>() } else { std::ptr::null_mut() };
    let int = constants::int();
    let (counts, displacements) = ((&raw const count).cast(), (&raw const NO_DISPLACEMENT).cast());
    let passed = Passed {
        send: at,
        send_count: i64::from(count),
        send_type: int,
        receive: at,
        receive_count: i64::from(count),
        receive_type: int,
        op: constants::op_min(),
        send_counts: counts,
        send_displacements: displacements,
        receive_counts: counts,
        receive_displacements: displacements,
        ..Passed::nothing()
    };
    // SAFETY: there is one rank, so no more than `count` elements are read and written.
    unsafe { native(operation, &passed, comm) }
}
