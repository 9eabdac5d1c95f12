//! Whether an address is memory of a GPU, which only the MPI library can move: asked of the GPU's own runtime where the
//! process has one, which is never loaded for that.
//!
//! Answers are not kept: they cost less than what the ranks then exchange, and memory is given back and taken again.

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Libraries of CUDA, ROCm and the compilers that make programs for GPUs, by how their file names begin. Some load the
/// library that is asked only when the program first uses a GPU.
const LIBRARIES: [&[u8]; 5] =
    [b"libcuda.so", b"libcudart.so", b"libamdhip64.so", b"libomptarget.so", b"libaccdevice.so"];
/// The sections that code for GPUs is in. A program that has one may have the rest linked into it, unseen.
const SECTIONS: [&[u8]; 2] = [b".nv_fatbin", b".hip_fatbin"];

const CUDA_SUCCESS: c_int = 0;
const CUDA_MEMORY_TYPE: c_int = 2;
const CUDA_IS_MANAGED: c_int = 8;
const CUDA_HOST: c_uint = 1;

/// `cuPointerGetAttribute`.
type CudaAttribute = unsafe extern "C" fn(*mut c_void, c_int, u64) -> c_int;

const HIP_SUCCESS: c_int = 0;

/// `hipPointerAttribute_t` with room for what may be added. What the memory is called in the first field differs
/// between ROCm 5 and 6; the addresses tell the same in both.
#[repr(C)]
#[derive(Default)]
struct HipAttributes {
    kind: c_int,
    device: c_int,
    device_address: usize,
    host_address: usize,
    is_managed: c_int,
    flags: c_uint,
    room: [u64; 16],
}

/// `hipPointerGetAttributes`.
type HipPointerAttributes = unsafe extern "C" fn(*mut HipAttributes, *const c_void) -> c_int;
/// `hipPeekAtLastError` and `hipGetLastError`.
type HipError = unsafe extern "C" fn() -> c_int;

/// The functions of ROCm: its failures stay with the thread, where the program looks for its own.
#[derive(Clone, Copy)]
struct Hip {
    attributes: HipPointerAttributes,
    last_error: HipError,
    take_last_error: HipError,
}

/// What the process has loaded.
#[derive(Clone, Copy)]
struct Loaded {
    /// Libraries loaded since it began, when that was found out.
    as_of: u64,
    present: bool,
    cuda: Option<CudaAttribute>,
    hip: Option<Hip>,
}

/// Whether this process uses a GPU, or may come to: some library for that is loaded, or the program has code for one.
pub fn is_present() -> bool {
    Loaded::now().present
}

/// Whether a GPU owns the memory at `address`, which may be any, and the host cannot reach it.
pub fn owns(address: *const c_void) -> bool {
    let loaded = Loaded::now();
    loaded.cuda.is_some_and(|attribute| cuda_owns(attribute, address))
        || loaded.hip.is_some_and(|hip| hip.owns(address))
}

fn cuda_owns(attribute: CudaAttribute, address: *const c_void) -> bool {
    let ask = |what| {
        let mut answer: c_uint = 0;
        // SAFETY: both attributes are of this size; the function answers for any address, with an error for one that it
        // does not know.
        let code = unsafe { attribute((&raw mut answer).cast(), what, address as u64) };
        (code == CUDA_SUCCESS).then_some(answer)
    };
    ask(CUDA_MEMORY_TYPE).is_some_and(|kind| kind != CUDA_HOST)
        && ask(CUDA_IS_MANAGED).is_none_or(|managed| managed == 0)
}

impl Hip {
    fn owns(self, address: *const c_void) -> bool {
        let mut answer = HipAttributes::default();
        // SAFETY: there is room for the answer; the function answers for any address, as above. The others take
        // nothing.
        unsafe {
            let pending = (self.last_error)();
            if (self.attributes)(&mut answer, address) != HIP_SUCCESS {
                if pending == HIP_SUCCESS {
                    (self.take_last_error)();
                }
                return false;
            }
        }
        answer.is_managed == 0 && answer.host_address == 0 && answer.device_address != 0
    }
}

impl Loaded {
    /// As of now.
    fn now() -> Self {
        static LAST: Mutex<Option<Loaded>> = Mutex::new(None);
        let number = number_loaded();
        let mut last = LAST.lock();
        match *last {
            Some(last) if last.as_of == number => last,
            _ => *last.insert(Self::find(number)),
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
        let hip = || {
            let [attributes, last_error, take_last_error] =
                [c"hipPointerGetAttributes", c"hipPeekAtLastError", c"hipGetLastError"].map(&function);
            // SAFETY: ROCm's functions of these names have these types.
            Some(unsafe {
                Hip {
                    attributes: std::mem::transmute::<*mut c_void, HipPointerAttributes>(attributes?),
                    last_error: std::mem::transmute::<*mut c_void, HipError>(last_error?),
                    take_last_error: std::mem::transmute::<*mut c_void, HipError>(take_last_error?),
                }
            })
        };
        static PROGRAM: Lazy<bool> = Lazy::new(|| has_section("/proc/self/exe").unwrap_or(false));
        let present = !libraries.is_empty() || *PROGRAM;
        // SAFETY: CUDA's function of this name has this type.
        let cuda = function(c"cuPointerGetAttribute")
            .map(|found| unsafe { std::mem::transmute::<*mut c_void, CudaAttribute>(found) });
        Self { as_of, present, cuda, hip: hip() }
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

/// Whether the ELF file has one of the sections; `None` if it cannot be read as one.
fn has_section(path: &str) -> Option<bool> {
    let file = File::open(path).ok()?;
    let read = |at: u64, bytes: usize| {
        let mut room = vec![0u8; bytes];
        file.read_exact_at(&mut room, at).ok()?;
        Some(room)
    };
    let number = |bytes: &[u8], at: usize, size: usize| {
        let digits = bytes.get(at..at + size)?.iter().rev();
        Some(digits.fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let header = read(0, 64)?;
    // 64 bits, the lowest byte first.
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size) = (number(&header, 0x28, 8)?, number(&header, 0x3a, 2)? as usize);
    let (sections, names) = (number(&header, 0x3c, 2)? as usize, number(&header, 0x3e, 2)? as usize);
    let table = read(table, size * sections)?;
    let names = table.get(names * size..)?;
    // No program has names of so many bytes; a broken file may say so.
    let length = usize::try_from(number(names, 0x20, 8)?).ok().filter(|length| *length < 1 << 24)?;
    let names = read(number(names, 0x18, 8)?, length)?;
    Some(names.split(|byte| *byte == 0).any(|name| SECTIONS.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_no_gpu_and_owns_nothing() {
        assert!(number_loaded() > 0);
        assert!(!is_present());
        for address in [std::ptr::null(), std::ptr::from_ref(&SECTIONS).cast(), std::ptr::without_provenance(1 << 40)] {
            assert!(!owns(address));
        }
    }

    #[test]
    fn sections_are_read() {
        assert_eq!(has_section("/proc/self/exe"), Some(false));
        assert_eq!(has_section("/proc/self/status"), None);
        assert_eq!(has_section("/no/such/file"), None);
    }

    #[test]
    fn rocm_says_by_addresses_what_is_reached() {
        unsafe extern "C" fn attributes(answer: *mut HipAttributes, address: *const c_void) -> c_int {
            // SAFETY: called with room for the answer.
            let answer = unsafe { &mut *answer };
            let address = address as usize;
            *answer = HipAttributes { device_address: address, ..HipAttributes::default() };
            match address {
                1 => {}
                2 => answer.host_address = 2,
                3 => answer.is_managed = 1,
                4 => answer.device_address = 0,
                _ => return 1,
            }
            HIP_SUCCESS
        }
        unsafe extern "C" fn no_error() -> c_int {
            HIP_SUCCESS
        }
        let hip = Hip { attributes, last_error: no_error, take_last_error: no_error };
        let owned: Vec<_> = (1..=5).filter(|address| hip.owns(std::ptr::without_provenance(*address))).collect();
        assert_eq!(owned, [1]);
    }
}
