//! Fortran's `MPI_IN_PLACE` and `MPI_BOTTOM`, which Open MPI knows by their addresses.
//!
//! Each is an object that the program has too, as Fortran's common blocks are everybody's. Of several the loader takes
//! the first that it finds from where it looks, and where a program loads its Fortran code for itself alone
//! (`RTLD_LOCAL`, as Python loads its modules) that is not what a look-up by name finds in the process. So what counts
//! is what the loader has written down for the MPI library's own Fortran procedures, and for whoever else refers to
//! these objects.
//!
//! That is settled when the library with the procedures is loaded, which it is before anybody calls one, and it does
//! not change: an object that comes later with others of that name, which the loader does not lead to the first ones,
//! is one whose constants the MPI library does not know either. So the objects need be looked through only once.

use super::references;
use once_cell::sync::OnceCell;
use std::ffi::CStr;
use std::os::raw::c_void;

/// Compilers spell external names in four ways.
type Names = [&'static CStr; 4];

const IN_PLACE: Names =
    [c"mpi_fortran_in_place_", c"mpi_fortran_in_place", c"mpi_fortran_in_place__", c"MPI_FORTRAN_IN_PLACE"];
const BOTTOM: Names = [c"mpi_fortran_bottom_", c"mpi_fortran_bottom", c"mpi_fortran_bottom__", c"MPI_FORTRAN_BOTTOM"];

/// Addresses that stand for something.
struct Sentinels {
    in_place: Vec<usize>,
    bottom: Vec<usize>,
}

fn sentinels() -> &'static Sentinels {
    static SENTINELS: OnceCell<Sentinels> = OnceCell::new();
    SENTINELS.get_or_init(|| {
        let all = references::to(|symbol| IN_PLACE.contains(&symbol.name) || BOTTOM.contains(&symbol.name));
        let addresses = |names: Names| {
            let referred = all.iter().filter(|one| names.contains(&one.name.as_c_str())).map(|one| one.address);
            // Of a program that the MPI library is part of nobody refers to them by name.
            let mut addresses: Vec<usize> = referred.chain(names.map(address_of)).filter(|found| *found != 0).collect();
            addresses.sort_unstable();
            addresses.dedup();
            addresses
        };
        Sentinels { in_place: addresses(IN_PLACE), bottom: addresses(BOTTOM) }
    })
}

/// Address of a symbol that all of the process sees; 0 if there is none.
fn address_of(name: &CStr) -> usize {
    // SAFETY: the name ends in a zero byte.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
}

/// Whether it is Fortran's `MPI_IN_PLACE`.
pub fn is_in_place(address: *const c_void) -> bool {
    sentinels().in_place.contains(&address.addr())
}

/// Whether it is Fortran's `MPI_BOTTOM`.
pub fn is_bottom(address: *const c_void) -> bool {
    sentinels().bottom.contains(&address.addr())
}
