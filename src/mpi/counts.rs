//! Counts that `int` does not hold, and messages of a rank to itself.

use super::constants;
use super::error::{Result, check};
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
    let mut large = large_type(count, datatype)?;
    let result = call(1, large);
    // SAFETY: ours; a message under way keeps what it needs of it.
    result.and(check(unsafe { mpi_sys::PMPI_Type_free(&mut large) }))
}

/// A committed type of `count` elements of `datatype`.
fn large_type(count: usize, datatype: MPI_Datatype) -> Result<MPI_Datatype> {
    let null = constants::datatype_null();
    let (mut block, mut blocks, mut rest, mut whole) = (null, null, null, null);
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: out-parameters are valid for writes; the parts are freed once, after the whole is made of them.
    unsafe {
        check(mpi_sys::PMPI_Type_get_extent(datatype, &mut lower, &mut extent))?;
        check(mpi_sys::PMPI_Type_contiguous(BLOCK as c_int, datatype, &mut block))?;
        check(mpi_sys::PMPI_Type_contiguous((count / BLOCK) as c_int, block, &mut blocks))?;
        check(mpi_sys::PMPI_Type_contiguous((count % BLOCK) as c_int, datatype, &mut rest))?;
        let displacement = (count / BLOCK * BLOCK) as mpi_sys::MPI_Aint * extent;
        check(mpi_sys::PMPI_Type_create_struct(
            2,
            [1, 1].as_ptr(),
            [0, displacement].as_ptr(),
            [blocks, rest].as_ptr(),
            &mut whole,
        ))?;
        check(mpi_sys::PMPI_Type_commit(&mut whole))?;
        for part in [&mut block, &mut blocks, &mut rest] {
            check(mpi_sys::PMPI_Type_free(part))?;
        }
    }
    Ok(whole)
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
