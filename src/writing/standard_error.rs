//! Standard error, for as long as it is that. Once a program has closed it, the next file that it opens takes its
//! number, and what is written there ends up among the program's data.
//!
//! So what it is when the library is loaded is remembered. If there is something else later, the program may have put
//! it there for messages: a terminal, `/dev/null`, whatever standard output is, or a file or pipe that is open for
//! writing only and is handed on to other programs, as those of `freopen` and `dup2` are. Everything else is taken for
//! a file that got the number by chance. A data file open for writing only cannot be told from a log.

use super::without_write_signals;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::raw::c_int;
use std::sync::OnceLock;

static AT_THE_START: OnceLock<Option<Object>> = OnceLock::new();

/// Remembers what standard error is. Only the first call counts.
#[cfg(feature = "mpi")]
pub fn remember() {
    AT_THE_START.get_or_init(|| Object::of(libc::STDERR_FILENO));
}

/// Standard error, written to without ending a program whose standard error nobody reads any more. What is written
/// while it is closed, or is none, is dropped.
pub struct Stderr;

/// Whether there is one to write to.
fn is_there() -> bool {
    is_for_messages(libc::STDERR_FILENO, AT_THE_START.get().map(Option::as_ref), libc::STDOUT_FILENO)
}

/// Writes the words to it if it takes them without waiting, as a pipe does not that nobody reads or that is full. For
/// handlers of signals, which may have interrupted anything: nothing here takes a lock or asks for memory. Where writing
/// fails there is nobody to tell.
#[cfg(feature = "mpi")]
pub fn write_at_once(words: &[u8]) {
    if is_there() {
        write_without_waiting(libc::STDERR_FILENO, words);
    }
}

#[cfg(any(feature = "mpi", test))]
fn write_without_waiting(descriptor: c_int, words: &[u8]) -> bool {
    let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one structure is valid for reads and writes, so many bytes for reads.
    without_write_signals(|| unsafe {
        libc::poll(&raw mut asked, 1, 0) == 1
            && asked.revents & (libc::POLLOUT | libc::POLLERR) == libc::POLLOUT
            && libc::write(descriptor, words.as_ptr().cast(), words.len()) == words.len() as isize
    })
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !is_there() {
            return Ok(bytes.len());
        }
        without_write_signals(|| io::stderr().lock().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a descriptor stands for.
struct Object {
    device: libc::dev_t,
    inode: libc::ino_t,
    kind: libc::mode_t,
    /// Which device it is, where it is one.
    number: libc::dev_t,
}

impl Object {
    /// None if it is closed.
    fn of(descriptor: c_int) -> Option<Self> {
        let mut found = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the out-parameter is valid for writes, and read only where that succeeded.
        let found = unsafe {
            if libc::fstat(descriptor, found.as_mut_ptr()) != 0 {
                return None;
            }
            found.assume_init()
        };
        let libc::stat { st_dev: device, st_ino: inode, st_mode, st_rdev: number, .. } = found;
        Some(Self { device, inode, kind: st_mode & libc::S_IFMT, number })
    }

    const fn is(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

/// Whether `descriptor` is what it was at the start, or something for messages. `before` is nothing where nobody has
/// looked, and may say that it was closed.
fn is_for_messages(descriptor: c_int, before: Option<Option<&Object>>, output: c_int) -> bool {
    let Some(before) = before else { return true };
    // A program that began without it has put something there by chance.
    let (Some(before), Some(now)) = (before, Object::of(descriptor)) else { return false };
    if now.is(before) || Object::of(output).is_some_and(|output| now.is(&output)) {
        return true;
    }
    match now.kind {
        // SAFETY: only asks.
        libc::S_IFCHR => now.number == libc::makedev(1, 3) || unsafe { libc::isatty(descriptor) } == 1,
        libc::S_IFREG | libc::S_IFIFO => {
            // SAFETY: only asks.
            let [status, flags] = [libc::F_GETFL, libc::F_GETFD].map(|what| unsafe { libc::fcntl(descriptor, what) });
            status & libc::O_ACCMODE == libc::O_WRONLY && flags & libc::FD_CLOEXEC == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

    /// The same as a program's `dup2` makes of it: other programs inherit it.
    fn handed_on(file: impl IntoRawFd) -> OwnedFd {
        let descriptor = file.into_raw_fd();
        // SAFETY: open, and owned by nobody else.
        unsafe {
            libc::fcntl(descriptor, libc::F_SETFD, 0);
            OwnedFd::from_raw_fd(descriptor)
        }
    }

    #[test]
    fn only_what_is_there_for_messages_is_standard_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let at_start = handed_on(File::create(path("start")).unwrap());
        let output = handed_on(File::create(path("output")).unwrap());
        let before = Object::of(at_start.as_raw_fd());
        let is =
            |descriptor: &OwnedFd| is_for_messages(descriptor.as_raw_fd(), Some(before.as_ref()), output.as_raw_fd());
        assert!(is(&at_start) && is(&at_start.try_clone().unwrap()) && is(&output.try_clone().unwrap()));
        assert!(is(&handed_on(File::create(path("log")).unwrap())));
        assert!(is(&handed_on(OpenOptions::new().append(true).create(true).open(path("appended")).unwrap())));
        assert!(!is(&handed_on(OpenOptions::new().read(true).write(true).open(path("log")).unwrap())));
        assert!(!is(&OwnedFd::from(File::create(path("log")).unwrap())), "open for this program alone");
        let (reader, writer) = io::pipe().unwrap();
        let [reader, writer] = [handed_on(OwnedFd::from(reader)), handed_on(OwnedFd::from(writer))];
        assert!(is(&writer) && !is(&reader));
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!is(&handed_on(socket)));
        let device = |name: &str| handed_on(OpenOptions::new().read(true).write(true).open(name).unwrap());
        assert!(is(&device("/dev/null")) && !is(&device("/dev/zero")));
    }

    #[test]
    fn what_takes_nothing_at_once_is_left_alone() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(write_without_waiting(writer.as_raw_fd(), b"words"));
        // SAFETY: asks for no room beyond what the system has.
        let room = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETPIPE_SZ) };
        (&writer).write_all(&vec![0; room as usize - 5]).unwrap();
        assert!(!write_without_waiting(writer.as_raw_fd(), b"words"), "full");
        drop(reader);
        assert!(!write_without_waiting(writer.as_raw_fd(), b"words"), "nobody reads it");
    }

    #[test]
    fn what_was_closed_at_the_start_is_never_standard_error() {
        let folder = tempfile::tempdir().unwrap();
        let log = handed_on(File::create(folder.path().join("log")).unwrap());
        assert!(!is_for_messages(log.as_raw_fd(), Some(None), -1));
        assert!(is_for_messages(log.as_raw_fd(), None, -1), "nobody has looked");
    }
}
