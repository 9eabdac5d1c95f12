//! What each operation means on one pair of elements. Every faster path does exactly this.
//!
//! # Where MPI leaves something open
//!
//! * `MIN` and `MAX` of floating point are C's `left < right ? left : right` and `left > right ? left : right`. So at a
//!   tie, which is visible for zeros of different sign only, and whenever a NaN is involved, the result is the bits of
//!   `right`, unchanged. That is what x86's `minps` does in one instruction. MPI's own implementations disagree among
//!   themselves here, and with themselves across message sizes.
//! * `MINLOC` and `MAXLOC` with a NaN value give `right`, value and index. At a tie of zeros of different sign the
//!   value is that of `right`.
//! * `SUM` and `PROD` of floating point are IEEE's, rounded once per operation, never contracted. A NaN operand comes
//!   out quieted, the left one of two. A NaN that comes of infinities is the processor's.
//! * The product of complex numbers is (ac − bd, ad + bc), without C's repair of infinities. A part that is not a
//!   number is Rust's `NAN`, whatever NaN went in.

use super::element::{Complex, Pair};

/// One operation on one type of element.
pub(super) trait Fold<T> {
    /// `left ∘ right`.
    fn fold(left: T, right: T) -> T;
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(super) struct Min;
pub(super) struct Max;
pub(super) struct Land;
pub(super) struct Lor;
pub(super) struct Lxor;
pub(super) struct Band;
pub(super) struct Bor;
pub(super) struct Bxor;
pub(super) struct MinLoc;
pub(super) struct MaxLoc;

macro_rules! ordered {
    ($($type:ty)*) => { $(
        impl Fold<$type> for Min {
            #[inline(always)]
            fn fold(left: $type, right: $type) -> $type {
                if left < right { left } else { right }
            }
        }
        impl Fold<$type> for Max {
            #[inline(always)]
            fn fold(left: $type, right: $type) -> $type {
                if left > right { left } else { right }
            }
        }
    )* };
}
ordered!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// Signed integers have no rows here: in two's complement these operations are the unsigned ones.
macro_rules! integer {
    ($($type:ty)*) => { $(
        integer!(@ $type, Sum, |left, right| left.wrapping_add(right));
        integer!(@ $type, Prod, |left, right| left.wrapping_mul(right));
        integer!(@ $type, Land, |left, right| <$type>::from((left != 0) & (right != 0)));
        integer!(@ $type, Lor, |left, right| <$type>::from((left | right) != 0));
        integer!(@ $type, Lxor, |left, right| <$type>::from((left != 0) ^ (right != 0)));
        integer!(@ $type, Band, |left, right| left & right);
        integer!(@ $type, Bor, |left, right| left | right);
        integer!(@ $type, Bxor, |left, right| left ^ right);
    )* };
    (@ $type:ty, $op:ident, |$left:ident, $right:ident| $result:expr) => {
        impl Fold<$type> for $op {
            #[inline(always)]
            fn fold($left: $type, $right: $type) -> $type {
                $result
            }
        }
    };
}
integer!(u8 u16 u32 u64);

/// Floating point where a NaN on the left decides.
///
/// Addition and multiplication commute, so compilers exchange operands as it suits them, in one loop and not in the
/// next; the processor takes the first of two NaNs. Left to them, ranks would get different bits.
trait LeftNan {
    /// `self`, but `left` made quiet if that is a NaN.
    fn unless_nan(self, left: Self) -> Self;
}

macro_rules! floating {
    ($type:ty, $quiet:expr) => {
        impl LeftNan for $type {
            #[inline(always)]
            fn unless_nan(self, left: Self) -> Self {
                if left.is_nan() { Self::from_bits(left.to_bits() | $quiet) } else { self }
            }
        }
        impl Fold<$type> for Sum {
            #[inline(always)]
            fn fold(left: $type, right: $type) -> $type {
                (left + right).unless_nan(left)
            }
        }
        impl Fold<$type> for Prod {
            #[inline(always)]
            fn fold(left: $type, right: $type) -> $type {
                (left * right).unless_nan(left)
            }
        }
        impl Fold<Complex<$type>> for Sum {
            #[inline(always)]
            fn fold(left: Complex<$type>, right: Complex<$type>) -> Complex<$type> {
                Complex { re: Self::fold(left.re, right.re), im: Self::fold(left.im, right.im) }
            }
        }
        impl Fold<Complex<$type>> for Prod {
            #[inline(always)]
            fn fold(left: Complex<$type>, right: Complex<$type>) -> Complex<$type> {
                let number = |part: $type| if part.is_nan() { <$type>::NAN } else { part };
                Complex {
                    re: number(left.re * right.re - left.im * right.im),
                    im: number(left.re * right.im + left.im * right.re),
                }
            }
        }
    };
}

floating!(f32, 1 << 22);
floating!(f64, 1 << 51);

/// The pair whose value `wins`, with the lower index if the values are equal. Written as selections, without branches:
/// which side wins is unpredictable.
#[inline(always)]
fn located<V, I>(wins: bool, left: Pair<V, I>, right: Pair<V, I>) -> Pair<V, I>
where
    V: Copy + PartialOrd,
    I: Copy + PartialOrd,
{
    let lower = left.index < right.index;
    let left_index = wins | ((left.value == right.value) & lower);
    Pair {
        value: if wins { left.value } else { right.value },
        index: if left_index { left.index } else { right.index },
    }
}

impl<V: Copy + PartialOrd, I: Copy + PartialOrd> Fold<Pair<V, I>> for MinLoc {
    #[inline(always)]
    fn fold(left: Pair<V, I>, right: Pair<V, I>) -> Pair<V, I> {
        located(left.value < right.value, left, right)
    }
}

impl<V: Copy + PartialOrd, I: Copy + PartialOrd> Fold<Pair<V, I>> for MaxLoc {
    #[inline(always)]
    fn fold(left: Pair<V, I>, right: Pair<V, I>) -> Pair<V, I> {
        located(left.value > right.value, left, right)
    }
}
