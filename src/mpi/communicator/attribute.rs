//! A pointer of ours on a communicator, which MPI keeps as an attribute.

use crate::mpi::constants;
use crate::mpi::error::{Result, check, throwing};
use mpi_sys::MPI_Comm;
use std::os::raw::{c_int, c_void};

/// A handle that is no communicator's.
#[derive(Clone, Copy, Debug)]
pub struct Invalid {
    /// What PMPI returned: an error, or `MPI_SUCCESS` where the MPI library returns no errors after an error handler of
    /// the program's.
    pub returned: c_int,
}

/// A key for a pointer of ours on communicators. Duplicates do not get it; `forget` is called with the pointer when the
/// communicator is freed.
#[derive(Clone, Copy, Debug)]
pub struct Key(c_int);

impl Key {
    /// A new key.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn new(forget: unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int) -> Result<Self> {
        let mut key = 0;
        // SAFETY: the callback has the type that MPI asks for; the out-parameter is valid for writes.
        check(unsafe {
            mpi_sys::PMPI_Comm_create_keyval(constants::null_copy(), Some(forget), &mut key, std::ptr::null_mut())
        })?;
        Ok(Self(key))
    }

    /// The pointer on `comm`, null where there is none.
    ///
    /// # Errors
    /// `comm` is no communicator, which an error handler of the program's has heard.
    pub fn get(self, comm: MPI_Comm) -> std::result::Result<*mut c_void, Invalid> {
        let get = throwing!(PMPI_Comm_get_attr(MPI_Comm, c_int, *mut c_void, *mut c_int));
        /// What no library writes: some return success for what is no communicator.
        const UNTOLD: c_int = -1;
        let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), UNTOLD);
        // SAFETY: out-parameters are valid for writes.
        let returned = unsafe { get(comm, self.0, (&raw mut value).cast(), &mut found) };
        match (check(returned), found) {
            (Err(_), _) | (Ok(()), UNTOLD) => Err(Invalid { returned }),
            (Ok(()), 0) => Ok(std::ptr::null_mut()),
            (Ok(()), _) => Ok(value),
        }
    }

    /// Puts a pointer on `comm`.
    ///
    /// # Errors
    /// What PMPI returned.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "MPI does not follow the pointer")]
    pub fn set(self, comm: MPI_Comm, value: *mut c_void) -> Result {
        // SAFETY: MPI keeps the pointer and gives it back, no more.
        check(unsafe { mpi_sys::PMPI_Comm_set_attr(comm, self.0, value) })
    }
}
