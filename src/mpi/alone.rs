//! A communicator of this rank alone, on which errors are returned, to ask MPI what it thinks of something.
//!
//! `MPI_COMM_SELF` would do where its error handler can be put back, but to change it and put it back takes seven calls
//! more, 0.1 us on Open MPI 4.1.4, for each type that a program makes for one call. MPICH's has no handler until one is
//! set, and as long as it has none, errors that belong to no communicator go to the handler of `MPI_COMM_WORLD` (4.3.2,
//! 5.0.2). No call takes a handler away again, so that such errors would end a job whose program has set one on
//! `MPI_COMM_WORLD` only.

use super::communicator::{create_like, free};
use super::constants;
use super::error::Result;
use super::handler::{find_out_on, returning_errors};
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;

struct Alone(MPI_Comm);

// SAFETY: the handle means the same on every thread, and whoever uses it holds the lock.
unsafe impl Send for Alone {}

static ALONE: Mutex<Option<Alone>> = Mutex::new(None);

/// Makes it: in `MPI_Init`, since later another one may be being made that waits for other ranks.
///
/// # Errors
/// What PMPI returned.
pub fn make() -> Result {
    let mut made = constants::comm_null();
    create_like(constants::comm_self(), &mut made)?;
    find_out_on(made);
    *ALONE.lock() = Some(Alone(made));
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
