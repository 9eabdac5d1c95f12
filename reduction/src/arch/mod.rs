//! The loops over the elements: one body, compiled once per instruction set, chosen when first needed.
//!
//! The body is plain code that the compiler vectorises; `#[target_feature]` says with which registers. So there is no
//! second definition of any operation that could drift away from [`super::scalar`].

mod table;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use super::scalar::Fold;
use std::sync::OnceLock;
use table::Table;

/// A table of kernels together with the name of the instruction set it was compiled for.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) table: Table,
}

/// What the target's baseline gives: SSE2 on x86-64, NEON on aarch64.
static BASELINE: Set = Set { name: "baseline", table: table::instances!(baseline) };

/// The sets this processor can run, the best first, the baseline last.
pub(super) fn available() -> Vec<&'static Set> {
    let mut sets = Vec::new();
    #[cfg(target_arch = "x86_64")]
    sets.extend(x86_64::available());
    sets.push(&BASELINE);
    sets
}

/// The set in use.
pub(super) fn chosen() -> &'static Set {
    static CHOSEN: OnceLock<&Set> = OnceLock::new();
    CHOSEN.get_or_init(|| available()[0])
}

/// The loop with the target's baseline.
///
/// # Safety
/// As for [`Kernel`](super::Kernel).
unsafe fn baseline<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    // SAFETY: the caller's promise is handed on.
    unsafe { spread::<T, F>(left, right, out, elements) }
}

/// The loop, by which operand `out` is.
///
/// A vectorised loop checks first that `out` overlaps no operand, and works one element at a time if it does. An
/// operand that *is* `out` would fail that check, so each such case has its own copy of the loop, in which operand and
/// result are visibly the same.
///
/// # Safety
/// As for [`Kernel`](super::Kernel).
#[inline(always)]
unsafe fn spread<T: Copy, F: Fold<T>>(left: *const u8, right: *const u8, out: *mut u8, elements: usize) {
    let (left, right, out) = (left.cast::<T>(), right.cast::<T>(), out.cast::<T>());
    // SAFETY: the caller's promise is handed on; the pointers that are exchanged are equal.
    unsafe {
        if left == out.cast_const() {
            each::<T, F>(out, right, out, elements);
        } else if right == out.cast_const() {
            each::<T, F>(left, out, out, elements);
        } else {
            each::<T, F>(left, right, out, elements);
        }
    }
}

/// The loop itself.
///
/// # Safety
/// As for [`Kernel`](super::Kernel).
#[inline(always)]
unsafe fn each<T: Copy, F: Fold<T>>(left: *const T, right: *const T, out: *mut T, elements: usize) {
    for i in 0..elements {
        // SAFETY: by the caller's promise all three hold `elements` elements, of any alignment. Every bit pattern is a
        // value of T (integers, floats, and structures of them).
        unsafe {
            let result = F::fold(left.add(i).read_unaligned(), right.add(i).read_unaligned());
            out.add(i).write_unaligned(result);
        }
    }
}
