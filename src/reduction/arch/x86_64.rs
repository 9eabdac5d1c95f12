//! The loops with wider registers of x86-64.

use super::{Set, run, table};
use crate::reduction::scalar::Fold;

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

/// # Safety
/// As for [`Kernel`](crate::reduction::Kernel), on a processor with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn avx2<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    // SAFETY: the caller's promise is handed on.
    unsafe { run::<T, F>(left, right, out, elements) }
}

/// # Safety
/// As for [`Kernel`](crate::reduction::Kernel), on a processor with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    // SAFETY: the caller's promise is handed on.
    unsafe { run::<T, F>(left, right, out, elements) }
}
