//! Whether the native library combines a predefined type with a predefined operation.
//!
//! The standard's table says what may be combined; a library may lack some of it, mostly optional types: MPICH 4.0.2
//! takes `MPI_COMPLEX32` for no operation. Its collectives refuse such a call on every rank before any message is sent.
//! `PMPI_Reduce_local` refuses it as well, but in the middle of an algorithm, where some ranks wait for what others then
//! never send. So the library is asked beforehand: once for each pair, by a reduction on a communicator of this rank alone.

use super::alone;
use super::collectives::native;
use super::constants;
use super::datatype::Datatype;
use super::error::check;
use super::family;
use super::handler::returning_errors;
use super::passed::Passed;
use crate::operation::Operation;
use mpi_sys::MPI_Op;
use parking_lot::Mutex;
use std::os::raw::c_void;

/// Operation, type, and what the library said of them.
type Answer = (usize, usize, bool);

static ANSWERS: Mutex<Vec<Answer>> = Mutex::new(Vec::new());

/// An element of any predefined type, which are of 32 bytes at most.
#[repr(align(16))]
struct Element([u8; 64]);

/// Whether the library reduces elements of `datatype` by `op`, which stands at `place` among the predefined ones. True
/// if it cannot be asked: a local failure must not send this rank to the native library alone.
pub fn is_defined(op: MPI_Op, place: usize, datatype: &Datatype) -> bool {
    let (address, size) = (datatype.handle.0 as usize, size_of::<Element>());
    if datatype.true_extent > size || usize::try_from(datatype.extent).is_ok_and(|extent| extent > size) {
        return true;
    }
    let known = |answers: &[Answer]| {
        let of = |(known, other, _): &&Answer| (*known, *other) == (place, address);
        answers.iter().find(of).map(|(.., is_defined)| *is_defined)
    };
    if let Some(known) = known(&ANSWERS.lock()) {
        return known;
    }
    let (send, mut receive) = (Element([0; 64]), Element([0; 64]));
    let passed = Passed {
        send: (&raw const send.0).cast_mut().cast::<c_void>(),
        send_count: 1,
        send_type: datatype.handle,
        receive: (&raw mut receive.0).cast::<c_void>(),
        receive_count: 1,
        receive_type: datatype.handle,
        op,
        ..Passed::nothing()
    };
    let asked = alone::ask(|comm| {
        // SAFETY: there is one rank, and both buffers hold an element of the type, from their first byte on.
        let is_accepted = || check(unsafe { native(Operation::Allreduce, &passed, comm) }).is_ok();
        // Open MPI 4.1.4 raises some errors of MPI_Allreduce on MPI_COMM_WORLD, whatever the communicator.
        match family::HANDLERS_MAY_BE_UNSET {
            true => Ok(is_accepted()),
            false => returning_errors(constants::comm_world(), || Ok(is_accepted())),
        }
    });
    let Ok(is_defined) = asked else { return true };
    ANSWERS.lock().push((place, address, is_defined));
    is_defined
}
