//! Errors of the program's communicators, returned for a while instead of raised.

use super::constants;
use super::error::{Error, Result, check};
use super::family;
use mpi_sys::{MPI_Comm, MPI_Errhandler};
use once_cell::sync::OnceCell;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int};

/// Errors on a communicator are returned as long as this lasts; then the program's error handler is put back, unless
/// the program has set another one meanwhile, as a copy callback may.
///
/// Where [`quiet`] is `MPI_ERRORS_RETURN`, a program that sets that one meanwhile loses it: a handle tells nobody who
/// has set it, and of those that return errors there, MPI has one only.
#[derive(Debug)]
pub struct ErrorsReturned {
    comm: MPI_Comm,
    /// The handler in whose place [`quiet`] is. None where errors were returned before: nothing was changed then.
    replaced: Option<MPI_Errhandler>,
}

impl ErrorsReturned {
    /// From now on.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn on(comm: MPI_Comm) -> Result<Self> {
        let handler = handler_of(comm)?;
        if handler == constants::errors_return() || handler == quiet() {
            give_back(handler)?;
            return Ok(Self { comm, replaced: None });
        }
        let returned = Self { comm, replaced: Some(handler) };
        set(comm, quiet())?;
        Ok(returned)
    }

    /// Gives `made`, a communicator that was made meanwhile, the error handler that it would have had otherwise: it may
    /// have inherited ours.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn hand_down(&self, made: MPI_Comm) -> Result {
        match self.replaced {
            Some(handler) if has(made, quiet())? => set(made, handler),
            _ => Ok(()),
        }
    }
}

impl Drop for ErrorsReturned {
    fn drop(&mut self) {
        let Some(handler) = self.replaced else { return };
        let is_ours = has(self.comm, quiet());
        let put_back = is_ours.and_then(|is_ours| if is_ours { set(self.comm, handler) } else { Ok(()) });
        if let Err(error) = put_back.and(give_back(handler)) {
            log::error!("the error handler of a communicator could not be restored: {error}");
        }
    }
}

/// An error handler of ours that does nothing, so that errors are returned: unlike `MPI_ERRORS_RETURN` it is never one
/// that the program has set. That one where no other can be made, or where one of ours returns no errors.
fn quiet() -> MPI_Errhandler {
    Found::known().quiet
}

/// What was found out about this MPI library.
struct Found {
    /// What [`quiet`] gives.
    quiet: MPI_Errhandler,
    /// Whether calls return `MPI_SUCCESS` after an error handler that is not predefined, and errors otherwise.
    hides: bool,
}

// SAFETY: the handle means the same on every thread; what it leads to is the MPI library's to guard.
unsafe impl Send for Found {}
// SAFETY: as above.
unsafe impl Sync for Found {}

static FOUND: OnceCell<Found> = OnceCell::new();

impl Found {
    fn known() -> &'static Self {
        FOUND.get_or_init(|| Self::on(constants::comm_self()))
    }

    /// Found out on a communicator of this rank alone.
    fn on(comm: MPI_Comm) -> Self {
        let predefined = constants::errors_return();
        let Ok(made) = do_nothing() else { return Self { quiet: predefined, hides: false } };
        match returns_errors(made, comm) {
            Ok(true) => Self { quiet: made, hides: false },
            after_ours => {
                let hides = after_ours.is_ok() && returns_errors(predefined, comm).unwrap_or(false);
                Self { quiet: predefined, hides }
            }
        }
    }
}

/// Finds out about this MPI library on a communicator of this rank alone, rather than later on `MPI_COMM_SELF`.
pub fn find_out_on(comm: MPI_Comm) {
    FOUND.get_or_init(|| Found::on(comm));
}

/// Whether calls that fail on `comm` return `MPI_SUCCESS`, so that only its error handler knows: that is the program's
/// own, and the MPI library one that returns no errors after such a handler.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn hides_errors(comm: MPI_Comm) -> Result<bool> {
    if !may_hide_errors() {
        return Ok(false);
    }
    let handler = handler_of(comm)?;
    give_back(handler)?;
    let predefined = [constants::errors_return(), constants::errors_are_fatal()];
    Ok(!predefined.contains(&handler))
}

/// Whether this MPI library returns `MPI_SUCCESS` after an error handler of the program's, as far as that is known: it is
/// found out in `MPI_Init`, and without one there may be no communicator to ask on.
pub fn may_hide_errors() -> bool {
    FOUND.get().is_some_and(|found| found.hides)
}

/// Makes an error handler that does nothing.
fn do_nothing() -> Result<MPI_Errhandler> {
    type Plain = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int);
    type Declared = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...);
    unsafe extern "C" fn do_nothing(_: *mut MPI_Comm, _: *mut c_int) {}
    let mut made = std::mem::MaybeUninit::uninit();
    // SAFETY: a C function that looks at none of its arguments may be called with more of them. The out-parameter is
    // valid for writes, and read where it was filled.
    unsafe {
        let function = std::mem::transmute::<Plain, Declared>(do_nothing);
        check(mpi_sys::PMPI_Comm_create_errhandler(Some(function), made.as_mut_ptr()))?;
        Ok(made.assume_init())
    }
}

/// Whether a call with an error in it returns that error after `handler`, which does nothing: MPICH 4.3.2 and 5.0.2
/// return `MPI_SUCCESS` after any handler that is not predefined. Not so either where the library checks no arguments.
///
/// # Errors
/// What PMPI says of what is needed to ask it on `comm`, which is this rank's alone.
fn returns_errors(handler: MPI_Errhandler, comm: MPI_Comm) -> Result<bool> {
    let before = handler_of(comm)?;
    set(comm, handler)?;
    // SAFETY: a rank alone broadcasts to nobody: should the number of elements pass for one, nothing is read.
    let answer = unsafe { mpi_sys::PMPI_Bcast(std::ptr::null_mut(), -1, constants::int(), 0, comm) };
    set(comm, before).and(give_back(before))?;
    Ok(check(answer).is_err())
}

/// Whether `handler` is the error handler of `comm`.
fn has(comm: MPI_Comm, handler: MPI_Errhandler) -> Result<bool> {
    let found = handler_of(comm)?;
    give_back(found)?;
    Ok(found == handler)
}

/// Gives a handle back that [`handler_of`] gave.
fn give_back(mut handler: MPI_Errhandler) -> Result {
    // SAFETY: the callers do so once for each.
    check(unsafe { mpi_sys::PMPI_Errhandler_free(&mut handler) })
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
    has(comm, constants::errors_are_fatal())
}

/// Whether `comm` may be without an error handler, so that putting back what it reads as would change what the program's
/// errors come to: where MPICH's programs have errors returned on `MPI_COMM_WORLD`, those of its duplicates are too.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn may_be_unset(comm: MPI_Comm) -> Result<bool> {
    Ok(family::HANDLERS_MAY_BE_UNSET && is_fatal(comm)?)
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
