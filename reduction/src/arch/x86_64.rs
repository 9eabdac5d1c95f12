//! The loops with wider registers of x86-64.

use super::{Set, baseline, spread, table};
use crate::scalar::Fold;

/// Bytes of a cache line, and of the widest register.
const LINE: usize = 64;

/// From this many bytes of result on, starting on a cache line of `out` gains more than the detour costs. Large blocks
/// from `malloc` lie 16 bytes behind one. Measured there with AVX-512, all in L2: kernels that shuffle (complex
/// products, pairs) reach 95 % of STREAM's add, not 55 %.
const WORTH_ALIGNING: usize = 1024;

static AVX2: Set = Set { name: "avx2", table: table::instances!(avx2) };
static AVX512: Set = Set { name: "avx512", table: table::instances!(avx512) };

/// The sets of this file that this processor can run, the best first.
pub(super) fn available() -> impl Iterator<Item = &'static Set> {
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let avx2 = is_x86_feature_detected!("avx2");
    [(avx512, &AVX512), (avx2, &AVX2)].into_iter().filter_map(|(detected, set)| detected.then_some(set))
}

/// The body of every kernel with wide registers: the baseline up to the first cache line of `out`, then the loop.
///
/// # Safety
/// As for [`Kernel`](crate::Kernel).
#[inline(always)]
unsafe fn run<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    let head = head::<T>(out, elements);
    // SAFETY: the caller's promise is handed on, for the first `head` elements and for the others.
    unsafe {
        if head > 0 {
            baseline::<T, F>(left, right, out, head);
        }
        let bytes = head * size_of::<T>();
        spread::<T, F>(left.add(bytes), right.add(bytes), out.add(bytes), elements - head);
    }
}

/// How many elements to do before `out` starts a cache line; none where it never does or the rest is short.
#[inline(always)]
fn head<T>(out: *mut u8, elements: usize) -> usize {
    let missing = out.addr().wrapping_neg() % LINE;
    if missing.is_multiple_of(size_of::<T>()) && elements * size_of::<T>() >= WORTH_ALIGNING {
        missing / size_of::<T>()
    } else {
        0
    }
}

/// # Safety
/// As for [`Kernel`](crate::Kernel), on a processor with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn avx2<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    // SAFETY: the caller's promise is handed on.
    unsafe { run::<T, F>(left, right, out, elements) }
}

/// # Safety
/// As for [`Kernel`](crate::Kernel), on a processor with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    // SAFETY: the caller's promise is handed on.
    unsafe { run::<T, F>(left, right, out, elements) }
}
