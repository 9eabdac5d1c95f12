//! What the bytes of a result mean, as far as two results that are not the same bits may mean the same.

use super::local_arguments::LocalArguments;
use super::wide::Wide;
use crate::mpi::basics;
use crate::mpi::datatype::{Datatype, Kind};
use crate::mpi::error::Result;
use crate::reduction::Element;
use std::os::raw::c_int;

/// What the elements of a result mean.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// Themselves: they were moved, or combined exactly.
    Bits,
    /// Floating-point numbers of one predefined type, combined in some order.
    Numbers(Datatype),
    /// Floating-point numbers, each with its place, of one predefined type; the least or greatest were looked for.
    Pairs(Datatype),
    /// Something that the program's own operation knows, which may combine in any order and so may round.
    Unknown,
}

impl Meaning {
    /// Of a call's result on this rank.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn of(local: &LocalArguments) -> Result<Self> {
        let (Some(reduction), Some(side)) = (&local.reduction, local.receive.or(local.send)) else {
            return Ok(Self::Bits);
        };
        let otherwise = if reduction.predefined || !reduction.commutative { Self::Bits } else { Self::Unknown };
        Ok(basics::of(&side.datatype)?.map_or(otherwise, |basics| of_basics(&basics, otherwise)))
    }

    /// The numbers in the signature bytes of some elements, without places; `None` where they are not compared as such.
    pub fn numbers(&self, bytes: &[u8]) -> Option<(Vec<Wide>, Precision)> {
        match self {
            Self::Numbers(basic) => numbers(basic, bytes),
            Self::Pairs(basic) => values(basic, bytes),
            Self::Bits | Self::Unknown => None,
        }
    }

    /// The bytes of an element that are the value, and those that are its place.
    pub fn split<'a>(&self, element: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let width = if let Self::Pairs(basic) = self { width_of_value(basic) } else { None };
        element.split_at(width.unwrap_or(element.len()))
    }
}

/// What numbers of a type can be.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The relative rounding error.
    pub epsilon: f64,
    /// All numbers are below two to this power.
    pub highest: f64,
    /// From two to this power on numbers have all their digits.
    pub lowest: f64,
    /// Sums of magnitudes below this say nothing of what rounding makes of them.
    pub told_from: f64,
}

impl Precision {
    /// Of numbers of so many bytes; those longer than doubles as [`Wide`] ones hold them: x87 numbers with all 64 bits,
    /// others with 105, both with the exponents of doubles only.
    fn of(width: usize, extended: bool) -> Self {
        let wide = |digits: i32| {
            let (epsilon, told_from) = (2f64.powi(1 - digits), 2f64.powi(-900));
            Self { epsilon, highest: 1024.0, lowest: -900.0, told_from }
        };
        match width {
            4 => Self { epsilon: f32::EPSILON.into(), highest: 128.0, lowest: -126.0, told_from: 0.0 },
            8 => Self { epsilon: f64::EPSILON, highest: 1024.0, lowest: -1022.0, told_from: 0.0 },
            _ if is_x87(extended) => wide(64),
            _ => wide(105),
        }
    }
}

/// Of the result of a reduction of elements that are made of such types.
fn of_basics(basics: &[Datatype], otherwise: Meaning) -> Meaning {
    use Kind::{CInteger, Complex, Float, FortranInteger, Logical, MultiLanguage};
    let is = |basic: &Datatype, kinds: &[Kind]| basic.kind.is_some_and(|kind| kinds.contains(&kind));
    match basics {
        [one] if is(one, &[Float, Complex]) => Meaning::Numbers(*one),
        [one] if matches!(otherwise, Meaning::Bits) && width_of_value(one).is_some() => Meaning::Pairs(*one),
        all if all.iter().all(|one| is(one, &[CInteger, FortranInteger, MultiLanguage, Logical])) => Meaning::Bits,
        _ => otherwise,
    }
}

/// The numbers in bytes of a floating-point type; `None` for other types.
fn numbers(datatype: &Datatype, bytes: &[u8]) -> Option<(Vec<Wide>, Precision)> {
    let width = match (datatype.kind?, datatype.size) {
        (Kind::Float, size @ (4 | 8 | 16)) => size,
        (Kind::Complex, size @ (8 | 16 | 32)) => size / 2,
        _ => return None,
    };
    let number = |part: &[u8]| number(part, datatype.extended);
    Some((bytes.chunks(width).map(number).collect(), Precision::of(width, datatype.extended)))
}

/// Bytes of the value in a pair of a floating-point number and its place; `None` for other types.
fn width_of_value(datatype: &Datatype) -> Option<usize> {
    match datatype.element {
        Some(Element::FloatInt | Element::TwoReal) => Some(4),
        Some(Element::DoubleInt | Element::TwoDouble) => Some(8),
        _ if datatype.kind == Some(Kind::Pair) && datatype.extended => Some(datatype.size - size_of::<c_int>()),
        _ => None,
    }
}

/// The values in bytes of such a type.
fn values(datatype: &Datatype, bytes: &[u8]) -> Option<(Vec<Wide>, Precision)> {
    let width = width_of_value(datatype)?;
    let value = |pair: &[u8]| number(&pair[..width], datatype.extended);
    Some((bytes.chunks(datatype.size).map(value).collect(), Precision::of(width, datatype.extended)))
}

fn number(part: &[u8], extended: bool) -> Wide {
    match part.len() {
        4 => Wide::of(f64::from(f32::from_ne_bytes(part.try_into().expect("four bytes")))),
        8 => Wide::of(f64::from_ne_bytes(part.try_into().expect("eight bytes"))),
        _ if is_x87(extended) => Wide::extended(part),
        _ => Wide::quadruple(part),
    }
}

/// Whether numbers of 16 bytes are those of the x87: C's `long double` on x86-64, of quadruple precision elsewhere.
const fn is_x87(extended: bool) -> bool {
    extended && cfg!(target_arch = "x86_64")
}

/// An element for people.
pub fn written(datatype: &Datatype, meaning: &Meaning, bytes: &[u8]) -> String {
    /// Of long elements the beginning says enough.
    const MOST: usize = 8;
    if let Some((values, _)) = values(datatype, bytes) {
        let (_, place) = Meaning::Pairs(*datatype).split(bytes);
        let place = match (datatype.element, place.len()) {
            (Some(Element::TwoReal | Element::TwoDouble), _) => number(place, false).nearest.to_string(),
            _ => place.try_into().map_or_else(|_| "?".to_owned(), |place| c_int::from_ne_bytes(place).to_string()),
        };
        return format!("{:e} at {place}", values[0]);
    }
    if let Some((numbers, _)) = meaning.numbers(bytes).or_else(|| numbers(datatype, bytes)) {
        let shown: Vec<_> = numbers.iter().take(MOST).map(|number| format!("{number:e}")).collect();
        return shown.join(" ") + if numbers.len() > MOST { " …" } else { "" };
    }
    if let Some(integer) = integer(datatype, bytes) {
        return integer.to_string();
    }
    let hexadecimal: String = bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
    format!("0x{hexadecimal}{}", if bytes.len() > 32 { "…" } else { "" })
}

/// An integer of up to eight bytes; signed, since MPI does not tell which types are not.
fn integer(datatype: &Datatype, bytes: &[u8]) -> Option<i64> {
    if !matches!(datatype.kind?, Kind::CInteger | Kind::FortranInteger | Kind::MultiLanguage) {
        return None;
    }
    Some(match bytes.len() {
        1 => i64::from(bytes[0] as i8),
        2 => i64::from(i16::from_ne_bytes(bytes.try_into().ok()?)),
        4 => i64::from(i32::from_ne_bytes(bytes.try_into().ok()?)),
        _ => i64::from_ne_bytes(bytes.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_kind_are_compared_as_numbers_and_exact_ones_by_their_bits() {
        let basic = |number: usize, kind: Kind| Datatype {
            handle: mpi_sys::MPI_Datatype(number as _),
            size: 8,
            extent: 8,
            lower: 0,
            true_lower: 0,
            true_extent: 8,
            contiguous: true,
            kind: Some(kind),
            extended: false,
            element: None,
        };
        let [double, int, byte] =
            [(1, Kind::Float), (2, Kind::CInteger), (3, Kind::Byte)].map(|(at, kind)| basic(at, kind));
        let meaning = |basics: &[Datatype]| of_basics(basics, Meaning::Unknown);
        let nearest = |numbers: Option<(Vec<Wide>, Precision)>| -> Option<Vec<f64>> {
            Some(numbers?.0.into_iter().map(|number| number.nearest).collect())
        };
        assert!(matches!(meaning(&[double]), Meaning::Numbers(one) if one.handle == double.handle));
        assert!(matches!(meaning(&[int]), Meaning::Bits));
        assert!(matches!(meaning(&[double, int]), Meaning::Unknown));
        assert!(matches!(meaning(&[byte]), Meaning::Unknown));
        assert!(matches!(of_basics(&[byte], Meaning::Bits), Meaning::Bits));
        let pair = Datatype { size: 12, element: Some(Element::DoubleInt), ..basic(4, Kind::Pair) };
        assert!(matches!(of_basics(&[pair], Meaning::Bits), Meaning::Pairs(_)));
        let located = [&1.5f64.to_ne_bytes()[..], &7i32.to_ne_bytes()].concat();
        assert_eq!(written(&pair, &Meaning::Bits, &located), "1.5e0 at 7");
        assert_eq!(Meaning::Pairs(pair).split(&located), located.split_at(8));
        let bytes: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(nearest(meaning(&[double]).numbers(&bytes)), Some(vec![1.5, -2.0]));
        assert!(meaning(&[int]).numbers(&bytes).is_none());
    }
}
