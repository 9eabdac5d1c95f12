//! What a collective call was passed: the arguments of all operations in one form.

use super::constants;
use mpi_sys::{MPI_Datatype, MPI_Op};
use std::os::raw::{c_int, c_void};

/// What the program passed, under the names of the standard; what an operation lacks stays empty.
pub struct Passed {
    /// Send buffer.
    pub send: *const c_void,
    /// Its count.
    pub send_count: i64,
    /// Its type.
    pub send_type: MPI_Datatype,
    /// Receive buffer; of a broadcast, the only one.
    pub receive: *const c_void,
    /// Its count.
    pub receive_count: i64,
    /// Its type.
    pub receive_type: MPI_Datatype,
    /// Reduction operation.
    pub op: MPI_Op,
    /// Root.
    pub root: c_int,
    /// Counts by rank, of the blocks to send.
    pub send_counts: *const c_void,
    /// Where those blocks are, in elements.
    pub send_displacements: *const c_void,
    /// Counts by rank, of the blocks to receive.
    pub receive_counts: *const c_void,
    /// Where those blocks go, in elements.
    pub receive_displacements: *const c_void,
    /// Whether the arrays hold large counts and addresses rather than `int`.
    pub wide: bool,
}

impl Passed {
    /// Nothing yet.
    pub fn nothing() -> Self {
        Self {
            send: std::ptr::null(),
            send_count: 0,
            send_type: constants::datatype_null(),
            receive: std::ptr::null(),
            receive_count: 0,
            receive_type: constants::datatype_null(),
            op: constants::op_null(),
            root: 0,
            send_counts: std::ptr::null(),
            send_displacements: std::ptr::null(),
            receive_counts: std::ptr::null(),
            receive_displacements: std::ptr::null(),
            wide: false,
        }
    }

    /// Counts and displacements, of the send and of the receive side.
    #[inline(always)]
    pub const fn arrays(&self) -> [Arrays; 2] {
        let Self { send_counts, send_displacements, receive_counts, receive_displacements, wide, .. } = *self;
        [
            Arrays { counts: send_counts, displacements: send_displacements, wide },
            Arrays { counts: receive_counts, displacements: receive_displacements, wide },
        ]
    }
}

/// Counts and displacements of one side, by rank, as the program passed them.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// Counts.
    pub counts: *const c_void,
    /// Displacements, in elements.
    pub displacements: *const c_void,
    /// Whether both hold 64 bits rather than `int`.
    pub wide: bool,
}

impl Arrays {
    /// Whether one is missing.
    pub const fn are_missing(&self) -> bool {
        self.counts.is_null() || self.displacements.is_null()
    }

    /// Count and displacement of each of `ranks` ranks.
    ///
    /// # Safety
    /// Neither is missing, and both have so many entries.
    #[inline]
    pub unsafe fn each(self, ranks: usize) -> impl ExactSizeIterator<Item = [i64; 2]> {
        // SAFETY: the caller's promise.
        let entry = move |array: *const c_void, rank| unsafe {
            match self.wide {
                true => *array.cast::<i64>().add(rank),
                false => i64::from(*array.cast::<c_int>().add(rank)),
            }
        };
        (0..ranks).map(move |rank| [entry(self.counts, rank), entry(self.displacements, rank)])
    }

    /// Whether counts and displacements are these; any are none.
    ///
    /// # Safety
    /// Unless one is missing, both have so many entries.
    #[inline(always)]
    pub unsafe fn hold(self, entries: &[[i64; 2]]) -> bool {
        if entries.is_empty() {
            return true;
        }
        if self.are_missing() {
            return false;
        }
        let Self { counts, displacements, wide } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match wide {
                true => are::<i64>(counts.cast(), displacements.cast(), entries),
                false => are::<c_int>(counts.cast(), displacements.cast(), entries),
            }
        }
    }
}

/// Whether the two arrays hold these entries.
///
/// # Safety
/// They have so many.
#[inline(always)]
unsafe fn are<T: Copy + Into<i64>>(counts: *const T, displacements: *const T, entries: &[[i64; 2]]) -> bool {
    for (rank, entry) in entries.iter().enumerate() {
        // SAFETY: the caller's promise.
        let found = unsafe { [(*counts.add(rank)).into(), (*displacements.add(rank)).into()] };
        if found != *entry {
            return false;
        }
    }
    true
}
