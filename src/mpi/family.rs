//! What the two families of MPI libraries, Open MPI's and MPICH's, differ in, other than which Fortran entries there are to
//! intercept (the entries say that themselves: there it decides which symbols exist).

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request};
use std::ffi::{CStr, c_int};

/// Whether this library was built for Open MPI; for MPICH and its kin otherwise.
pub const IS_OPEN_MPI: bool = cfg!(mpi_family = "openmpi");

/// The libraries with the procedures of the Fortran bindings.
pub const FORTRAN_LIBRARIES: &[&CStr] = if IS_OPEN_MPI {
    &[c"libmpi_mpifh.so.40", c"libmpi_usempif08.so.40"]
} else {
    &[c"libmpichfort.so.12", c"libmpifort.so.12"]
};

/// Context ids that the library has for the communicators of a process, and about as many with other settings than its own:
/// Open MPI's ob1 carries 16 bits, MPICH has 2048 of which two are taken.
pub const CONTEXT_IDS: usize = if IS_OPEN_MPI { 65_532 } else { 2_046 };

/// Private communicators made at most unless the user says otherwise: programs of MPICH need its few for themselves.
pub const PRIVATE_COMMUNICATORS: usize = if IS_OPEN_MPI { 512 } else { 128 };

/// Whether making a communicator fails when there is no context id left. Open MPI hangs then.
pub const TELLS_WHEN_CONTEXTS_RAN_OUT: bool = !IS_OPEN_MPI;

/// Whether the library's own waiting keeps the core where ranks outnumber cores. Open MPI gives it away.
pub const SPINS_WHILE_WAITING: bool = !IS_OPEN_MPI;

/// Whether `MPI_Allreduce` takes `MPI_BOTTOM` for both buffers.
pub const ALLREDUCE_TAKES_BOTTOM_TWICE: bool = IS_OPEN_MPI;

/// Whether the library can count its own messages (`pml_monitoring`).
pub const HAS_MONITORING: bool = IS_OPEN_MPI;

/// Whether messages within a node may travel inline, as those of Open MPI's vader do.
pub const SENDS_INLINE: bool = IS_OPEN_MPI;

/// Whether the Fortran procedures that deal with requests are there under their PMPI names too.
pub const FORTRAN_REQUESTS_HAVE_PMPI: bool = IS_OPEN_MPI;

macro_rules! from_fortran {
    ($($(#[$doc:meta])* $name:ident: $type:ident = $convert:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Of Open MPI any value is answered, an unknown one with the null handle; MPICH's handles are the same in both
            /// languages.
            pub fn $name(handle: c_int) -> $type {
                #[cfg(mpi_family = "openmpi")]
                // SAFETY: a look into a table that checks the index.
                return unsafe { mpi_sys::$convert(handle) };
                #[cfg(mpi_family = "mpich")]
                return $type(handle);
            }
        )*
    };
}

from_fortran! {
    /// A communicator as C would have passed it.
    comm_of_fortran: MPI_Comm = PMPI_Comm_f2c;
    /// A request as C would have passed it.
    request_of_fortran: MPI_Request = PMPI_Request_f2c;
    /// A datatype as C would have passed it.
    datatype_of_fortran: MPI_Datatype = PMPI_Type_f2c;
    /// A reduction operation as C would have passed it.
    op_of_fortran: MPI_Op = PMPI_Op_f2c;
}
