//! User buffers whose elements do not lie in a row, turned into rows of bytes and back.
//!
//! On machines of one kind the packed form is the bytes of the type signature, so ranks whose type maps differ still
//! agree on every byte, and a message may be cut anywhere.

use super::constants;
use super::counts::exchange_with_self;
use super::datatype::Datatype;
use super::error::{Result, check};
use super::own_type::OwnType;
use mpi_sys::{MPI_Comm, MPI_Datatype};
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

    /// Parts that `PMPI_Pack` can take, each with its place among the signature bytes: none if one element is more than
    /// it can count.
    fn parts(&self) -> Option<impl Iterator<Item = (Self, usize)> + use<>> {
        let whole = *self;
        let size = whole.datatype.size;
        // Elements of no bytes are nothing to pack.
        let count = if size == 0 { 0 } else { whole.count };
        let most = c_int::MAX as usize / size.max(1);
        (most > 0).then(|| {
            let firsts = (0..count).step_by(most);
            firsts.map(move |first| (whole.part(first as isize, most.min(count - first)), first * size))
        })
    }

    /// Calls `call` with an address, a count and a type that stand for these elements, of which there are no more than
    /// `c_int` counts. At `MPI_BOTTOM`, which MPICH 4.0 takes for a missing buffer when it packs, the address is that of
    /// the first byte instead, with a type made for the purpose.
    fn addressed(&self, call: impl FnOnce(*mut u8, c_int, MPI_Datatype) -> Result) -> Result {
        let count = self.count as c_int;
        if !self.address.is_null() {
            return call(self.address, count, self.datatype.handle);
        }
        let first = self.datatype.true_lower;
        let back = -first as mpi_sys::MPI_Aint;
        let moved = OwnType::of_blocks([count], [back], [self.datatype.handle])?.committed()?;
        call(self.address.wrapping_offset(first), 1, moved.handle())
    }

    /// Writes the signature bytes to `into`.
    ///
    /// # Errors
    /// What PMPI returned.
    ///
    /// # Safety
    /// The elements must be readable, and `into` have room for their bytes, apart from them.
    pub unsafe fn pack(&self, comm: MPI_Comm, rank: usize, into: *mut u8) -> Result {
        let Some(mut parts) = self.parts() else {
            let from = (self.address, self.count, self.datatype.handle);
            return exchange_with_self(comm, rank, from, (into, self.bytes(), constants::byte()));
        };
        parts.try_for_each(|(part, place)| {
            part.addressed(|from, count, datatype| {
                let (room, mut position) = (part.bytes() as c_int, 0);
                // SAFETY: the caller's promise.
                check(unsafe {
                    let into = into.add(place).cast();
                    mpi_sys::PMPI_Pack(from.cast(), count, datatype, into, room, &mut position, comm)
                })
            })
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
        let Some(mut parts) = self.parts() else {
            let into = (self.address, self.count, self.datatype.handle);
            return exchange_with_self(comm, rank, (from, self.bytes(), constants::byte()), into);
        };
        parts.try_for_each(|(part, place)| {
            part.addressed(|into, count, datatype| {
                let (room, mut position) = (part.bytes() as c_int, 0);
                // SAFETY: the caller's promise.
                check(unsafe {
                    let from = from.add(place).cast();
                    mpi_sys::PMPI_Unpack(from, room, &mut position, into.cast(), count, datatype, comm)
                })
            })
        })
    }
}
