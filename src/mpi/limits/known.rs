//! What is known of MPI libraries by name.
//!
//! The tools interface of MPI would tell, but starting it takes Open MPI a quarter of a second.

use crate::mpi::family;
use crate::schedule::limits::{Limit, ProtocolLimits, Way};
use std::ffi::{CStr, c_int, c_void};

/// Set by users, or by `mpirun --mca`: the longest message that travels with its header, and the longest that does not
/// wait for its receive, its header included; with what they are otherwise in Open MPI 2 to 4.
const VADER: [(&str, usize); 2] =
    [("OMPI_MCA_btl_vader_max_inline_send", 256), ("OMPI_MCA_btl_vader_eager_limit", 4096)];
/// Bytes of the headers: of 4,096 bytes 4,040 are the message's.
const HEADERS: usize = 56;
/// Parts of Open MPI that must carry the messages for these limits to hold. Those that were not chosen are unloaded
/// when MPI has started; where all are built into one library they cannot be told apart, and nothing is assumed.
const PARTS: [&[u8]; 2] = [b"/mca_pml_ob1.so", b"/mca_btl_vader.so"];

/// The steps of the MPI library that the process has; none if they are not known. After `MPI_Init`.
///
/// Where nobody measures, the longer one is for exchanges: one way, 4,096 bytes gain by two pieces on some machines and
/// lose on others (an Intel Emerald Rapids: up to half as long again).
pub fn known() -> ProtocolLimits {
    if !family::SENDS_INLINE || !is_loaded() {
        return ProtocolLimits::NONE;
    }
    let [inline, eager] = VADER.map(|(variable, otherwise)| {
        let set = std::env::var(variable).ok();
        set.map_or(Some(otherwise), |text| text.trim().parse().ok()).unwrap_or(0)
    });
    let eager = eager.saturating_sub(HEADERS) / 8 * 8;
    let limits = [Limit::from(inline), Limit::of_two(eager, Way::Exchange)];
    ProtocolLimits::of(limits.into_iter().filter(|limit| limit.bytes > 0)).unwrap_or(ProtocolLimits::NONE)
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
