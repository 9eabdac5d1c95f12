//! The names that Fortran procedures are exported under.
//!
//! Open MPI's Fortran bindings call PMPI, past the C symbols, so that each procedure is exported under the four names
//! that compilers give an external one, and that of `mpi_f08`. Those of MPICH and its kin call the C symbols, but for
//! some of `mpi_f08`.

/// Hands a procedure to `$make! { @one ... }` once for each of its names: the name, the name of the library's own
/// procedure, which ends in a zero byte, and what follows here.
///
/// First come the parts of the name in lower and in upper case; then those of what MPICH calls its own procedure in
/// `mpi_f08`.
macro_rules! under_each_name {
    ($make:ident [$($lower:expr),+] [$($upper:expr),+] [$($own:expr),+] $($rest:tt)*) => {
        #[cfg(mpi_family = "openmpi")]
        $make! { @one concat!($($lower),+), concat!("p", $($lower,)+ "\0"), $($rest)* }
        #[cfg(mpi_family = "openmpi")]
        $make! { @one concat!($($lower,)+ "_"), concat!("p", $($lower,)+ "_\0"), $($rest)* }
        #[cfg(mpi_family = "openmpi")]
        $make! { @one concat!($($lower,)+ "__"), concat!("p", $($lower,)+ "__\0"), $($rest)* }
        #[cfg(mpi_family = "openmpi")]
        $make! { @one concat!($($upper),+), concat!("P", $($upper,)+ "\0"), $($rest)* }
        #[cfg(mpi_family = "openmpi")]
        $make! { @one concat!($($lower,)+ "_f08_"), concat!("p", $($lower,)+ "_f08_\0"), $($rest)* }
        #[cfg(mpi_family = "mpich")]
        $make! { @one concat!($($lower,)+ "_f08_"), concat!($($own,)+ "_f08_\0"), $($rest)* }
    };
}
pub(crate) use under_each_name;
