//! What the elements of a reduction look like in memory.

use std::mem::size_of;

/// A value with its index, as MPI's pair types lay it out in C.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(super) struct Pair<V, I> {
    pub(super) value: V,
    pub(super) index: I,
}

/// A number in the first bytes of a word, padding in the others: a pair of equal words is something that compilers
/// vectorise, a pair with a hole is not. Comparing looks at the number only; copying takes the padding along.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Padded<W>(pub(super) W);

macro_rules! padded {
    ($number:ty, $word:ty) => {
        impl Padded<$word> {
            #[inline(always)]
            fn number(self) -> $number {
                // The first bytes are the low ones or the high ones.
                if cfg!(target_endian = "little") { self.0 as $number } else { (self.0 >> <$number>::BITS) as $number }
            }
        }
        impl PartialEq for Padded<$word> {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.number() == other.number()
            }
        }
        impl PartialOrd for Padded<$word> {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.number().partial_cmp(&other.number())
            }
            #[inline(always)]
            fn lt(&self, other: &Self) -> bool {
                self.number() < other.number()
            }
            #[inline(always)]
            fn gt(&self, other: &Self) -> bool {
                self.number() > other.number()
            }
        }
    };
}
padded!(i16, u32);
padded!(i32, u64);

/// The real part, then the imaginary part: C's `_Complex` and Fortran's `COMPLEX`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(super) struct Complex<T> {
    pub(super) re: T,
    pub(super) im: T,
}

/// The memory of one element, not MPI's name for it: `MPI_INT`, `MPI_INT32_T` and Fortran's `MPI_INTEGER` are all
/// [`Element::I32`].
///
/// One name differs in what MPI allows, though not in memory: `MPI_BYTE` is [`Element::Byte`], never
/// [`Element::U8`], because it has bitwise operations only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Element {
    /// Signed, 1 byte.
    I8,
    /// Signed, 2 bytes.
    I16,
    /// Signed, 4 bytes.
    I32,
    /// Signed, 8 bytes.
    I64,
    /// Unsigned, 1 byte.
    U8,
    /// Unsigned, 2 bytes.
    U16,
    /// Unsigned, 4 bytes.
    U32,
    /// Unsigned, 8 bytes.
    U64,
    /// Eight bits that are no number: `MPI_BYTE`.
    Byte,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Two `F32`.
    C32,
    /// Two `F64`.
    C64,
    /// C's `_Bool`. Any byte but 0 is true; results are 0 or 1.
    Bool8,
    /// Fortran's default `LOGICAL`. Any word but 0 is true; results are 0 or 1.
    Logical32,
    /// `struct { float; int; }`.
    FloatInt,
    /// `struct { double; int; }`, 4 bytes of padding at the end.
    DoubleInt,
    /// `struct { long; int; }` with a `long` of 8 bytes, 4 bytes of padding at the end.
    LongInt,
    /// `struct { short; int; }`, 2 bytes of padding in the middle.
    ShortInt,
    /// `struct { int; int; }`, and Fortran's `MPI_2INTEGER`.
    TwoInt,
    /// Fortran's `MPI_2REAL`: two `F32`, the second an index.
    TwoReal,
    /// Fortran's `MPI_2DOUBLE_PRECISION`: two `F64`, the second an index.
    TwoDouble,
}

impl Element {
    /// Every element, in declaration order.
    pub const ALL: [Self; 22] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Byte,
        Self::F32,
        Self::F64,
        Self::C32,
        Self::C64,
        Self::Bool8,
        Self::Logical32,
        Self::FloatInt,
        Self::DoubleInt,
        Self::LongInt,
        Self::ShortInt,
        Self::TwoInt,
        Self::TwoReal,
        Self::TwoDouble,
    ];

    /// Bytes from one element to the next, padding included: MPI's extent of the type.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Byte | Self::Bool8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 | Self::Logical32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::C32 => size_of::<Complex<f32>>(),
            Self::C64 => size_of::<Complex<f64>>(),
            Self::FloatInt => size_of::<Pair<f32, i32>>(),
            Self::DoubleInt => size_of::<Pair<f64, i32>>(),
            Self::LongInt => size_of::<Pair<i64, i32>>(),
            Self::ShortInt => size_of::<Pair<i16, i32>>(),
            Self::TwoInt => size_of::<Pair<i32, i32>>(),
            Self::TwoReal => size_of::<Pair<f32, f32>>(),
            Self::TwoDouble => size_of::<Pair<f64, f64>>(),
        }
    }
}
