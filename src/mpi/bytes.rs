//! Bytes of any length between ranks: announced in 64 bits, carried in pieces that an `int` counts.

use super::communicator::{self, Ids, receive_bytes, receive_words, send_bytes, send_words};
use super::constants;
use super::error::{Result, check};
use crate::monitor::gathering::{self, PIECE, pieces};
use mpi_sys::MPI_Comm;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::os::raw::c_int;

/// A piece of a vector. Announced lengths are those of vectors somewhere, so they fit.
fn part(bytes: &[u8], piece: Range<u64>) -> &[u8] {
    &bytes[piece.start as usize..piece.end as usize]
}

fn part_mut(bytes: &mut [u8], piece: Range<u64>) -> &mut [u8] {
    &mut bytes[piece.start as usize..piece.end as usize]
}

/// Sets `bytes` on every rank to what they are on `root`. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn broadcast(comm: MPI_Comm, root: usize, bytes: &mut Vec<u8>) -> Result {
    let mut length = bytes.len() as u64;
    // SAFETY: one element of that type.
    check(unsafe { mpi_sys::PMPI_Bcast((&raw mut length).cast(), 1, constants::uint64(), root as c_int, comm) })?;
    bytes.resize(length as usize, 0);
    for piece in pieces(length, PIECE) {
        let part = part_mut(bytes, piece);
        let (first, number) = (part.as_mut_ptr().cast(), part.len() as c_int);
        // SAFETY: so many bytes, which all ranks know of.
        check(unsafe { mpi_sys::PMPI_Bcast(first, number, constants::byte(), root as c_int, comm) })?;
    }
    Ok(())
}

/// Waits until all ranks are here, by messages alone: a rank that does not come takes none of them for a part of a
/// collective that it makes meanwhile.
///
/// # Errors
/// What PMPI returned.
pub fn meet(comm: MPI_Comm, rank: usize, size: usize) -> Result {
    for child in gathering::children(rank, size) {
        receive_words::<1>(comm, child)?;
    }
    if let Some(parent) = gathering::parent(rank) {
        send_words(comm, parent, [0])?;
        receive_words::<1>(comm, parent)?;
    }
    gathering::children(rank, size).rev().try_for_each(|child| send_words(comm, child, [0]))
}

/// The value of rank 0, on every rank; the others give none. Collective.
///
/// # Errors
/// What PMPI returned.
pub fn of_first<T: Serialize + DeserializeOwned>(comm: MPI_Comm, own: Option<&T>) -> Result<T> {
    let mut bytes = own.map_or_else(Vec::new, |own| postcard::to_stdvec(own).expect("memory can be written to"));
    broadcast(comm, 0, &mut bytes)?;
    Ok(postcard::from_bytes(&bytes).expect("rank 0 runs the same library"))
}

/// Sends `bytes` to `to`, in a communicator of ours.
///
/// # Errors
/// What PMPI returned.
pub fn send(comm: MPI_Comm, to: usize, bytes: &[u8]) -> Result {
    send_words(comm, to, [bytes.len() as u64])?;
    for piece in pieces(bytes.len() as u64, PIECE) {
        send_bytes(comm, to, part(bytes, piece))?;
    }
    Ok(())
}

/// Receives what [`send`] sent.
///
/// # Errors
/// What PMPI returned.
pub fn receive(comm: MPI_Comm, from: usize) -> Result<Vec<u8>> {
    let [length] = receive_words(comm, from)?;
    let mut bytes = vec![0u8; length as usize];
    for piece in pieces(length, PIECE) {
        receive_bytes(comm, from, part_mut(&mut bytes, piece))?;
    }
    Ok(bytes)
}

/// The way of all ranks' bytes to rank 0 of `MPI_COMM_WORLD`.
#[derive(Debug)]
pub struct ToRoot {
    /// Of ours, with the same ranks; where none can be made, collectives of `MPI_COMM_WORLD` have to
    /// do, as the program may have asked for messages from anyone there.
    private: Option<MPI_Comm>,
    rank: usize,
    size: usize,
}

impl ToRoot {
    /// Through a communicator of ours, where one may be made now, as all ranks know. Collective over `MPI_COMM_WORLD`.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn open(rank: usize, size: usize, may_make: bool) -> Result<Self> {
        let may_make = may_make && size > 1;
        let private =
            if may_make { communicator::make_private(constants::comm_world(), Ids::PerhapsNone)? } else { None };
        Ok(Self { private, rank, size })
    }

    /// One rank's bytes at rank 0; elsewhere nothing. Only that rank's `bytes` count. All ranks call it; in a
    /// communicator of ours it concerns these two only.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn from(&self, from: usize, bytes: &[u8]) -> Result<Vec<u8>> {
        let Self { private, rank, size: _ } = *self;
        if from == 0 {
            return Ok(if rank == 0 { bytes.to_vec() } else { Vec::new() });
        }
        match private {
            // Asked for, so that not all ranks' bytes are on the way at once.
            Some(comm) if rank == 0 => send_words(comm, from, [0]).and_then(|()| receive(comm, from)),
            Some(comm) if rank == from => {
                let [_] = receive_words(comm, 0)?;
                send(comm, 0, bytes).map(|()| Vec::new())
            }
            Some(_) => Ok(Vec::new()),
            None => {
                let mut all = if rank == from { bytes.to_vec() } else { Vec::new() };
                broadcast(constants::comm_world(), from, &mut all)?;
                Ok(if rank == 0 { all } else { Vec::new() })
            }
        }
    }

    /// All ranks' values as one at rank 0, merged on the way: `merge` puts the ranks after those of the first value
    /// behind them. Nothing elsewhere. Collective.
    ///
    /// # Errors
    /// What PMPI and `merge` returned.
    pub fn merged<T>(
        &self,
        own: T,
        encode: impl Fn(&T) -> Vec<u8>,
        mut merge: impl FnMut(&mut T, Vec<u8>) -> Result,
    ) -> Result<Option<T>> {
        let (mut all, mut failed) = (own, Ok(()));
        // What cannot be merged still has to be taken, as it is sent; the first failure is told in the end.
        let mut take = |all: &mut T, bytes: Vec<u8>| {
            let merged = merge(all, bytes);
            if failed.is_ok() {
                failed = merged;
            }
        };
        match self.private {
            Some(comm) => {
                for child in gathering::children(self.rank, self.size) {
                    take(&mut all, receive(comm, child)?);
                }
                if let Some(parent) = gathering::parent(self.rank) {
                    send(comm, parent, &encode(&all))?;
                }
            }
            None => {
                let bytes = if self.rank == 0 { Vec::new() } else { encode(&all) };
                for rank in 1..self.size {
                    let theirs = self.from(rank, &bytes)?;
                    if self.rank == 0 {
                        take(&mut all, theirs);
                    }
                }
            }
        }
        failed.map(|()| (self.rank == 0).then_some(all))
    }

    /// Gives the communicator back. Collective.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn close(self) -> Result {
        self.private.map_or(Ok(()), communicator::free)
    }
}
