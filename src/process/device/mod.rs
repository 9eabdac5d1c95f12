//! Whether an address is memory of a GPU, and copies of such memory: asked of the GPU's own runtime where the process has
//! one, which is never loaded for that. [`cuda`] and [`rocm`] know these, [`sections`] what the program's file says.
//!
//! Answers are not kept: memory is given back and taken again.

mod cuda;
mod not_copied;
mod rocm;
mod sections;

pub use not_copied::NotCopied;

use cuda::Cuda;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use rocm::Rocm;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Libraries of CUDA, ROCm and the compilers that make programs for GPUs, by how their file names begin. Some load the
/// library that is asked only when the program first uses a GPU.
const LIBRARIES: [&[u8]; 5] =
    [b"libcuda.so", b"libcudart.so", b"libamdhip64.so", b"libomptarget.so", b"libaccdevice.so"];

/// What the process has loaded.
#[derive(Clone, Copy)]
struct Loaded {
    /// Libraries loaded since it began, when that was found out.
    as_of: u64,
    present: bool,
    cuda: Option<Cuda>,
    rocm: Option<Rocm>,
}

/// The last one with something to ask; null before there is.
static KEPT: AtomicPtr<Loaded> = AtomicPtr::new(std::ptr::null_mut());

/// What GPUs mean to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gpu {
    /// It uses none.
    Absent,
    /// It uses one, or may come to, and what that owns can be copied.
    Copied,
    /// The same, and what that owns is only the MPI library's to move.
    Foreign,
}

impl Gpu {
    /// The one with this number.
    pub const fn from_word(word: u64) -> Self {
        match word {
            0 => Self::Absent,
            1 => Self::Copied,
            _ => Self::Foreign,
        }
    }
}

/// What GPUs mean to this process. It uses one, or may come to, if library for that is loaded, or the program has code for
/// one.
pub fn present() -> Gpu {
    let loaded = Loaded::now();
    let copies = loaded.cuda.is_none_or(Cuda::copies) && loaded.rocm.is_none_or(Rocm::copies);
    match (loaded.present, copies) {
        (false, _) => Gpu::Absent,
        (true, true) => Gpu::Copied,
        (true, false) => Gpu::Foreign,
    }
}

/// Of each of these addresses, which may be any: whether a GPU owns the memory there, and the host cannot reach it.
/// Nobody owns what is at null. Once CUDA or ROCm is loaded, whether the other one is by now is left to [`owns`].
pub fn owned<const ADDRESSES: usize>(addresses: [*const c_void; ADDRESSES]) -> [bool; ADDRESSES] {
    let loaded = Loaded::kept().unwrap_or_else(Loaded::now);
    addresses.map(|address| loaded.owns(address))
}

/// Whether a GPU owns the memory at `address`, which may be any, and the host cannot reach it, as of what is loaded now.
pub fn owns(address: *const c_void) -> bool {
    Loaded::now().owns(address)
}

/// Copies memory that a GPU owns to the host.
///
/// # Safety
/// A GPU [owns](owns) so many bytes at `from`, and `to` can be written.
///
/// # Errors
/// What the GPU's runtime said.
pub unsafe fn fetch(to: *mut u8, from: *const u8, bytes: usize) -> Result<(), NotCopied> {
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, from) }
}

/// Copies memory of the host to where a GPU owns it.
///
/// # Safety
/// A GPU [owns](owns) so many bytes at `to`, and `from` can be read.
///
/// # Errors
/// What the GPU's runtime said.
pub unsafe fn deliver(to: *mut u8, from: *const u8, bytes: usize) -> Result<(), NotCopied> {
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, to) }
}

/// # Safety
/// As for both.
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize, owned: *const u8) -> Result<(), NotCopied> {
    let loaded = Loaded::now();
    match (loaded.cuda.filter(|cuda| cuda.owns(owned.cast())), loaded.rocm) {
        // SAFETY: the caller's promise.
        (Some(cuda), _) => unsafe { cuda.copy(to as u64, from as u64, bytes, owned as u64) },
        // SAFETY: as above.
        (None, Some(rocm)) => unsafe { rocm.copy(to.cast(), from.cast(), bytes) },
        (None, None) => Err(NotCopied::NoFunction),
    }
}

impl Loaded {
    fn owns(&self, address: *const c_void) -> bool {
        let by_cuda = || self.cuda.is_some_and(|cuda| cuda.owns(address));
        let by_rocm = || self.rocm.is_some_and(|rocm| rocm.owns(address));
        !address.is_null() && (by_cuda() || by_rocm())
    }

    /// As of the last time that somebody looked, if there was something to ask by then: it stays loaded.
    #[inline]
    fn kept() -> Option<Self> {
        // SAFETY: what it points to is never freed, nor changed once it is there.
        unsafe { KEPT.load(Ordering::Acquire).as_ref() }.copied()
    }

    /// As of now.
    fn now() -> Self {
        static LAST: Mutex<Option<Loaded>> = Mutex::new(None);
        let number = number_loaded();
        let mut last = LAST.lock();
        match *last {
            Some(last) if last.as_of == number => last,
            _ => {
                let found = Self::find(number);
                let asks = |loaded: &Self| (loaded.cuda.is_some(), loaded.rocm.is_some());
                // Kept for good, since another thread may be looking at it; there are three at most.
                if asks(&found) != Self::kept().as_ref().map_or((false, false), asks) {
                    KEPT.store(Box::into_raw(Box::new(found)), Ordering::Release);
                }
                *last.insert(found)
            }
        }
    }

    fn find(as_of: u64) -> Self {
        let libraries = libraries();
        let open = |path: &CString| {
            // Kept open, so that the functions stay where they are.
            // SAFETY: the name ends in a zero byte, and a library that is there already runs no code.
            unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
        };
        let handles: Vec<_> = libraries.iter().map(open).filter(|handle| !handle.is_null()).collect();
        let function = |name: &CStr| {
            // A library may keep its names to those that loaded it.
            let all = std::iter::once(libc::RTLD_DEFAULT).chain(handles.iter().copied());
            // SAFETY: the name ends in a zero byte, the handles are open.
            all.map(|handle| unsafe { libc::dlsym(handle, name.as_ptr()) }).find(|found| !found.is_null())
        };
        static PROGRAM: Lazy<bool> = Lazy::new(|| sections::has_code("/proc/self/exe").unwrap_or(false));
        let present = !libraries.is_empty() || *PROGRAM;
        Self { as_of, present, cuda: Cuda::of(function), rocm: Rocm::of(function) }
    }
}

/// How many libraries the process has loaded since it began.
fn number_loaded() -> u64 {
    unsafe extern "C" fn look(library: *mut libc::dl_phdr_info, _: usize, number: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid entry, with this field since glibc 2.4; `number` is the variable below.
        unsafe { *number.cast::<u64>() = (*library).dlpi_adds };
        // One entry says it.
        1
    }
    let mut number = 0;
    // SAFETY: the function only reads the entry and outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut number).cast()) };
    number
}

/// Paths of the loaded libraries that are on the list.
fn libraries() -> Vec<CString> {
    unsafe extern "C" fn look(library: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid entry; `found` is the list below.
        let (name, found) = unsafe { ((*library).dlpi_name, &mut *found.cast::<Vec<CString>>()) };
        if !name.is_null() {
            // SAFETY: names end in a zero byte.
            let name = unsafe { CStr::from_ptr(name) };
            let file = name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if LIBRARIES.iter().any(|library| file.starts_with(library)) {
                found.push(name.to_owned());
            }
        }
        0
    }
    let mut found = Vec::<CString>::new();
    // SAFETY: the function only reads names and outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_no_gpu_and_owns_nothing() {
        assert!(number_loaded() > 0);
        assert_eq!(present(), Gpu::Absent);
        for address in [std::ptr::null(), std::ptr::from_ref(&LIBRARIES).cast(), std::ptr::without_provenance(1 << 40)]
        {
            assert!(!owns(address));
        }
        let mut room = 0u8;
        // SAFETY: nothing is copied, since no GPU owns anything.
        assert_eq!(unsafe { fetch(&mut room, &1, 1) }, Err(NotCopied::NoFunction));
    }
}
