//! A communicator of this rank alone, on which errors are returned, to ask MPI what it thinks of something.
//!
//! `MPI_COMM_SELF` would do if its error handler could be put back. MPICH's has none until one is set, and as long as it
//! has none, errors that belong to no communicator go to the handler of `MPI_COMM_WORLD` (4.3.2, 5.0.2). No call takes
//! a handler away again, so that such errors would end a job whose program has set one on `MPI_COMM_WORLD` only.

use super::communicator::{create_like, free};
use super::error::Result;
use super::handler::{find_out_on, returning_errors};
use super::{constants, family};
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;

struct Alone(MPI_Comm);

// SAFETY: the handle means the same on every thread, and whoever uses it holds the lock.
unsafe impl Send for Alone {}

static ALONE: Mutex<Option<Alone>> = Mutex::new(None);

/// Makes it, where `MPI_COMM_SELF` will not do: in `MPI_Init`, since later another one may be being made that waits for
/// other ranks.
///
/// # Errors
/// What PMPI returned.
pub fn make() -> Result {
    if family::SELF_BEGINS_WITHOUT_HANDLER {
        let mut made = constants::comm_null();
        create_like(constants::comm_self(), &mut made)?;
        find_out_on(made);
        *ALONE.lock() = Some(Alone(made));
    }
    Ok(())
}

/// Frees it for the sake of its context id; whether it was there.
///
/// # Errors
/// What PMPI returned.
pub fn give_back() -> Result<bool> {
    ALONE.lock().take().map_or(Ok(false), |Alone(comm)| free(comm).map(|()| true))
}

/// Runs `question` with it, or else with `MPI_COMM_SELF` and errors on it returned. Nothing is made for it: a rank that
/// could not do so would answer otherwise than the others.
///
/// # Errors
/// What PMPI returned.
pub fn ask<T>(question: impl FnOnce(MPI_Comm) -> Result<T>) -> Result<T> {
    // Two threads at once would put each other's handler back, or meet in one collective.
    let alone = ALONE.lock();
    match &*alone {
        Some(Alone(comm)) => question(*comm),
        None => {
            let comm = constants::comm_self();
            returning_errors(comm, || question(comm))
        }
    }
}
