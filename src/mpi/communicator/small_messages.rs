//! Small messages: a few words or bytes from one rank to another, in communicators of ours, and what all ranks find out
//! together, by the MPI library's collectives or by such messages.

use crate::mpi::constants;
use crate::mpi::error::{Result, check};
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;
use std::time::Duration;

/// The tag of single messages in communicators of ours.
pub(in crate::mpi) const TAG: c_int = 2;

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
