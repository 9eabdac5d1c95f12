//! An object of shared memory that several processes map. It has no name, so that nothing of it stays however the
//! processes end: others find it among the open files of the process that made it. Only where that is not allowed it
//! gets a name that nobody guesses until they have mapped it.

use crate::writing::without_write_signals;
use parking_lot::Mutex;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Where shared memory objects are, as `shm_open` has it, which is another library's before glibc 2.34.
pub const FOLDER: &str = "/dev/shm";

/// A name and a token: numbers that nobody guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    name: [u64; 2],
    /// What the object begins with. An object of that name in another namespace begins with something else.
    token: [u64; 2],
}

impl Secret {
    /// Out of the system's random numbers.
    ///
    /// # Errors
    /// There are none to be had.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok(Self::of([0, 1, 2, 3].map(|word| u64::from_le_bytes(words[word]))))
    }

    /// As numbers, to be told to other ranks.
    pub const fn words(self) -> [u64; 4] {
        [self.name[0], self.name[1], self.token[0], self.token[1]]
    }

    /// Of these numbers.
    pub const fn of(words: [u64; 4]) -> Self {
        Self { name: [words[0], words[1]], token: [words[2], words[3]] }
    }

    /// The words that the object begins with.
    pub const fn token(self) -> [u64; 2] {
        self.token
    }

    fn path(self, folder: &Path) -> PathBuf {
        folder.join(format!("collie-{:016x}{:016x}", self.name[0], self.name[1]))
    }
}

/// The name of an object; nobody finds it any more when this is dropped.
#[derive(Debug)]
pub struct Named(CString);

/// The names that objects of this process have now, each with the process that gave it: a child that it forks has
/// none to take away.
static NAMES: Mutex<Vec<(u32, CString)>> = Mutex::new(Vec::new());

impl Named {
    /// Gives the object of this descriptor the name.
    fn give(file: &File, path: &Path) -> Result<Self> {
        let (name, descriptor) = (text(path)?, text(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))?);
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        NAMES.lock().push((std::process::id(), name.clone()));
        let named = Self(name);
        // SAFETY: both are texts that end in a zero byte.
        match unsafe { libc::linkat(here, descriptor.as_ptr(), here, named.0.as_ptr(), follow) } {
            0 => Ok(named),
            _ => {
                let error = Error::last_os_error();
                named.forget();
                std::mem::forget(named);
                Err(error)
            }
        }
    }

    /// Of an object that has been made under the name.
    fn of(path: &Path) -> Result<Self> {
        let name = text(path)?;
        NAMES.lock().push((std::process::id(), name.clone()));
        Ok(Self(name))
    }

    fn forget(&self) {
        NAMES.lock().retain(|(_, name)| *name != self.0);
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        self.forget();
        if let Err(error) = remove(&self.0) {
            log::warn!("{} could not be removed: {error}", self.0.to_string_lossy());
        }
    }
}

fn text(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| ErrorKind::InvalidInput.into())
}

fn remove(name: &CString) -> Result<()> {
    // SAFETY: a text that ends in a zero byte.
    if unsafe { libc::unlink(name.as_ptr()) } == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Takes the names from the objects of this process, which is about to end. May be called by handlers of signals: what
/// they have interrupted may be changing the list, and then nothing is done.
pub fn remove_names() {
    if let Some(names) = NAMES.try_lock() {
        remove_of(std::process::id(), &names);
    }
}

fn remove_of(process: u32, names: &[(u32, CString)]) {
    for (_, name) in names.iter().filter(|(giver, _)| *giver == process) {
        // Nobody is left to hear of a failure.
        drop(remove(name));
    }
}

/// Bytes that are allocated at once: some 10 us.
const PIECE: usize = 64 << 10;

/// Allocates a part of the file's memory, which the system takes from this process's NUMA node; piece by piece, as a
/// signal has the system begin anew. With pieces of 1 MiB (0.1 to 0.3 ms) and a signal every 50 us six ranks took 5.7 s.
fn allocate(file: &File, part: &Range<usize>) -> Result<()> {
    for begin in part.clone().step_by(PIECE) {
        let length = PIECE.min(part.end - begin);
        loop {
            // SAFETY: a descriptor that is open, and numbers.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), begin as libc::off_t, length as libc::off_t) } {
                0 => break,
                libc::EINTR => {}
                error => return Err(Error::from_raw_os_error(error)),
            }
        }
    }
    Ok(())
}

/// Maps the pages of these bytes, to be read or, if they are not there yet, written. Linux before 5.14 does not know how.
///
/// # Safety
/// They are in a mapping.
unsafe fn populate(at: *mut u8, bytes: usize, how: libc::c_int) -> Result<()> {
    // SAFETY: sysconf has no preconditions.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(1).max(1);
    // A mapping begins with a whole page.
    let before = at as usize % page;
    // SAFETY: the caller's promise; contents stay as they are.
    match unsafe { libc::madvise(at.wrapping_sub(before).cast(), before + bytes, how) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Makes whole pages of an object be there, whose memory was not allocated before; if that fails none is.
///
/// # Errors
/// There is no room, or the system does not know how.
///
/// # Safety
/// They are in a mapping, and hold nothing yet.
pub unsafe fn make_present(at: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { populate(at, bytes, libc::MADV_POPULATE_WRITE) }.inspect_err(|error| {
        log::debug!("no memory for long messages: {error}");
        // SAFETY: the caller's promise.
        unsafe { libc::madvise(at.cast(), bytes, libc::MADV_REMOVE) };
    })
}

/// Maps pages of an object that this or another process has made present, which the system would do some at a time as
/// they are read, or (`writes`) one by one as they are written to for the first time: it clears them then.
///
/// # Safety
/// They are in a mapping.
pub unsafe fn map_present(at: *mut u8, bytes: usize, writes: bool) {
    // Where that fails they are mapped as they are used.
    // SAFETY: the caller's promise.
    drop(unsafe { populate(at, bytes, if writes { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ }) });
}

/// Room that is left in a folder for others at least, unless half of it is less.
const LEFT: u128 = 4 << 30;

/// Refuses bytes that would leave others too little room in the folder: the MPI library and the program make objects
/// there, too, and many of them are not asked whether there is room before they are written to.
///
/// # Errors
/// `StorageFull`, or what the system says.
pub fn leave_room(folder: &Path, bytes: usize) -> Result<()> {
    let folder = text(folder)?;
    // SAFETY: all zeros are a valid value; the text ends in a zero byte, and the out-parameter is valid for writes.
    let (code, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(folder.as_ptr(), &raw mut found), found)
    };
    if code != 0 {
        return Err(Error::last_os_error());
    }
    let [room, free] = [found.f_blocks, found.f_bavail].map(|blocks| blocks as u128 * found.f_frsize as u128);
    // Without a limit there are no blocks.
    if room > 0 && free < LEFT.min(room / 2) + bytes as u128 { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
}

/// Where an object is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the open files of a process.
    OpenIn {
        /// Its number.
        process: u32,
        /// Of the open file.
        descriptor: u32,
    },
    /// In a folder, by its name.
    Named(PathBuf),
}

/// What others find an object by, as long as this lasts.
#[derive(Debug)]
pub struct Found {
    file: File,
    path: PathBuf,
    named: Option<Named>,
}

impl Found {
    /// Where it is found without a name.
    pub fn place(&self) -> Place {
        Place::OpenIn { process: std::process::id(), descriptor: self.file.as_raw_fd() as u32 }
    }

    /// Gives it its name, for those that may not look at this process's files.
    ///
    /// # Errors
    /// What the system says.
    pub fn name(&mut self) -> Result<()> {
        if self.named.is_none() {
            self.named = Some(Named::give(&self.file, &self.path)?);
        }
        Ok(())
    }
}

/// Memory that is mapped.
#[derive(Debug)]
pub struct Mapping {
    address: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Makes an object of `bytes` bytes that others of this user [find](Self::open) as long as what comes with it lasts.
    /// It is all zero but for the token. The memory of the parts in `own` is there from then on, not found missing at a
    /// later access; the first of them has the token.
    ///
    /// # Errors
    /// What the system says: no room, or it is not allowed.
    pub fn create(folder: &Path, secret: Secret, bytes: usize, own: &[Range<usize>]) -> Result<(Self, Found)> {
        debug_assert!(own.first().is_some_and(|part| part.start == 0 && part.end >= size_of::<[u64; 2]>()));
        let path = secret.path(folder);
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        if let Ok(file) = options.custom_flags(libc::O_TMPFILE).open(folder) {
            let mapping = Self::begin(&file, secret, bytes, own)?;
            return Ok((mapping, Found { file, path, named: None }));
        }
        // Where files cannot be given names later.
        let file = options.create_new(true).custom_flags(libc::O_NOFOLLOW).open(&path)?;
        let named = Some(Named::of(&path)?);
        Ok((Self::begin(&file, secret, bytes, own)?, Found { file, path, named }))
    }

    /// Maps the object that this process makes, before anybody else looks.
    fn begin(file: &File, secret: Secret, bytes: usize, own: &[Range<usize>]) -> Result<Self> {
        without_write_signals(|| {
            file.set_len(bytes as u64)?;
            own.iter().try_for_each(|part| allocate(file, part))
        })?;
        let mapping = Self::of(file, bytes)?;
        // SAFETY: within the mapping, which nobody else has.
        unsafe { mapping.address.cast::<[u64; 2]>().write(secret.token) };
        Ok(mapping)
    }

    /// Maps the object that another process has made. The memory of the parts in `own` is there from then on.
    ///
    /// # Errors
    /// What the system says, `NotFound` if it is not to be seen from here; another one in its place is `InvalidData`.
    pub fn open(at: &Place, secret: Secret, bytes: usize, own: &[Range<usize>]) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = match at {
            Place::Named(folder) => options.custom_flags(libc::O_NOFOLLOW).open(secret.path(folder))?,
            Place::OpenIn { process, descriptor } => {
                let path = PathBuf::from(format!("/proc/{process}/fd/{descriptor}"));
                // In another namespace of processes it may be anything, and opening some files does something.
                let found = std::fs::metadata(&path)?;
                if !(found.is_file() && found.len() == bytes as u64) {
                    return Err(ErrorKind::InvalidData.into());
                }
                options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?
            }
        };
        if file.metadata()?.len() != bytes as u64 {
            return Err(ErrorKind::InvalidData.into());
        }
        let mapping = Self::of(&file, bytes)?;
        // SAFETY: the mapping begins at a page and is as long as the file, which holds at least that page, as `bytes` is
        // more than two words and both are the same. Whatever bits are there make two words. It may be another object,
        // to which its owner writes meanwhile, so that the compiler must not take it for memory that nobody changes.
        let token = unsafe { mapping.address.cast::<[u64; 2]>().as_ptr().read_volatile() };
        if token != secret.token {
            return Err(ErrorKind::InvalidData.into());
        }
        without_write_signals(|| own.iter().try_for_each(|part| allocate(&file, part)))?;
        Ok(mapping)
    }

    fn of(file: &File, bytes: usize) -> Result<Self> {
        let (protection, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of a file that is open.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, shared, file.as_raw_fd(), 0) };
        match NonNull::new(address.cast::<u8>()) {
            Some(mapped) if address != libc::MAP_FAILED => Ok(Self { address: mapped, bytes }),
            _ => Err(Error::last_os_error()),
        }
    }

    /// Where it is.
    pub const fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped here with that length; whoever used it is gone.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn two_mappings_are_the_same_memory_and_the_name_goes() {
        let folder = folder();
        let secret = Secret::random().unwrap();
        assert_ne!(secret, Secret::random().unwrap());
        let (made, mut found) = Mapping::create(folder.path(), secret, 8192, from_ref(&(0..8192))).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let by_file = Mapping::open(&found.place(), secret, 8192, &[]).unwrap();
        found.name().unwrap();
        let at = secret.path(folder.path());
        let mode = std::os::unix::fs::PermissionsExt::mode(&at.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let by_name = Place::Named(folder.path().to_owned());
        let opened = Mapping::open(&by_name, Secret::of(secret.words()), 8192, from_ref(&(0..8192))).unwrap();
        let place = found.place();
        drop(found);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        // SAFETY: within both mappings, which are this thread's.
        unsafe {
            made.address().add(8191).write(7);
            assert_eq!(opened.address().add(8191).read(), 7);
            assert_eq!(by_file.address().add(8191).read(), 7);
            assert_eq!(opened.address().add(64).read(), 0);
        }
        for at in [by_name, place] {
            let gone = Mapping::open(&at, secret, 8192, from_ref(&(0..8192))).unwrap_err();
            // Another thread may have opened another file since.
            assert!(matches!(gone.kind(), ErrorKind::NotFound | ErrorKind::InvalidData), "{at:?}: {gone}");
        }
    }

    #[test]
    fn some_room_stays_free() {
        let folder = Path::new("/");
        assert!(leave_room(Path::new("/proc"), usize::MAX).is_ok(), "it has no limit");
        assert_eq!(leave_room(folder, usize::MAX).unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(leave_room(Path::new("/proc/nowhere"), 4096).is_err());
    }

    #[test]
    fn files_that_are_something_else_are_not_opened() {
        let secret = Secret::random().unwrap();
        let mut pipe = [0; 2];
        // SAFETY: the out-parameter has room for two.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        for descriptor in pipe {
            let at = Place::OpenIn { process: std::process::id(), descriptor: descriptor as u32 };
            assert_eq!(Mapping::open(&at, secret, 4096, &[]).unwrap_err().kind(), ErrorKind::InvalidData);
            // SAFETY: opened above.
            unsafe { libc::close(descriptor) };
        }
    }

    #[test]
    fn names_go_before_the_process_does() {
        let folder = folder();
        let (_made, mut found) =
            Mapping::create(folder.path(), Secret::random().unwrap(), 4096, from_ref(&(0..4096))).unwrap();
        found.name().unwrap();
        let named = found.named.take().unwrap();
        let on_list = |name: &CString| NAMES.lock().contains(&(std::process::id(), name.clone()));
        assert!(on_list(&named.0));
        // Not of the list, which other tests would miss theirs on.
        let left = || folder.path().read_dir().unwrap().count();
        let of = |process| [(process, named.0.clone())];
        remove_of(1, &of(2));
        assert_eq!(left(), 1, "a child takes no name away");
        remove_of(1, &of(1));
        assert_eq!(left(), 0);
        let name = named.0.clone();
        drop(named);
        assert!(!on_list(&name));
    }

    #[test]
    fn memory_is_had_however_often_signals_come() {
        static CAME: AtomicU32 = AtomicU32::new(0);
        extern "C" fn count(_: libc::c_int) {
            CAME.fetch_add(1, Ordering::Relaxed);
        }
        let signal = libc::SIGRTMIN() + 3;
        let every = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };
        let mut timer: libc::c_int = -1;
        // SAFETY: all zeros are valid values; the parameters are valid for what they are used for, and the handler does
        // no more than add to a counter.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
            assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
            let mut event: libc::sigevent = std::mem::zeroed();
            (event.sigev_signo, event.sigev_notify) = (signal, libc::SIGEV_THREAD_ID);
            event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as libc::c_int;
            let timers = libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            assert_eq!(timers, 0);
            let time = libc::itimerspec { it_interval: every, it_value: every };
            let null = std::ptr::null_mut::<libc::itimerspec>();
            assert_eq!(libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const time, null), 0);
        }
        // Many times what is allocated between two signals.
        let made = Mapping::create(Path::new(FOLDER), Secret::random().unwrap(), 48 << 20, from_ref(&(0..48 << 20)));
        // SAFETY: the timer was made above.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
        let refused = made.err().map(|error| error.kind());
        assert!(matches!(refused, None | Some(ErrorKind::StorageFull)), "{refused:?}");
        // Where there is no room, nothing is allocated that signals could interrupt.
        assert!(refused.is_some() || CAME.load(Ordering::Relaxed) > 0, "no signal came");
    }

    #[test]
    fn what_is_another_object_is_found_out() {
        let folder = folder();
        let secret = Secret::random().unwrap();
        let (_made, mut found) = Mapping::create(folder.path(), secret, 4096, from_ref(&(0..4096))).unwrap();
        found.name().unwrap();
        let (_again, mut other) = Mapping::create(folder.path(), secret, 4096, from_ref(&(0..4096))).unwrap();
        assert_eq!(other.name().unwrap_err().kind(), ErrorKind::AlreadyExists);
        let [first, second, token, other] = secret.words();
        let foreign = Secret::of([first, second, token, !other]);
        for at in [Place::Named(folder.path().to_owned()), found.place()] {
            for (secret, bytes) in [(foreign, 4096), (secret, 8192)] {
                let error = Mapping::open(&at, secret, bytes, from_ref(&(0..bytes))).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidData);
            }
        }
    }

    #[test]
    fn an_object_that_cannot_be_had_leaves_no_name() {
        let folder = folder();
        assert!(Mapping::create(folder.path(), Secret::random().unwrap(), 1 << 60, from_ref(&(0..1 << 60))).is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        assert!(
            Mapping::create(Path::new("/proc/nowhere"), Secret::random().unwrap(), 4096, from_ref(&(0..4096))).is_err()
        );
    }
}
