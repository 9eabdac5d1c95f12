//! What CUDA's driver says of memory.

use super::not_copied::NotCopied;
use std::ffi::{CStr, c_int, c_uint, c_void};

const CUDA_SUCCESS: c_int = 0;
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
const IS_MANAGED: c_int = 8;
const DEVICE: c_int = 9;
/// The type of memory that the driver does not know, and of memory of the host that it does.
const UNKNOWN: c_uint = 0;
const HOST: c_uint = 1;

/// `cuPointerGetAttributes`. Of memory that the driver does not know, which is most, it says so in 0.05 to 0.15 µs, where
/// `cuPointerGetAttribute` fails after 0.9 (H100, driver 580).
type PointerAttributes = unsafe extern "C" fn(c_uint, *const c_int, *const *mut c_void, u64) -> c_int;
/// `cuMemcpy`.
type Copies = unsafe extern "C" fn(u64, u64, usize) -> c_int;
/// `cuCtxPopCurrent`.
type ContextOut = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
/// `cuCtxPushCurrent`.
type ContextIn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `cuDevicePrimaryCtxRetain`.
type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
/// `cuDevicePrimaryCtxRelease`.
type Release = unsafe extern "C" fn(c_int) -> c_int;
/// `cuCtxGetDevice`.
type DeviceOut = unsafe extern "C" fn(*mut c_int) -> c_int;
/// `cuStreamSynchronize`.
type Synchronise = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The functions of CUDA's driver.
#[derive(Clone, Copy)]
pub struct Cuda {
    attributes: PointerAttributes,
    copying: Option<Copying>,
}

/// Those that copying takes.
#[derive(Clone, Copy)]
struct Copying {
    copy: Copies,
    device: DeviceOut,
    synchronise: Synchronise,
    push: ContextIn,
    pop: ContextOut,
    retain: Retain,
    release: Release,
}

impl Cuda {
    /// What the process has loaded of it, by the addresses of its functions; `None` if that is not enough to ask.
    pub fn of(function: impl Fn(&CStr) -> Option<*mut c_void>) -> Option<Self> {
        let copying = || {
            let [copy, device, synchronise, push, pop, retain] = [
                c"cuMemcpy",
                c"cuCtxGetDevice",
                c"cuStreamSynchronize",
                c"cuCtxPushCurrent_v2",
                c"cuCtxPopCurrent_v2",
                c"cuDevicePrimaryCtxRetain",
            ]
            .map(&function);
            // Drivers before CUDA 11 know the older name alone.
            let release = function(c"cuDevicePrimaryCtxRelease_v2").or_else(|| function(c"cuDevicePrimaryCtxRelease"));
            // SAFETY: the driver's functions of these names have these types.
            Some(unsafe {
                Copying {
                    copy: std::mem::transmute::<*mut c_void, Copies>(copy?),
                    device: std::mem::transmute::<*mut c_void, DeviceOut>(device?),
                    synchronise: std::mem::transmute::<*mut c_void, Synchronise>(synchronise?),
                    push: std::mem::transmute::<*mut c_void, ContextIn>(push?),
                    pop: std::mem::transmute::<*mut c_void, ContextOut>(pop?),
                    retain: std::mem::transmute::<*mut c_void, Retain>(retain?),
                    release: std::mem::transmute::<*mut c_void, Release>(release?),
                }
            })
        };
        let attributes = function(c"cuPointerGetAttributes")?;
        // SAFETY: as above.
        let attributes = unsafe { std::mem::transmute::<*mut c_void, PointerAttributes>(attributes) };
        Some(Self { attributes, copying: copying() })
    }

    /// Whether a GPU owns the memory at `address`, and the host cannot reach it.
    pub fn owns(self, address: *const c_void) -> bool {
        let (mut kind, mut managed): (c_uint, c_uint) = (UNKNOWN, 0);
        let (asked, answers) =
            ([MEMORY_TYPE, IS_MANAGED], [&raw mut kind, &raw mut managed].map(|answer| answer.cast()));
        // SAFETY: both answers are of this size; the driver answers for any address, and with an error before it is
        // initialised, when there is no memory of a GPU.
        let code = unsafe { (self.attributes)(2, asked.as_ptr(), answers.as_ptr(), address as u64) };
        code == CUDA_SUCCESS && kind != UNKNOWN && kind != HOST && managed == 0
    }

    /// Whether it can copy.
    pub const fn copies(self) -> bool {
        self.copying.is_some()
    }

    /// Copies between the two memories. `owned` is the one of the two addresses that a GPU owns.
    ///
    /// # Safety
    /// `from` can be read and `to` written for so many bytes, by the host or the GPU.
    ///
    /// # Errors
    /// CUDA's code.
    pub unsafe fn copy(self, to: u64, from: u64, bytes: usize, owned: u64) -> Result<(), NotCopied> {
        let copying = self.copying.ok_or(NotCopied::NoFunction)?;
        let said = |code| if code == CUDA_SUCCESS { Ok(()) } else { Err(NotCopied::Failed("CUDA's driver", code)) };
        // From memory of the host that is not locked the driver may return before all has arrived.
        let copy = || {
            // SAFETY: as the caller promises.
            said(unsafe { (copying.copy)(to, from, bytes) })?;
            // SAFETY: the stream is the one that copies go by.
            said(unsafe { (copying.synchronise)(std::ptr::null_mut()) })
        };
        let (mut context, mut device, mut current): (*mut c_void, c_int, c_int) = (std::ptr::null_mut(), 0, 0);
        let (asked, answers) = ([CONTEXT, DEVICE], [(&raw mut context).cast(), (&raw mut device).cast()]);
        // SAFETY: the out-parameters are valid for writes; what is pushed is popped, what is retained released.
        unsafe {
            said((self.attributes)(2, asked.as_ptr(), answers.as_ptr(), owned))?;
            if (copying.device)(&mut current) == CUDA_SUCCESS && current == device {
                return copy();
            }
            // A thread of the program's that has not used the GPU itself, or uses another one. Memory from a pool is no
            // context's.
            let is_retained = context.is_null();
            if is_retained {
                said((copying.retain)(&mut context, device))?;
            }
            let copied = said((copying.push)(context)).and_then(|()| {
                let copied = copy();
                copied.and(said((copying.pop)(&mut std::ptr::null_mut())))
            });
            if is_retained {
                (copying.release)(device);
            }
            copied
        }
    }
}
