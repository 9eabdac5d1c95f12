//! The return codes of MPI as a `Result`.

use std::os::raw::c_int;

/// `MPI_SUCCESS`, as calls return it.
pub const SUCCESS: c_int = mpi_sys::MPI_SUCCESS as c_int;

/// An MPI error code other than `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MPI error code {0}")]
pub struct Error(pub c_int);

impl Error {
    /// Its class, or the code itself where the library does not know it.
    pub fn class(self) -> c_int {
        let mut class = self.0;
        // SAFETY: the out-parameter is valid for writes.
        unsafe { mpi_sys::PMPI_Error_class(self.0, &mut class) };
        class
    }
}

/// What an MPI call gives.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Turns an MPI return code into a `Result`.
///
/// # Errors
/// Any code other than `MPI_SUCCESS`.
pub const fn check(code: c_int) -> Result {
    if code == SUCCESS { Ok(()) } else { Err(Error(code)) }
}

/// Whether an error says that the MPI library refused the arguments of a call, before it took part in anything.
pub fn is_of_arguments(code: c_int) -> bool {
    const CLASSES: [u32; 7] = [
        mpi_sys::MPI_ERR_BUFFER,
        mpi_sys::MPI_ERR_COUNT,
        mpi_sys::MPI_ERR_TYPE,
        mpi_sys::MPI_ERR_COMM,
        mpi_sys::MPI_ERR_ROOT,
        mpi_sys::MPI_ERR_OP,
        mpi_sys::MPI_ERR_ARG,
    ];
    let mut class = SUCCESS;
    // SAFETY: the out-parameter is valid for writes.
    let known = unsafe { mpi_sys::PMPI_Error_class(code, &mut class) } == SUCCESS;
    known && CLASSES.iter().any(|one| *one as c_int == class)
}

/// A function of the MPI library as one that exceptions come out of: an error handler of the program may throw them.
/// Its address is looked up, since the compiler would find the header's declaration behind a name, which rules
/// exceptions out, and drop what has to be done when one comes by; and since an address that is written down in the
/// library would have to be known before the MPI library is there.
macro_rules! throwing {
    ($name:ident($($type:ty),* $(,)?)) => {{
        type Declared = unsafe extern "C" fn($($type),*) -> std::os::raw::c_int;
        type Throwing = unsafe extern "C-unwind" fn($($type),*) -> std::os::raw::c_int;
        // The types are the header's; looked at by the compiler only.
        const _: () = {
            let _: Declared = mpi_sys::$name;
        };
        static KNOWN: std::sync::atomic::AtomicPtr<std::os::raw::c_void> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let address = $crate::mpi::procedures::procedure(&KNOWN, concat!(stringify!($name), "\0"));
        // SAFETY: the MPI library's function of that name, which its header declares so; the two differ in what the
        // caller is ready for only.
        #[allow(unused_unsafe, reason = "the caller may be in such a block")]
        unsafe {
            std::mem::transmute::<*mut std::os::raw::c_void, Throwing>(address)
        }
    }};
}
pub(crate) use throwing;
