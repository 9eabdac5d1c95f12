//! Which kernel belongs to which operation and element.

use crate::{Element, Kernel, Op};

/// All kernels of one instruction set; a hole where MPI does not allow the combination.
pub(crate) struct Table([[Option<Kernel>; Element::ALL.len()]; Op::ALL.len()]);

impl Table {
    /// A table of holes.
    pub(super) const fn empty() -> Self {
        Self([[None; Element::ALL.len()]; Op::ALL.len()])
    }

    /// This table with one more kernel.
    pub(super) const fn with(mut self, op: Op, element: Element, kernel: Kernel) -> Self {
        self.0[op as usize][element as usize] = Some(kernel);
        self
    }

    /// The kernel, if there is one.
    #[inline]
    pub(crate) fn get(&self, op: Op, element: Element) -> Option<Kernel> {
        self.0[op as usize][element as usize]
    }
}

/// The table of the instances of one generic loop, `$loop::<type, operation>`.
///
/// Operations that read bits the same way share an instance: signed integers use the unsigned one wherever order does
/// not matter, logicals are integers, and a byte is one.
macro_rules! instances {
    ($loop:ident) => {
        $crate::arch::table::instances!(@ $loop;
            [Sum Prod Min Max Land Lor Lxor Band Bor Bxor] U8 u8, U16 u16, U32 u32, U64 u64;
            [Sum Prod Land Lor Lxor Band Bor Bxor] I8 u8, I16 u16, I32 u32, I64 u64;
            [Min Max] I8 i8, I16 i16, I32 i32, I64 i64;
            [Sum Prod Min Max] F32 f32, F64 f64;
            [Sum Prod] C32 Complex<f32>, C64 Complex<f64>;
            [Land Lor Lxor] Bool8 u8, Logical32 u32;
            [Band Bor Bxor] Byte u8;
            [MinLoc MaxLoc] FloatInt Pair<f32, i32>, DoubleInt Pair<f64, Padded<u64>>, LongInt Pair<i64, Padded<u64>>,
                ShortInt Pair<Padded<u32>, i32>, TwoInt Pair<i32, i32>, TwoReal Pair<f32, f32>, TwoDouble Pair<f64, f64>;
        )
    };
    (@ $loop:ident; $($ops:tt $($element:ident $type:ty),+;)+) => {{
        #[allow(unused_imports, reason = "not all instances have all of these types")]
        use $crate::{element::{Complex, Padded, Pair}, scalar, Element, Op};
        let table = $crate::arch::table::Table::empty();
        $($( let table = $crate::arch::table::instances!(@row $loop, table, $element, $type, $ops); )+)+
        table
    }};
    (@row $loop:ident, $table:ident, $element:ident, $type:ty, [$($op:ident)+]) => {
        $table $( .with(Op::$op, Element::$element, $loop::<$type, scalar::$op>) )+
    };
}
pub(super) use instances;
