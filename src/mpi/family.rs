//! What the two families of MPI libraries, Open MPI's and MPICH's, differ in, other than which Fortran entries there
//! are to intercept (the entries say that themselves: there it decides which symbols exist).

use crate::family::Family;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use std::ffi::{CStr, c_int};
use std::ops::RangeInclusive;

/// The family that this library was built for. `mpi_family` tells of what is alike in MPICH's interface and in the
/// standard ABI, whose handles are pointers (`mpi_abi`).
pub const OWN: Family = if cfg!(mpi_family = "openmpi") {
    Family::OpenMpi
} else if cfg!(mpi_abi) {
    Family::Abi
} else {
    Family::Mpich
};

/// Whether this library was built for Open MPI.
pub const IS_OPEN_MPI: bool = matches!(OWN, Family::OpenMpi);

/// The libraries of this family as programs need them; Debian's MPICH has a name of its own.
pub const LIBRARIES: &[&str] = match OWN {
    Family::OpenMpi => &["libmpi.so.40"],
    Family::Mpich => &["libmpi.so.12", "libmpich.so.12"],
    Family::Abi => &["libmpi_abi.so.1"],
};

/// The libraries with the procedures of the Fortran bindings.
pub const FORTRAN_LIBRARIES: &[&CStr] = match OWN {
    Family::OpenMpi => &[c"libmpi_mpifh.so.40", c"libmpi_usempif08.so.40"],
    Family::Mpich => &[c"libmpichfort.so.12", c"libmpifort.so.12"],
    Family::Abi => &[c"libmpifort_abi.so.1"],
};

/// Context ids that the library has for the communicators of a process, and about as many with other settings than its
/// own: Open MPI's ob1 carries 16 bits, MPICH has 2048 of which two are taken.
pub const CONTEXT_IDS: usize = if IS_OPEN_MPI { 65_532 } else { 2_046 };

/// Private communicators made at most unless the user says otherwise: programs of MPICH need its few for themselves.
pub const PRIVATE_COMMUNICATORS: usize = if IS_OPEN_MPI { 512 } else { 128 };

/// Whether a communicator that no error handler was set on reads as if errors were fatal there, and has another one at the
/// moment of an error, `MPI_COMM_WORLD`'s for instance, whatever that is by then. What was read and is put back is a
/// handler of its own.
pub const HANDLERS_MAY_BE_UNSET: bool = !IS_OPEN_MPI;

/// Whether making a communicator fails when there is no context id left. Open MPI hangs then.
pub const TELLS_WHEN_CONTEXTS_RAN_OUT: bool = !IS_OPEN_MPI;

/// Whether making a communicator disturbs the making of a duplicate that `MPI_Comm_idup` has begun on the same parent.
pub const MAKES_ONE_COMMUNICATOR_AT_A_TIME: bool = IS_OPEN_MPI;

/// Error classes of programs that survive the failure of processes.
#[derive(Clone, Copy, Debug)]
pub struct Failures {
    /// `MPI_ERR_PROC_FAILED`.
    pub failed: c_int,
    /// `MPI_ERR_REVOKED`.
    pub revoked: c_int,
}

/// Those of a library whose collectives end on all ranks when a process fails; the header of Open MPI 4 has not got
/// them.
pub const FAILURES: Option<Failures> = if IS_OPEN_MPI { Some(Failures { failed: 75, revoked: 77 }) } else { None };

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

/// What a handle tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// It is none of such an object, or the null handle.
    Invalid,
    /// It is one of the MPI library's own objects.
    Predefined,
    /// It may be one that was made, or that the library does not tell from those.
    Made,
}

/// What an operation's handle tells.
pub fn op_handle(handle: MPI_Op) -> Handle {
    look_at(handle.0 as usize, 6, 0x21..=0x3f)
}

/// What a datatype's handle tells.
pub fn datatype_handle(handle: MPI_Datatype) -> Handle {
    look_at(handle.0 as usize, 3, 0x201..=0x3ff)
}

/// MPICH's handles (`mpir_objects.h`) have two bits for where the object is, none for the null handles, and four for
/// what it is. Of the standard ABI (MPI 5.0, "ABI Handle Constants") objects of the library's own have numbers of which
/// `of_the_abi` are those of such objects, less than addresses. Open MPI's are all addresses.
fn look_at(handle: usize, of_mpich: u32, of_the_abi: RangeInclusive<usize>) -> Handle {
    let number = handle as u32;
    match OWN {
        Family::Mpich if number >> 26 & 0xf != of_mpich => Handle::Invalid,
        Family::Mpich => [Handle::Invalid, Handle::Predefined, Handle::Made, Handle::Made][number as usize >> 30],
        Family::Abi if of_the_abi.contains(&handle) => Handle::Predefined,
        Family::Abi if handle < 0x1000 => Handle::Invalid,
        Family::OpenMpi if handle == 0 => Handle::Invalid,
        Family::Abi | Family::OpenMpi => Handle::Made,
    }
}

macro_rules! from_fortran {
    ($($(#[$doc:meta])* $name:ident: $type:ident = $convert:ident, $of_the_abi:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Of Open MPI any value is answered, an unknown one with the null handle; MPICH's handles are the same in
            /// both languages.
            pub fn $name(handle: c_int) -> $type {
                #[cfg(mpi_family = "openmpi")]
                // SAFETY: a look into a table that checks the index.
                return unsafe { mpi_sys::$convert(handle) };
                #[cfg(mpi_abi)]
                // SAFETY: as above.
                return unsafe { mpi_sys::$of_the_abi(handle) };
                #[cfg(all(mpi_family = "mpich", not(mpi_abi)))]
                return $type(handle);
            }
        )*
    };
}

from_fortran! {
    /// A communicator as C would have passed it.
    comm_of_fortran: MPI_Comm = PMPI_Comm_f2c, PMPI_Comm_fromint;
    /// A request as C would have passed it.
    request_of_fortran: MPI_Request = PMPI_Request_f2c, PMPI_Request_fromint;
    /// A datatype as C would have passed it.
    datatype_of_fortran: MPI_Datatype = PMPI_Type_f2c, PMPI_Type_fromint;
    /// A reduction operation as C would have passed it.
    op_of_fortran: MPI_Op = PMPI_Op_f2c, PMPI_Op_fromint;
    /// An info object as C would have passed it.
    info_of_fortran: MPI_Info = PMPI_Info_f2c, PMPI_Info_fromint;
}

/// A request as Fortran is given it.
#[cfg(mpi_family = "mpich")]
pub fn request_to_fortran(request: MPI_Request) -> c_int {
    #[cfg(mpi_abi)]
    // SAFETY: a request that the MPI library has just made, or the null handle.
    return unsafe { mpi_sys::PMPI_Request_toint(request) };
    #[cfg(not(mpi_abi))]
    return request.0;
}
