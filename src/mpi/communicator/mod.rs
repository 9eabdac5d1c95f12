//! Communicators: what Collie asks of the program's, and the private one that its own messages travel in. What ranks
//! tell each other in them is in `small_messages`, how Collie keeps a pointer on one in `attribute`.

mod attribute;
mod small_messages;

pub use attribute::{Invalid, Key};
pub(super) use small_messages::TAG;
pub use small_messages::{
    all, allgather, await_message, exchange_words, least, meet_quietly, most, receive_bytes, receive_words, send_bytes,
    send_words, shift_words, sums,
};

use super::constants;
use super::error::{Error, Result, check, throwing};
use super::handler::{may_be_unset, returning_errors};
use super::text::printable;
use mpi_sys::MPI_Comm;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int};

/// Own rank.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn rank(comm: MPI_Comm) -> Result<usize> {
    let mut rank = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Comm_rank(comm, &mut rank) })?;
    Ok(rank as usize)
}

/// Number of ranks (of the local group of an intercommunicator).
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn size(comm: MPI_Comm) -> Result<usize> {
    let mut size = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Comm_size(comm, &mut size) })?;
    Ok(size as usize)
}

/// Number of ranks of the remote group of an intercommunicator.
///
/// # Errors
/// What PMPI says of an invalid handle, or of one that connects no groups.
pub fn remote_size(comm: MPI_Comm) -> Result<usize> {
    let mut size = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Comm_remote_size(comm, &mut size) })?;
    Ok(size as usize)
}

/// Whether it connects two groups.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn is_inter(comm: MPI_Comm) -> Result<bool> {
    let mut flag = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Comm_test_inter(comm, &mut flag) })?;
    Ok(flag != 0)
}

/// The name that the program or MPI gave it; `None` where there is none.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn name(comm: MPI_Comm) -> Result<Option<String>> {
    let mut text = [0 as c_char; mpi_sys::MPI_MAX_OBJECT_NAME as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for, and ends in a zero that MPI does not write over.
    let name = unsafe {
        check(mpi_sys::PMPI_Comm_get_name(comm, text.as_mut_ptr(), &mut length))?;
        CStr::from_ptr(text.as_ptr())
    };
    let name = name.to_string_lossy();
    // Nobody can read one of blanks.
    Ok((!name.trim().is_empty()).then(|| printable(&name)))
}

/// Whether this `MPI_COMM_WORLD` was spawned by processes of another, with which it is still connected.
pub fn has_parent() -> bool {
    let mut parent = std::mem::MaybeUninit::uninit();
    // SAFETY: the out-parameter is valid for writes, and read where it was filled.
    unsafe {
        check(mpi_sys::PMPI_Comm_get_parent(parent.as_mut_ptr())).is_ok()
            && parent.assume_init() != constants::comm_null()
    }
}

/// World rank of each rank of its (local or remote) group, in order; `MPI_UNDEFINED` for ranks of other worlds.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn world_ranks(comm: MPI_Comm, remote: bool) -> Result<Vec<c_int>> {
    translated(comm, remote, None)
}

/// Whether all its ranks (of the local group of an intercommunicator) belong to this process's `MPI_COMM_WORLD`.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn local_group_is_in_world(comm: MPI_Comm) -> Result<bool> {
    Ok(!translated(comm, false, None)?.contains(&(mpi_sys::MPI_UNDEFINED as c_int)))
}

/// Whether all its ranks, those of an intercommunicator's remote group included, belong to this process's
/// `MPI_COMM_WORLD`. Every rank gets the same answer: where there are several worlds, each sees the others'.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn all_groups_are_in_world(comm: MPI_Comm) -> Result<bool> {
    let remote = || Ok(!translated(comm, true, None)?.contains(&(mpi_sys::MPI_UNDEFINED as c_int)));
    Ok(local_group_is_in_world(comm)? && (!is_inter(comm)? || remote()?))
}

/// World ranks of both groups of an intercommunicator, in an order that both see alike; of others the second is empty.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn sides(comm: MPI_Comm) -> Result<[Vec<c_int>; 2]> {
    let own = world_ranks(comm, false)?;
    let other = if is_inter(comm)? { world_ranks(comm, true)? } else { Vec::new() };
    // Each side of two sees itself as the own one.
    Ok(if other.is_empty() || own <= other { [own, other] } else { [other, own] })
}

/// World rank of its rank 0; of an intercommunicator, the lesser of the two that belong to this process's
/// `MPI_COMM_WORLD`, which both groups see alike where both do.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn first_world_rank(comm: MPI_Comm) -> Result<c_int> {
    let own = translated(comm, false, Some(1))?[0];
    let other = if is_inter(comm)? { translated(comm, true, Some(1))?[0] } else { own };
    let undefined = mpi_sys::MPI_UNDEFINED as c_int;
    let known = [own, other].into_iter().filter(|rank| *rank != undefined);
    Ok(known.min().unwrap_or(undefined))
}

/// The first `most` of the ranks, or all, as world ranks. No communication.
fn translated(comm: MPI_Comm, remote: bool, most: Option<c_int>) -> Result<Vec<c_int>> {
    let (mut group, mut world) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: out-parameters are valid for writes, the vectors as long as said; each group is freed once.
    unsafe {
        check(match remote {
            true => mpi_sys::PMPI_Comm_remote_group(comm, group.as_mut_ptr()),
            false => mpi_sys::PMPI_Comm_group(comm, group.as_mut_ptr()),
        })?;
        check(mpi_sys::PMPI_Comm_group(constants::comm_world(), world.as_mut_ptr()))?;
        let mut size = 0;
        check(mpi_sys::PMPI_Group_size(group.assume_init(), &mut size))?;
        let size = most.map_or(size, |most| most.min(size));
        let ranks: Vec<c_int> = (0..size).collect();
        let mut found = vec![0; ranks.len()];
        let translated = mpi_sys::PMPI_Group_translate_ranks(
            group.assume_init(),
            size,
            ranks.as_ptr(),
            world.assume_init(),
            found.as_mut_ptr(),
        );
        check(mpi_sys::PMPI_Group_free(group.as_mut_ptr()))?;
        check(mpi_sys::PMPI_Group_free(world.as_mut_ptr()))?;
        check(translated)?;
        Ok(found)
    }
}

/// Whether there are context ids left for a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// As all ranks have found.
    Left,
    /// Nobody has asked.
    PerhapsNone,
}

/// Makes a communicator with the ranks of `comm` in the same order. Collective; `None` on all ranks if it could not be
/// made on some, for instance because the context ids have run out. Where they have not, a communicator without an error
/// handler stays without one, and should it not be made for another reason, the program's handler hears of it.
///
/// Unlike `MPI_Comm_dup` this runs none of the program's attribute callbacks.
///
/// # Errors
/// What PMPI returned from the agreement.
pub fn make_private(comm: MPI_Comm, ids: Ids) -> Result<Option<MPI_Comm>> {
    let mut private = constants::comm_null();
    let mut made = match ids == Ids::Left && may_be_unset(comm)? {
        true => create_like(comm, &mut private),
        false => returning_errors(comm, || create_like(comm, &mut private)),
    };
    if private == constants::comm_null() && made.is_ok() {
        made = Err(Error(mpi_sys::MPI_ERR_COMM as c_int));
    }
    if all(comm, made.is_ok())? {
        return Ok(Some(private));
    }
    if private != constants::comm_null()
        && let Err(error) = free(private)
    {
        // Only this rank's; all of them go on without.
        log::warn!("a private communicator could not be freed: {error}");
    }
    Ok(None)
}

/// Makes a communicator with the ranks of `comm` that returns its errors. Collective.
///
/// # Errors
/// What PMPI returned, where errors on `comm` are returned.
pub(super) fn create_like(comm: MPI_Comm, made: &mut MPI_Comm) -> Result {
    let mut group = std::mem::MaybeUninit::uninit();
    // SAFETY: out-parameters are valid for writes; the group is freed once.
    unsafe {
        check(mpi_sys::PMPI_Comm_group(comm, group.as_mut_ptr()))?;
        let created = check(mpi_sys::PMPI_Comm_create(comm, group.assume_init(), made));
        check(mpi_sys::PMPI_Group_free(group.as_mut_ptr()))?;
        created?;
        check(mpi_sys::PMPI_Comm_set_errhandler(*made, constants::errors_return()))
    }
}

/// Frees a communicator of ours.
///
/// # Errors
/// What PMPI returned.
pub fn free(mut comm: MPI_Comm) -> Result {
    // SAFETY: the handle is ours and used no more.
    check(unsafe { mpi_sys::PMPI_Comm_free(&mut comm) })
}

/// Raises `error` on the program's communicator and gives the code to return to the program.
///
/// The handler may throw an exception, or jump: nothing may be held here that has to be given back.
pub fn raise(comm: MPI_Comm, error: Error) -> c_int {
    // SAFETY: the program's own handle; its error handler decides what follows.
    unsafe { throwing!(PMPI_Comm_call_errhandler(MPI_Comm, c_int))(comm, error.0) };
    error.0
}
