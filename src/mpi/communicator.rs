//! Communicators: what Collie asks of the program's, and the private one that its own messages travel in.

use super::constants;
use super::error::{Error, Result, check, throwing};
use super::handler::{may_be_unset, returning_errors};
use super::text::printable;
use mpi_sys::MPI_Comm;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_void};
use std::time::Duration;

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
    Ok((!name.is_empty()).then(|| printable(&name)))
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

/// World rank of its rank 0.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn first_world_rank(comm: MPI_Comm) -> Result<c_int> {
    Ok(translated(comm, false, Some(1))?[0])
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

/// The tag of single messages in communicators of ours.
pub(super) const TAG: c_int = 2;

/// Sends a few words to `to`, in a communicator of ours.
///
/// # Errors
/// What PMPI returned.
pub fn send_words<const WORDS: usize>(comm: MPI_Comm, to: usize, words: [u64; WORDS]) -> Result {
    // SAFETY: so many elements of that type.
    check(unsafe {
        mpi_sys::PMPI_Send(words.as_ptr().cast(), WORDS as c_int, constants::uint64(), to as c_int, TAG, comm)
    })
}

/// Receives what [`send_words`] sent.
///
/// # Errors
/// What PMPI returned.
pub fn receive_words<const WORDS: usize>(comm: MPI_Comm, from: usize) -> Result<[u64; WORDS]> {
    let (mut words, status) = ([0u64; WORDS], constants::status_ignore());
    // SAFETY: room for so many elements of that type.
    check(unsafe {
        let room = words.as_mut_ptr().cast();
        mpi_sys::PMPI_Recv(room, WORDS as c_int, constants::uint64(), from as c_int, TAG, comm, status)
    })?;
    Ok(words)
}

/// Sends bytes to `to`, in a communicator of ours.
///
/// # Errors
/// What PMPI returned.
pub fn send_bytes(comm: MPI_Comm, to: usize, bytes: &[u8]) -> Result {
    let (first, number) = (bytes.as_ptr().cast(), bytes.len() as c_int);
    // SAFETY: so many bytes.
    check(unsafe { mpi_sys::PMPI_Send(first, number, constants::byte(), to as c_int, TAG, comm) })
}

/// Receives what [`send_bytes`] sent, as many bytes at most as there is room for.
///
/// # Errors
/// What PMPI returned.
pub fn receive_bytes(comm: MPI_Comm, from: usize, room: &mut [u8]) -> Result {
    let (first, number, status) = (room.as_mut_ptr().cast(), room.len() as c_int, constants::status_ignore());
    // SAFETY: room for so many bytes.
    check(unsafe { mpi_sys::PMPI_Recv(first, number, constants::byte(), from as c_int, TAG, comm, status) })
}

/// Waits for a message from `from` as long as that takes, looking for it at this interval only, so that others get the
/// core.
///
/// # Errors
/// What PMPI returned.
pub fn await_message(comm: MPI_Comm, from: usize, interval: Duration) -> Result {
    let mut here = 0;
    loop {
        // SAFETY: the flag is valid for writes.
        check(unsafe { mpi_sys::PMPI_Iprobe(from as c_int, TAG, comm, &mut here, constants::status_ignore()) })?;
        if here != 0 {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
}

/// Waits for all ranks, looking at this interval only whether they have come. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn meet_quietly(comm: MPI_Comm, interval: Duration) -> Result {
    let (mut request, mut done) = (constants::request_null(), 0);
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Ibarrier(comm, &mut request) })?;
    loop {
        // SAFETY: the request is under way, or done and null; the flag is valid for writes.
        check(unsafe { mpi_sys::PMPI_Test(&mut request, &mut done, constants::status_ignore()) })?;
        if done != 0 {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
}

/// Sends words to a rank that does the same; gives what it sent.
///
/// # Errors
/// What PMPI returned.
pub fn exchange_words<const WORDS: usize>(comm: MPI_Comm, with: usize, own: [u64; WORDS]) -> Result<[u64; WORDS]> {
    shift_words(comm, with, with, own)
}

/// Sends words to one rank and gives what another one sends.
///
/// # Errors
/// What PMPI returned.
pub fn shift_words<const WORDS: usize>(
    comm: MPI_Comm,
    to: usize,
    from: usize,
    own: [u64; WORDS],
) -> Result<[u64; WORDS]> {
    let (mut words, status) = ([0u64; WORDS], constants::status_ignore());
    let (count, word, to, from) = (WORDS as c_int, constants::uint64(), to as c_int, from as c_int);
    // SAFETY: so many elements of that type in either array.
    check(unsafe {
        let (out, into) = (own.as_ptr().cast(), words.as_mut_ptr().cast());
        mpi_sys::PMPI_Sendrecv(out, count, word, to, TAG, into, count, word, from, TAG, comm, status)
    })?;
    Ok(words)
}

/// Every rank's `own` words, in rank order. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn allgather<const WORDS: usize>(comm: MPI_Comm, size: usize, own: [u64; WORDS]) -> Result<Vec<[u64; WORDS]>> {
    let mut all = vec![[0; WORDS]; size];
    let (count, word) = (WORDS as c_int, constants::uint64());
    // SAFETY: `all` has room for `WORDS` words of each of `size` ranks.
    check(unsafe {
        mpi_sys::PMPI_Allgather(own.as_ptr().cast(), count, word, all.as_mut_ptr().cast(), count, word, comm)
    })?;
    Ok(all)
}

/// The least of all ranks' words, each by itself; where order counts all of them are below 2^63 or none is, since MPICH
/// 4.0 compares them as if they had a sign. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn least<const WORDS: usize>(comm: MPI_Comm, own: [u64; WORDS]) -> Result<[u64; WORDS]> {
    let mut least = [0u64; WORDS];
    // SAFETY: so many elements each.
    check(unsafe {
        let (count, word, min) = (WORDS as c_int, constants::uint64(), constants::op_min());
        mpi_sys::PMPI_Allreduce(own.as_ptr().cast(), least.as_mut_ptr().cast(), count, word, min, comm)
    })?;
    Ok(least)
}

/// The most of all ranks' words, each by itself, by ⌈log₂ p⌉ steps of messages: in communicators of ours, where nothing
/// but this rank's place in it has to be known. When it returns on one rank all others have come here. Collective.
///
/// In step j every rank sends what it knows 2^j ranks further, as in a dissemination barrier: half as many steps as up
/// and down a tree. What has come round twice does no harm to the most.
///
/// # Errors
/// What PMPI returned.
pub fn most<const WORDS: usize>(comm: MPI_Comm, rank: usize, size: usize, own: [u64; WORDS]) -> Result<[u64; WORDS]> {
    let mut most = own;
    let distances = std::iter::successors(Some(1), |distance| Some(2 * distance));
    for distance in distances.take_while(|distance| *distance < size) {
        let theirs = shift_words(comm, (rank + distance) % size, (rank + size - distance) % size, most)?;
        most.iter_mut().zip(theirs).for_each(|(most, word)| *most = word.max(*most));
    }
    Ok(most)
}

/// The sums of all ranks' numbers in the place of this rank's, at `root`, or without one on all ranks; others are left
/// with parts of them. By messages up a binomial tree, and down again: in communicators of ours. Collective, with as
/// many numbers on all ranks.
///
/// # Errors
/// What PMPI returned.
pub fn sums(comm: MPI_Comm, rank: usize, size: usize, root: Option<usize>, numbers: &mut [f64]) -> Result {
    /// Numbers in one message.
    const MOST: usize = 1 << 16;
    let top = root.unwrap_or(0);
    let own = (rank + size - top) % size;
    let other = |place: usize| (place + top) % size;
    let distances = || std::iter::successors(Some(1), |distance| Some(2 * distance)).take_while(|it| *it < size);
    let mut theirs = vec![0.0; numbers.len().min(MOST)];
    for numbers in numbers.chunks_mut(MOST) {
        let theirs = &mut theirs[..numbers.len()];
        let below: Vec<usize> = distances().take_while(|distance| own & distance == 0).collect();
        let above = own - (own & own.wrapping_sub(1));
        for place in below.iter().map(|distance| own + distance).filter(|place| *place < size) {
            receive_numbers(comm, other(place), theirs)?;
            numbers.iter_mut().zip(&*theirs).for_each(|(sum, number)| *sum += number);
        }
        if own > 0 {
            send_numbers(comm, other(own - above), numbers)?;
        }
        if root.is_some() {
            continue;
        }
        if own > 0 {
            receive_numbers(comm, other(own - above), numbers)?;
        }
        for place in below.iter().rev().map(|distance| own + distance).filter(|place| *place < size) {
            send_numbers(comm, other(place), numbers)?;
        }
    }
    Ok(())
}

fn send_numbers(comm: MPI_Comm, to: usize, numbers: &[f64]) -> Result {
    let (first, number) = (numbers.as_ptr().cast(), numbers.len() as c_int);
    // SAFETY: so many elements of that type.
    check(unsafe { mpi_sys::PMPI_Send(first, number, constants::double(), to as c_int, TAG, comm) })
}

fn receive_numbers(comm: MPI_Comm, from: usize, numbers: &mut [f64]) -> Result {
    let (first, number, status) = (numbers.as_mut_ptr().cast(), numbers.len() as c_int, constants::status_ignore());
    // SAFETY: room for so many elements of that type.
    check(unsafe { mpi_sys::PMPI_Recv(first, number, constants::double(), from as c_int, TAG, comm, status) })
}

/// Whether `own` holds on all ranks. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn all(comm: MPI_Comm, own: bool) -> Result<bool> {
    Ok(least(comm, [u64::from(own)])? == [1])
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

/// A handle that is no communicator's.
#[derive(Clone, Copy, Debug)]
pub struct Invalid {
    /// What PMPI returned: an error, or `MPI_SUCCESS` where the MPI library returns no errors after an error handler of
    /// the program's.
    pub returned: c_int,
}

/// A key for a pointer of ours on communicators. Duplicates do not get it; `forget` is called with the pointer when the
/// communicator is freed.
#[derive(Clone, Copy, Debug)]
pub struct Key(c_int);

impl Key {
    /// A new key.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn new(forget: unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int) -> Result<Self> {
        let mut key = 0;
        // SAFETY: the callback has the type that MPI asks for; the out-parameter is valid for writes.
        check(unsafe {
            mpi_sys::PMPI_Comm_create_keyval(constants::null_copy(), Some(forget), &mut key, std::ptr::null_mut())
        })?;
        Ok(Self(key))
    }

    /// The pointer on `comm`, null where there is none.
    ///
    /// # Errors
    /// `comm` is no communicator, which an error handler of the program's has heard.
    pub fn get(self, comm: MPI_Comm) -> std::result::Result<*mut c_void, Invalid> {
        let get = throwing!(PMPI_Comm_get_attr(MPI_Comm, c_int, *mut c_void, *mut c_int));
        /// What no library writes: some return success for what is no communicator.
        const UNTOLD: c_int = -1;
        let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), UNTOLD);
        // SAFETY: out-parameters are valid for writes.
        let returned = unsafe { get(comm, self.0, (&raw mut value).cast(), &mut found) };
        match (check(returned), found) {
            (Err(_), _) | (Ok(()), UNTOLD) => Err(Invalid { returned }),
            (Ok(()), 0) => Ok(std::ptr::null_mut()),
            (Ok(()), _) => Ok(value),
        }
    }

    /// Puts a pointer on `comm`.
    ///
    /// # Errors
    /// What PMPI returned.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "MPI does not follow the pointer")]
    pub fn set(self, comm: MPI_Comm, value: *mut c_void) -> Result {
        // SAFETY: MPI keeps the pointer and gives it back, no more.
        check(unsafe { mpi_sys::PMPI_Comm_set_attr(comm, self.0, value) })
    }
}
