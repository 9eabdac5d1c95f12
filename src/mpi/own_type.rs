//! Datatypes that Collie makes for one call.

use super::constants;
use super::error::{Result, check};
use mpi_sys::MPI_Datatype;
use std::os::raw::c_int;

/// A datatype of ours, freed when it is dropped; a message under way keeps what it needs of it.
#[derive(Debug)]
pub(super) struct OwnType(MPI_Datatype);

impl OwnType {
    /// So many elements in a row.
    pub(super) fn contiguous(count: usize, of: MPI_Datatype) -> Result<Self> {
        // SAFETY: the out-parameter is valid for writes.
        Self::made(|made| unsafe { mpi_sys::PMPI_Type_contiguous(count as c_int, of, made) })
    }

    /// Blocks of so many elements of a type, each at so many bytes.
    pub(super) fn of_blocks<const BLOCKS: usize>(
        counts: [c_int; BLOCKS],
        places: [mpi_sys::MPI_Aint; BLOCKS],
        types: [MPI_Datatype; BLOCKS],
    ) -> Result<Self> {
        let (counts, places, types) = (counts.as_ptr(), places.as_ptr(), types.as_ptr());
        // SAFETY: the arrays have so many entries each; the out-parameter is valid for writes.
        Self::made(|made| unsafe { mpi_sys::PMPI_Type_create_struct(BLOCKS as c_int, counts, places, types, made) })
    }

    fn made(make: impl FnOnce(*mut MPI_Datatype) -> c_int) -> Result<Self> {
        let mut made = constants::datatype_null();
        check(make(&mut made))?;
        Ok(Self(made))
    }

    /// Makes it ready for messages.
    pub(super) fn committed(mut self) -> Result<Self> {
        // SAFETY: ours, and the handle is valid for writes.
        check(unsafe { mpi_sys::PMPI_Type_commit(&mut self.0) })?;
        Ok(self)
    }

    /// What MPI calls it.
    pub(super) const fn handle(&self) -> MPI_Datatype {
        self.0
    }
}

impl Drop for OwnType {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        if let Err(error) = check(unsafe { mpi_sys::PMPI_Type_free(&mut self.0) }) {
            log::warn!("a datatype of Collie's could not be freed: {error:?}");
        }
    }
}
