//! What ROCm's runtime says of memory.

use super::not_copied::NotCopied;
use std::ffi::{c_int, c_uint, c_void};

const HIP_SUCCESS: c_int = 0;
/// The kind of copy whose direction the addresses tell.
const BY_ADDRESSES: c_int = 4;

/// `hipPointerAttribute_t` with room for what may be added. What the memory is called in the first field differs
/// between ROCm 5 and 6; the addresses tell the same in both.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: c_int,
    device: c_int,
    device_address: usize,
    host_address: usize,
    is_managed: c_int,
    flags: c_uint,
    room: [u64; 16],
}

/// `hipPointerGetAttributes`.
type PointerAttributes = unsafe extern "C" fn(*mut Attributes, *const c_void) -> c_int;
/// `hipPeekAtLastError` and `hipGetLastError`.
type LastError = unsafe extern "C" fn() -> c_int;
/// `hipMemcpy`.
type Copies = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> c_int;
/// `hipStreamSynchronize`.
type Synchronise = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The functions of ROCm: its failures stay with the thread, where the program looks for its own.
#[derive(Clone, Copy)]
pub struct Rocm {
    attributes: PointerAttributes,
    last_error: LastError,
    take_last_error: LastError,
    copy: Option<(Copies, Synchronise)>,
}

impl Rocm {
    /// What the process has loaded of it, by the addresses of its functions; `None` if that is not enough to ask.
    pub fn of(function: impl Fn(&std::ffi::CStr) -> Option<*mut c_void>) -> Option<Self> {
        let [attributes, last_error, take_last_error] =
            [c"hipPointerGetAttributes", c"hipPeekAtLastError", c"hipGetLastError"].map(&function);
        // SAFETY: ROCm's functions of these names have these types.
        Some(unsafe {
            Self {
                attributes: std::mem::transmute::<*mut c_void, PointerAttributes>(attributes?),
                last_error: std::mem::transmute::<*mut c_void, LastError>(last_error?),
                take_last_error: std::mem::transmute::<*mut c_void, LastError>(take_last_error?),
                copy: function(c"hipMemcpy").zip(function(c"hipStreamSynchronize")).map(|(copy, synchronise)| {
                    (
                        std::mem::transmute::<*mut c_void, Copies>(copy),
                        std::mem::transmute::<*mut c_void, Synchronise>(synchronise),
                    )
                }),
            }
        })
    }

    /// Whether it owns the memory at `address`, and the host cannot reach it.
    pub fn owns(self, address: *const c_void) -> bool {
        let mut answer = Attributes::default();
        // SAFETY: there is room for the answer; the function answers for any address, with an error for one that it
        // does not know.
        let known = self.quietly(|| unsafe { (self.attributes)(&mut answer, address) }) == HIP_SUCCESS;
        known && answer.is_managed == 0 && answer.host_address == 0 && answer.device_address != 0
    }

    /// Whether it can copy.
    pub const fn copies(self) -> bool {
        self.copy.is_some()
    }

    /// Copies between the two memories.
    ///
    /// # Safety
    /// `from` can be read and `to` written for so many bytes, by the host or the GPU.
    ///
    /// # Errors
    /// ROCm's code.
    pub unsafe fn copy(self, to: *mut c_void, from: *const c_void, bytes: usize) -> Result<(), NotCopied> {
        let (copy, synchronise) = self.copy.ok_or(NotCopied::NoFunction)?;
        let copied = self.quietly(|| {
            // SAFETY: the caller's promise.
            match unsafe { copy(to, from, bytes, BY_ADDRESSES) } {
                // As CUDA, it may return before all has arrived.
                // SAFETY: the stream is the one that copies go by.
                HIP_SUCCESS => unsafe { synchronise(std::ptr::null_mut()) },
                code => code,
            }
        });
        if copied == HIP_SUCCESS { Ok(()) } else { Err(NotCopied::Failed("ROCm's runtime", copied)) }
    }

    /// Without leaving a failure of this call where the program looks for its own.
    fn quietly(self, call: impl FnOnce() -> c_int) -> c_int {
        // SAFETY: these take nothing.
        unsafe {
            let pending = (self.last_error)();
            let code = call();
            if code != HIP_SUCCESS && pending == HIP_SUCCESS {
                (self.take_last_error)();
            }
            code
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_is_reached() {
        unsafe extern "C" fn attributes(answer: *mut Attributes, address: *const c_void) -> c_int {
            // SAFETY: called with room for the answer.
            let answer = unsafe { &mut *answer };
            let address = address as usize;
            *answer = Attributes { device_address: address, ..Attributes::default() };
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
        let rocm = Rocm { attributes, last_error: no_error, take_last_error: no_error, copy: None };
        let owned: Vec<_> = (1..=5).filter(|address| rocm.owns(std::ptr::without_provenance(*address))).collect();
        assert_eq!(owned, [1]);
        assert!(!rocm.copies());
    }
}
