//! Programs that use MPI by sessions alone, without `MPI_Init`.
//!
//! The ranks agree on what Collie does, and put their reports together, on `MPI_COMM_WORLD`, which such programs do not
//! have. Their collectives therefore stay with the MPI library, and that is said.

use super::{log, runtime};
use crate::mpi::communicator;
use mpi_sys::MPI_Comm;
use std::sync::atomic::{AtomicBool, Ordering};

static TOLD: AtomicBool = AtomicBool::new(false);

/// Says once that collectives stay native, where the program has made one on `comm` and never called `MPI_Init`. Of
/// several ranks the first one says it; where there is one rank only, nothing would have been replaced.
#[cold]
pub fn tell(comm: MPI_Comm) {
    if TOLD.load(Ordering::Relaxed) || !runtime::has_never_started() {
        return;
    }
    let (Ok(rank), Ok(size)) = (communicator::rank(comm), communicator::size(comm)) else { return };
    if size > 1 && !TOLD.swap(true, Ordering::Relaxed) && rank == 0 {
        log::tell(
            "this program calls collectives in an MPI session without having called MPI_Init: they stay with the MPI library, \
             and no report counts them",
        );
    }
}
