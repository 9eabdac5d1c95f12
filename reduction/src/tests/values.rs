//! Values that make differences visible, for every element.

use crate::Element;

/// What a part of an element is.
#[derive(Clone, Copy)]
enum Kind {
    Integer(usize),
    Single,
    Double,
}

impl Kind {
    const fn size(self) -> usize {
        match self {
            Self::Integer(bytes) => bytes,
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// The parts of an element with their offsets; what they leave out is padding.
fn parts(element: Element) -> &'static [(usize, Kind)] {
    use Kind::*;
    match element {
        Element::I8 | Element::U8 | Element::Byte | Element::Bool8 => &[(0, Integer(1))],
        Element::I16 | Element::U16 => &[(0, Integer(2))],
        Element::I32 | Element::U32 | Element::Logical32 => &[(0, Integer(4))],
        Element::I64 | Element::U64 => &[(0, Integer(8))],
        Element::F32 => &[(0, Single)],
        Element::F64 => &[(0, Double)],
        Element::C32 | Element::TwoReal => &[(0, Single), (4, Single)],
        Element::C64 | Element::TwoDouble => &[(0, Double), (8, Double)],
        Element::FloatInt => &[(0, Single), (4, Integer(4))],
        Element::DoubleInt => &[(0, Double), (8, Integer(4))],
        Element::LongInt => &[(0, Integer(8)), (8, Integer(4))],
        Element::ShortInt => &[(0, Integer(2)), (4, Integer(4))],
        Element::TwoInt => &[(0, Integer(4)), (4, Integer(4))],
    }
}

/// Whether two elements are equal in all their parts.
pub(super) fn same(element: Element, one: &[u8], other: &[u8]) -> bool {
    parts(element).iter().all(|(offset, kind)| {
        let part = *offset..offset + kind.size();
        one[part.clone()] == other[part]
    })
}

/// One element from as many words as it takes; half of them become values at the edges.
pub(super) fn element(element: Element, mut word: impl FnMut() -> u64) -> Vec<u8> {
    let mut bytes = vec![0xa5; element.size()];
    for (offset, kind) in parts(element) {
        let word = word();
        let (edge, choice, bits) = (word & 1 == 1, (word >> 1) as usize & 0xff, word.rotate_left(17));
        let value = match kind {
            Kind::Integer(_) if edge => INTEGERS[choice % INTEGERS.len()] as u64,
            Kind::Single if edge => u64::from(SINGLES[choice % SINGLES.len()]),
            Kind::Double if edge => DOUBLES[choice % DOUBLES.len()],
            _ => bits,
        };
        bytes[*offset..offset + kind.size()].copy_from_slice(&value.to_le_bytes()[..kind.size()]);
    }
    bytes
}

/// Cut to the width at hand these are the extremes of every width, and few enough that ties are common.
const INTEGERS: [i64; 9] = [0, 1, 2, -1, i64::MAX, i64::MIN, 0x80, 0x8000, 0x8000_0000];

/// Zeros, ones, infinities, NaNs quiet and signalling of both signs, the ends of the subnormal and normal ranges.
const SINGLES: [u32; 15] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7fc0_1234,
    0xffc0_4321,
    0x7f80_0001,
    0x0000_0001,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
];

/// The same for doubles.
const DOUBLES: [u64; 15] = [
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff8_0000_0000_1234,
    0xfff8_0000_0000_4321,
    0x7ff0_0000_0000_0001,
    0x0000_0000_0000_0001,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
];
