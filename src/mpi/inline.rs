//! Up to which size the MPI library sends a message inline within a node.
//!
//! The tools interface of MPI would tell, but starting it takes Open MPI a quarter of a second.

use std::ffi::{CStr, c_int, c_void};

/// Set by users, or by `mpirun --mca`.
const VADER_VARIABLE: &str = "OMPI_MCA_btl_vader_max_inline_send";
/// What it is otherwise, in Open MPI 2 to 4.
const VADER_DEFAULT: usize = 256;
/// Parts of Open MPI that must carry the messages for that limit to hold. Those that were not chosen are unloaded when MPI
/// has started; where all are built into one library they cannot be told apart, and nothing is assumed.
const PARTS: [&[u8]; 2] = [b"/mca_pml_ob1.so", b"/mca_btl_vader.so"];

/// Bytes of the longest message that travels inline between ranks of a node, if that is known. After `MPI_Init`.
pub fn limit() -> Option<usize> {
    if !super::family::SENDS_INLINE || !is_loaded() {
        return None;
    }
    let set = std::env::var(VADER_VARIABLE).ok();
    let limit = set.map_or(Some(VADER_DEFAULT), |text| text.trim().parse().ok());
    limit.filter(|limit| *limit > 0)
}

/// Whether all of the parts are loaded.
fn is_loaded() -> bool {
    unsafe extern "C" fn look(library: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid entry; `found` is the table below.
        let (name, found) = unsafe { ((*library).dlpi_name, &mut *found.cast::<[bool; PARTS.len()]>()) };
        if !name.is_null() {
            // SAFETY: names end in a zero byte.
            let name = unsafe { CStr::from_ptr(name) }.to_bytes();
            for (found, part) in found.iter_mut().zip(PARTS) {
                *found |= name.ends_with(part);
            }
        }
        0
    }
    let mut found = [false; PARTS.len()];
    // SAFETY: the function only reads names and outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::from_mut(&mut found).cast()) };
    found.iter().all(|found| *found)
}
