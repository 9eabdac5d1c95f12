//! Text at an address that may be none.

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::os::raw::{c_char, c_int};

/// Longest name that is taken for one.
const LONGEST: usize = 255;

/// Bytes that are read at once, none of them beyond a page's end.
const PIECE: usize = 64;

/// What can be read goes through a pipe: the system, and not a signal, says of the rest that it cannot.
static PIPE: OnceCell<Option<Mutex<[c_int; 2]>>> = OnceCell::new();

/// The printable text of at least one character that ends in a zero byte, if there is such a text at the address.
pub fn at(address: *const c_char) -> Option<String> {
    let pipe = PIPE.get_or_init(|| {
        let mut ends = [0; 2];
        // SAFETY: there is room for two.
        let code = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) };
        (code == 0).then(|| Mutex::new(ends))
    });
    let ends = pipe.as_ref()?.lock();
    let mut text = Vec::new();
    while text.len() <= LONGEST {
        let from = (address as usize).checked_add(text.len()).filter(|from| *from != 0)?;
        let length = PIECE.min(PIECE - from % PIECE);
        let mut piece = [0u8; PIECE];
        // Asked of the system itself: in programs with AddressSanitizer the C library's function is one that ends the
        // program if not all of the bytes are the program's own, and those after the text need not be. SAFETY: the
        // system reads from the address, or says that it cannot; the piece has the room.
        let read = unsafe {
            let written = libc::syscall(libc::SYS_write, ends[1], from as *const c_char, length);
            if written <= 0 { -1 } else { libc::syscall(libc::SYS_read, ends[0], piece.as_mut_ptr(), PIECE) }
        };
        let read = usize::try_from(read).ok()?;
        match piece[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                let text = String::from_utf8(text).ok()?;
                let is_name = !text.trim().is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control);
                return is_name.then_some(text);
            }
            None => text.extend_from_slice(&piece[..read]),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_nothing_else_is_a_name() {
        let long = format!("{}\0", "x".repeat(255));
        for (text, expected) in [
            ("solver\0", Some("solver")),
            (&long, Some(&long[..255])),
            ("\0", None),
            ("  \0", None),
            ("two\nlines\0", None),
            (&format!("{}\0", "x".repeat(256)), None),
        ] {
            assert_eq!(at(text.as_ptr().cast()).as_deref(), expected, "{text}");
        }
        assert_eq!(at(b"\xff\xfe\0".as_ptr().cast()), None);
        for nowhere in [0usize, 1, 0x7, usize::MAX - 3, 0xdead_beef_0000] {
            assert_eq!(at(nowhere as *const c_char), None);
        }
        assert_eq!(at(c"still".as_ptr()).as_deref(), Some("still"));
    }
}
