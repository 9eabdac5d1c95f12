//! Which MPI library the program runs on.

use super::log;
use crate::mpi::end::EX_CONFIG;
use crate::mpi::{library, weak};
use once_cell::sync::OnceCell;
use std::ffi::{CStr, c_char};
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

/// How long others of the node leave the word to the process that has it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The MPI library's own words on what it is; may be asked before `MPI_Init`, after [`bind`]. The library is asked
/// once: a report may come while it is in the middle of something.
pub fn version() -> &'static str {
    static VERSION: OnceCell<String> = OnceCell::new();
    VERSION.get_or_init(ask_version)
}

fn ask_version() -> String {
    // Not the constant of the MPI built for: another version's may be larger; the largest known is 8192.
    let mut text = vec![0 as c_char; 1 << 14];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for and ends in a zero.
    let text = unsafe {
        mpi_sys::PMPI_Get_library_version(text.as_mut_ptr(), &mut length);
        CStr::from_ptr(text.as_ptr())
    };
    text.to_string_lossy().into_owned()
}

/// The right to tell what all processes of a node would: of those that one launcher has started there, the first to
/// come has it for as long as it keeps this. Which of them that is cannot be told by numbers, as others may run another
/// program.
fn the_word() -> Option<Option<UnixListener>> {
    // SAFETY: always succeeds.
    let launcher = unsafe { libc::getppid() };
    let name = SocketAddr::from_abstract_name(format!("collie-{launcher}"));
    match name.and_then(|name| UnixListener::bind_addr(&name)) {
        Ok(word) => Some(Some(word)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => None,
        // Too much said is better than nothing.
        Err(_) => Some(None),
    }
}

/// Whether the process has no MPI library at all.
pub fn is_absent() -> bool {
    // SAFETY: nothing is bound where there is none, and where there is one, this is the call that initialises MPI.
    unsafe { library::bind() == Err(library::Unusable::None) }
}

/// Binds this library to the program's MPI library. Where that is of another family, or there is none, the process ends
/// with a clear word: the handles of two families have nothing in common.
pub fn bind() {
    // SAFETY: the program initialises MPI, before which no other thread of it may call MPI.
    if let Err(unusable) = unsafe { library::bind() } {
        if let Some(_word) = the_word() {
            log::tell(&unusable.to_string());
            std::thread::sleep(PATIENCE);
        } else {
            // The launcher ends the others when one process ends like that: the one that tells, too, if it has not yet.
            std::thread::sleep(PATIENCE / 2);
        }
        std::process::exit(EX_CONFIG);
    }
    weak::take_back();
}
