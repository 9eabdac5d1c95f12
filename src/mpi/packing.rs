//! User buffers whose elements do not lie in a row, turned into rows of bytes and back.
//!
//! On machines of one kind the packed form is the bytes of the type signature, so ranks whose type maps differ still
//! agree on every byte, and a message may be cut anywhere.

use super::constants;
use super::counts::exchange_with_self;
use super::datatype::Datatype;
use super::error::{Result, check};
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// A part of the program's memory: `count` elements of a datatype from `address` on.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// What the program passed.
    pub address: *mut u8,
    /// How many.
    pub count: usize,
    /// Of what.
    pub datatype: Datatype,
}

impl Elements {
    /// Signature bytes.
    pub const fn bytes(&self) -> usize {
        self.count * self.datatype.size
    }

    /// The `count` elements that start at element `first`.
    pub fn part(&self, first: isize, count: usize) -> Self {
        let address = self.address.wrapping_offset(first * self.datatype.extent);
        Self { address, count, datatype: self.datatype }
    }

    /// The count for `PMPI_Pack`, if it takes these elements: not more than it can count, and not at `MPI_BOTTOM`,
    /// which MPICH 4.0 takes for a missing buffer there.
    fn packs_at_once(&self) -> Option<c_int> {
        c_int::try_from(self.count).ok().filter(|_| !self.address.is_null())
    }

    /// Writes the signature bytes to `into`.
    ///
    /// # Errors
    /// What PMPI returned.
    ///
    /// # Safety
    /// The elements must be readable, and `into` have room for their bytes, apart from them.
    pub unsafe fn pack(&self, comm: MPI_Comm, rank: usize, into: *mut u8) -> Result {
        let bytes = self.bytes();
        let (Some(count), Some(room)) = (self.packs_at_once(), c_int::try_from(bytes).ok()) else {
            let from = (self.address, self.count, self.datatype.handle);
            return exchange_with_self(comm, rank, from, (into, bytes, constants::byte()));
        };
        let mut position = 0;
        // SAFETY: the caller's promise.
        check(unsafe {
            mpi_sys::PMPI_Pack(self.address.cast(), count, self.datatype.handle, into.cast(), room, &mut position, comm)
        })
    }

    /// Writes the elements, laid out as they are, from `into` on.
    ///
    /// # Errors
    /// What PMPI returned.
    ///
    /// # Safety
    /// The elements must be readable, and there be room for as many from `into` on, apart from them.
    pub unsafe fn copy(&self, comm: MPI_Comm, rank: usize, into: *mut u8) -> Result {
        if self.datatype.contiguous {
            // SAFETY: the caller's promise; without gaps the elements are their bytes.
            unsafe { std::ptr::copy_nonoverlapping(self.address, into, self.bytes()) };
            return Ok(());
        }
        let side = |address| (address, self.count, self.datatype.handle);
        exchange_with_self(comm, rank, side(self.address), side(into))
    }

    /// Sets the elements from the signature bytes in `from`; gaps stay as they are.
    ///
    /// # Errors
    /// What PMPI returned.
    ///
    /// # Safety
    /// The elements must be writable, and `from` hold their bytes, apart from them.
    pub unsafe fn unpack(&self, comm: MPI_Comm, rank: usize, from: *mut u8) -> Result {
        let bytes = self.bytes();
        let (Some(count), Some(room)) = (self.packs_at_once(), c_int::try_from(bytes).ok()) else {
            let into = (self.address, self.count, self.datatype.handle);
            return exchange_with_self(comm, rank, (from, bytes, constants::byte()), into);
        };
        let mut position = 0;
        // SAFETY: the caller's promise.
        check(unsafe {
            mpi_sys::PMPI_Unpack(
                from.cast(),
                room,
                &mut position,
                self.address.cast(),
                count,
                self.datatype.handle,
                comm,
            )
        })
    }
}
