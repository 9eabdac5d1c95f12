//! Words for people, straight to standard error: they are to be read whatever the log's level is, and before there is a
//! log.

use crate::writing::standard_error;
use std::io::Write;
use std::time::Duration;

/// How often, and how many times at most, to look whether the last words have been read.
const POLL: Duration = Duration::from_millis(1);
const MOST_POLLS: usize = 2000;

/// Writes lines to stderr at once: piece by piece, the end of the job or another rank's words may come in between.
pub fn tell(lines: &str) {
    let text: String = lines.lines().map(|line| format!("collie: {line}\n")).collect();
    // Nowhere to complain if stderr is closed.
    drop(Stderr.write_all(text.as_bytes()));
}

/// Remembers what standard error is: what takes its number later may be none.
pub fn remember_stderr() {
    standard_error::remember();
}

/// Writes the words to standard error if it takes them without waiting; for handlers of signals.
pub fn write_at_once(words: &[u8]) {
    standard_error::write_at_once(words);
}

/// Standard error, as long as it is that, for those above who write more than lines.
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        standard_error::Stderr.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Tells what the job ends for, and lets the launcher read it: MPICH's drops what it has not read when the job is
/// aborted.
pub fn tell_before_the_end(lines: &str) {
    tell(lines);
    for _ in 0..MOST_POLLS {
        let mut unread: libc::c_int = 0;
        // SAFETY: the out-parameter is valid for writes. What is no pipe says so, or counts something else for a while.
        if unsafe { libc::ioctl(libc::STDERR_FILENO, libc::FIONREAD, &raw mut unread) } != 0 || unread == 0 {
            return;
        }
        std::thread::sleep(POLL);
    }
}
