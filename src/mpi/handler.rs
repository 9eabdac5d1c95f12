//! Errors of the program's communicators, returned for a while instead of raised.

use super::constants;
use super::error::{Error, Result, check};
use mpi_sys::{MPI_Comm, MPI_Errhandler};
use std::ffi::CStr;
use std::os::raw::c_char;

/// Errors on a communicator are returned as long as this lasts; then the program's error handler is put back.
#[derive(Debug)]
pub struct ErrorsReturned {
    comm: MPI_Comm,
    handler: MPI_Errhandler,
}

impl ErrorsReturned {
    /// From now on.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn on(comm: MPI_Comm) -> Result<Self> {
        let handler = handler_of(comm)?;
        let returned = Self { comm, handler };
        set(comm, constants::errors_return())?;
        Ok(returned)
    }

    /// Gives `made`, a communicator that was made meanwhile, the error handler that it would have had otherwise: it may
    /// have inherited the one that returns errors.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn hand_down(&self, made: MPI_Comm) -> Result {
        let mut found = handler_of(made)?;
        let inherited = found == constants::errors_return();
        // SAFETY: the handle was got for this, and is given back once.
        check(unsafe { mpi_sys::PMPI_Errhandler_free(&mut found) })?;
        if inherited { set(made, self.handler) } else { Ok(()) }
    }
}

impl Drop for ErrorsReturned {
    fn drop(&mut self) {
        let put_back = set(self.comm, self.handler);
        // SAFETY: the handle was got for this, and is given back once.
        let given_back = check(unsafe { mpi_sys::PMPI_Errhandler_free(&mut self.handler) });
        if let Err(error) = put_back.and(given_back) {
            log::error!("the error handler of a communicator could not be restored: {error}");
        }
    }
}

/// The error handler of `comm`, to be given back.
fn handler_of(comm: MPI_Comm) -> Result<MPI_Errhandler> {
    let mut handler = std::mem::MaybeUninit::uninit();
    // SAFETY: the out-parameter is valid for writes, and read where it was filled.
    unsafe {
        check(mpi_sys::PMPI_Comm_get_errhandler(comm, handler.as_mut_ptr()))?;
        Ok(handler.assume_init())
    }
}

fn set(comm: MPI_Comm, handler: MPI_Errhandler) -> Result {
    // SAFETY: both are handles that PMPI gave or that the program called with.
    check(unsafe { mpi_sys::PMPI_Comm_set_errhandler(comm, handler) })
}

/// Whether errors on `comm` end the job.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn is_fatal(comm: MPI_Comm) -> Result<bool> {
    let mut handler = handler_of(comm)?;
    let is_fatal = handler == constants::errors_are_fatal();
    // SAFETY: the handle was got for this, and is given back once.
    check(unsafe { mpi_sys::PMPI_Errhandler_free(&mut handler) })?;
    Ok(is_fatal)
}

/// Runs `action` with errors on `comm` returned instead of raised, then puts the program's error handler back.
///
/// # Errors
/// Those of `action`, and of PMPI.
pub fn returning_errors<T>(comm: MPI_Comm, action: impl FnOnce() -> Result<T>) -> Result<T> {
    let _until_then = ErrorsReturned::on(comm)?;
    action()
}

/// Whether an error that MPICH returned says that no context id is free on all ranks.
///
/// MPICH looks for one in what all ranks of the call have, so that all of them find none; an argument that one rank
/// alone had wrong says something else. There is no error class for it. Words from MPICH 3 and 4; a build without error
/// messages has none, and its errors are like others.
pub fn says_that_contexts_ran_out(error: Error) -> bool {
    const WORDS: [&str; 2] = ["Too many communicators", "Cannot allocate context ID"];
    text(error).is_ok_and(|text| WORDS.iter().any(|words| text.contains(words)))
}

/// What the MPI library says of an error.
///
/// # Errors
/// What PMPI says of a number that is none.
pub fn text(error: Error) -> Result<String> {
    let mut text = [0 as c_char; mpi_sys::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for, and ends in a zero that MPI does not write over.
    let text = unsafe {
        check(mpi_sys::PMPI_Error_string(error.0, text.as_mut_ptr(), &mut length))?;
        CStr::from_ptr(text.as_ptr())
    };
    Ok(text.to_string_lossy().into_owned())
}
