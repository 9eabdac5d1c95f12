//! Element-wise reduction: one kernel per operation and element type.
//!
//! `scalar` says what each operation means, on one pair of elements; `arch` runs that over the elements with the
//! registers the processor has, bit for bit the same with each. `docs/kernels.md` has what they reach.

mod arch;
mod element;
mod op;
mod scalar;
#[cfg(test)]
mod tests;

pub use element::Element;
pub use op::Op;

/// `out[i] = left[i] ∘ right[i]` for `elements` elements; nothing is read or written if there are none.
///
/// Padding inside the elements of `out` is left unspecified.
///
/// # Safety
/// `left` and `right` can be read and `out` written for `elements` elements. `out` is exactly `left`, or exactly
/// `right`, or both, or overlaps neither. No alignment is assumed. Callers get kernels from [`kernel`] only, which
/// hands out none that the processor cannot run.
pub type Kernel = unsafe fn(left: *const u8, right: *const u8, out: *mut u8, elements: usize);

/// The kernel for `op` on `element`, or none where MPI does not allow the combination.
#[inline]
pub fn kernel(op: Op, element: Element) -> Option<Kernel> {
    arch::chosen().table.get(op, element)
}

/// The name of the instruction set that the kernels of this process use.
pub fn instruction_set() -> &'static str {
    arch::chosen().name
}
