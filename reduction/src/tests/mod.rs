//! The kernels against the standard, against hand-made examples, and against each other.

mod agreement;
mod meaning;
mod values;

use super::{Element, Op, arch, kernel};

/// MPI's classes of types, as the section on predefined reduction operations has them.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// C integer, Fortran integer or multi-language type. The three share their memory, so they share elements; MPI
    /// keeps logical operations to the first.
    Integer,
    Floating,
    Logical,
    Complex,
    Byte,
    Pair,
}

fn class(element: Element) -> Class {
    use Element::*;
    match element {
        I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => Class::Integer,
        F32 | F64 => Class::Floating,
        Bool8 | Logical32 => Class::Logical,
        C32 | C64 => Class::Complex,
        Element::Byte => Class::Byte,
        FloatInt | DoubleInt | LongInt | ShortInt | TwoInt | TwoReal | TwoDouble => Class::Pair,
    }
}

fn classes(op: Op) -> &'static [Class] {
    match op {
        Op::Max | Op::Min => &[Class::Integer, Class::Floating],
        Op::Sum | Op::Prod => &[Class::Integer, Class::Floating, Class::Complex],
        Op::Land | Op::Lor | Op::Lxor => &[Class::Integer, Class::Logical],
        Op::Band | Op::Bor | Op::Bxor => &[Class::Integer, Class::Byte],
        Op::MinLoc | Op::MaxLoc => &[Class::Pair],
    }
}

/// Every combination that has a kernel.
fn combinations() -> impl Iterator<Item = (Op, Element)> {
    let all = Op::ALL.into_iter().flat_map(|op| Element::ALL.into_iter().map(move |element| (op, element)));
    all.filter(|(op, element)| classes(*op).contains(&class(*element)))
}

#[test]
fn kernels_are_there_exactly_where_mpi_allows_the_operation() {
    for op in Op::ALL {
        for element in Element::ALL {
            let allowed = classes(op).contains(&class(element));
            assert_eq!(kernel(op, element).is_some(), allowed, "{op:?} {element:?}");
            for set in arch::available() {
                assert_eq!(set.table.get(op, element).is_some(), allowed, "{} {op:?} {element:?}", set.name);
            }
        }
    }
}

#[test]
fn all_lists_are_in_declaration_order() {
    assert!(Op::ALL.iter().enumerate().all(|(i, op)| *op as usize == i));
    assert!(Element::ALL.iter().enumerate().all(|(i, element)| *element as usize == i));
}

#[test]
fn sizes_are_those_of_c() {
    let sizes: Vec<usize> = Element::ALL.iter().map(|element| element.size()).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 1, 2, 4, 8, 1, 4, 8, 8, 16, 1, 4, 8, 16, 16, 8, 8, 8, 16]);
}
