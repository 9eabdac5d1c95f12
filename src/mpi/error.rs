//! The return codes of MPI as a `Result`.

use std::os::raw::c_int;

/// An MPI error code other than `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MPI error code {0}")]
pub struct Error(pub c_int);

/// What an MPI call gives.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Turns an MPI return code into a `Result`.
///
/// # Errors
/// Any code other than `MPI_SUCCESS`.
pub const fn check(code: c_int) -> Result {
    if code == mpi_sys::MPI_SUCCESS as c_int { Ok(()) } else { Err(Error(code)) }
}

/// A function of the MPI library as one that exceptions come out of: an error handler of the program may throw them. The
/// address is read where the compiler cannot see it, since it would find the declaration, which rules exceptions out, and
/// drop what has to be done when one comes by.
macro_rules! throwing {
    ($name:ident($($type:ty),*)) => {{
        type Declared = unsafe extern "C" fn($($type),*) -> std::os::raw::c_int;
        type Throwing = unsafe extern "C-unwind" fn($($type),*) -> std::os::raw::c_int;
        // SAFETY: the two differ in what the caller is ready for only.
        static FUNCTION: Throwing = unsafe { std::mem::transmute::<Declared, Throwing>(mpi_sys::$name as Declared) };
        // SAFETY: a static that never changes.
        #[allow(unused_unsafe)]
        unsafe {
            std::ptr::read_volatile(&raw const FUNCTION)
        }
    }};
}
pub(crate) use throwing;
