//! Counts that `int` does not hold, and messages of a rank to itself.

use super::constants;
use super::error::{Result, check};
use super::own_type::OwnType;
use mpi_sys::{MPI_Comm, MPI_Datatype};
use std::os::raw::c_int;

/// The tag of all messages of a call, which match in the order in which they were started.
pub(super) const TAG: c_int = 1;
/// The tag of no message on a private communicator: those of calls have [`TAG`], those between calls have 2.
pub(super) const NOBODYS_TAG: c_int = 3;
/// Elements per block of the types that carry more than `c_int` can count.
const BLOCK: usize = 1 << 30;

/// Calls `call` with a count that fits `c_int`: beyond it, one element of a type made for the purpose.
#[inline]
pub(super) fn with_count(
    (count, datatype): (usize, MPI_Datatype),
    call: impl FnOnce(c_int, MPI_Datatype) -> Result,
) -> Result {
    match c_int::try_from(count) {
        Ok(count) => call(count, datatype),
        Err(_) => with_large_type(count, datatype, call),
    }
}

#[cold]
fn with_large_type(count: usize, datatype: MPI_Datatype, call: impl FnOnce(c_int, MPI_Datatype) -> Result) -> Result {
    let large = large_type(count, datatype)?;
    call(1, large.handle())
}

/// A committed type of `count` elements of `datatype`.
fn large_type(count: usize, datatype: MPI_Datatype) -> Result<OwnType> {
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: out-parameters are valid for writes.
    check(unsafe { mpi_sys::PMPI_Type_get_extent(datatype, &mut lower, &mut extent) })?;
    let block = OwnType::contiguous(BLOCK, datatype)?;
    let blocks = OwnType::contiguous(count / BLOCK, block.handle())?;
    let rest = OwnType::contiguous(count % BLOCK, datatype)?;
    let displacement = (count / BLOCK * BLOCK) as mpi_sys::MPI_Aint * extent;
    OwnType::of_blocks([1, 1], [0, displacement], [blocks.handle(), rest.handle()])?.committed()
}

/// A message from a rank to itself, which turns one layout into another, of any size.
pub(super) fn exchange_with_self(
    comm: MPI_Comm,
    rank: usize,
    from: (*mut u8, usize, MPI_Datatype),
    into: (*mut u8, usize, MPI_Datatype),
) -> Result {
    let (me, status) = (rank as c_int, constants::status_ignore());
    with_count((from.1, from.2), |send_count, send_type| {
        with_count((into.1, into.2), |receive_count, receive_type| {
            // SAFETY: both sides hold what their counts and types say; they do not overlap.
            check(unsafe {
                mpi_sys::PMPI_Sendrecv(
                    from.0.cast(),
                    send_count,
                    send_type,
                    me,
                    TAG,
                    into.0.cast(),
                    receive_count,
                    receive_type,
                    me,
                    TAG,
                    comm,
                    status,
                )
            })
        })
    })
}
