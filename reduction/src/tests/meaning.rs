//! Examples worked out by hand, run through every set of kernels.

use crate::element::{Complex, Pair};
use crate::{Element, Op, arch};

/// Folds two values with every set; the bits of the results have to be the same.
fn fold<T: Copy>(op: Op, element: Element, left: T, right: T, same: impl Fn(&T, &T) -> bool) -> T {
    assert_eq!(size_of::<T>(), element.size());
    // More elements than the widest register holds, so that the vectorised loops take part.
    const COUNT: usize = 129;
    let (lefts, rights) = ([left; COUNT], [right; COUNT]);
    let mut results = Vec::new();
    for set in arch::available() {
        let mut out = [left; COUNT];
        let kernel = set.table.get(op, element).expect("MPI allows it");
        // SAFETY: three arrays of COUNT elements that do not overlap; the set is available.
        unsafe { kernel(lefts.as_ptr().cast(), rights.as_ptr().cast(), out.as_mut_ptr().cast(), COUNT) };
        results.extend(out);
    }
    assert!(results.iter().all(|result| same(result, &results[0])));
    results[0]
}

fn exact<T: Copy + PartialEq>(op: Op, element: Element, left: T, right: T) -> T {
    fold(op, element, left, right, T::eq)
}

fn single(op: Op, left: f32, right: f32) -> u32 {
    fold(op, Element::F32, left, right, |a, b| a.to_bits() == b.to_bits()).to_bits()
}

fn double(op: Op, left: f64, right: f64) -> u64 {
    fold(op, Element::F64, left, right, |a, b| a.to_bits() == b.to_bits()).to_bits()
}

#[test]
fn integers_wrap() {
    assert_eq!(exact(Op::Sum, Element::I8, 127i8, 1), -128);
    assert_eq!(exact(Op::Sum, Element::U16, 65535u16, 2), 1);
    assert_eq!(exact(Op::Sum, Element::I32, i32::MIN, -1), i32::MAX);
    assert_eq!(exact(Op::Sum, Element::U64, u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!(exact(Op::Prod, Element::I8, -128i8, -1), -128);
    assert_eq!(exact(Op::Prod, Element::I16, 300i16, -300), 300i16.wrapping_mul(-300));
    assert_eq!(exact(Op::Prod, Element::U32, 1u32 << 16, 1 << 16), 0);
    assert_eq!(exact(Op::Prod, Element::I64, i64::MAX, 2), -2);
}

#[test]
fn order_knows_the_sign() {
    assert_eq!(exact(Op::Min, Element::I8, -1i8, 1), -1);
    assert_eq!(exact(Op::Min, Element::U8, 255u8, 1), 1);
    assert_eq!(exact(Op::Max, Element::I16, -1i16, 1), 1);
    assert_eq!(exact(Op::Max, Element::U16, 65535u16, 1), 65535);
    assert_eq!(exact(Op::Min, Element::I32, i32::MIN, i32::MAX), i32::MIN);
    assert_eq!(exact(Op::Max, Element::U32, 1u32 << 31, 1), 1 << 31);
    assert_eq!(exact(Op::Max, Element::I64, i64::MIN, -1), -1);
    assert_eq!(exact(Op::Min, Element::U64, u64::MAX, 1 << 63), 1 << 63);
}

#[test]
fn logical_operations_give_one_or_zero() {
    let table = [(0, 0, 0, 0, 0), (0, 8, 0, 1, 1), (2, 0, 0, 1, 1), (2, 8, 1, 1, 0), (-1, -1, 1, 1, 0)];
    for (left, right, and, or, xor) in table {
        for (op, result) in [(Op::Land, and), (Op::Lor, or), (Op::Lxor, xor)] {
            assert_eq!(exact(op, Element::I8, left as i8, right as i8), result as i8);
            assert_eq!(exact(op, Element::U8, left as u8, right as u8), result as u8);
            assert_eq!(exact(op, Element::I16, left as i16, right as i16), result as i16);
            assert_eq!(exact(op, Element::I32, left, right), result);
            assert_eq!(exact(op, Element::U64, left as u64, right as u64), result as u64);
            assert_eq!(exact(op, Element::Bool8, left as u8, right as u8), result as u8);
            assert_eq!(exact(op, Element::Logical32, left, right), result);
        }
    }
}

#[test]
fn bitwise_operations_work_bit_by_bit() {
    assert_eq!(exact(Op::Band, Element::Byte, 0b1100u8, 0b1010), 0b1000);
    assert_eq!(exact(Op::Bor, Element::U16, 0b1100u16, 0b1010), 0b1110);
    assert_eq!(exact(Op::Bxor, Element::I32, 0b1100, 0b1010), 0b0110);
    assert_eq!(exact(Op::Bxor, Element::I64, -1i64, 0xff), !0xff);
}

#[test]
fn minimum_and_maximum_take_the_right_one_unless_the_left_one_wins() {
    let quiet = f32::from_bits(0x7fc0_1234);
    let signalling = f32::from_bits(0xff80_0001);
    for op in [Op::Min, Op::Max] {
        assert_eq!(single(op, 0.0, -0.0), (-0.0f32).to_bits());
        assert_eq!(single(op, -0.0, 0.0), 0.0f32.to_bits());
        assert_eq!(single(op, quiet, 1.0), 1.0f32.to_bits());
        assert_eq!(single(op, 1.0, quiet), quiet.to_bits());
        assert_eq!(single(op, 1.0, signalling), signalling.to_bits());
        assert_eq!(single(op, quiet, signalling), signalling.to_bits());
        assert_eq!(double(op, 0.0, -0.0), (-0.0f64).to_bits());
        assert_eq!(double(op, f64::NAN, 1.0), 1.0f64.to_bits());
    }
    assert_eq!(single(Op::Min, f32::NEG_INFINITY, 1.0), f32::NEG_INFINITY.to_bits());
    assert_eq!(single(Op::Max, 1e-45, 0.0), 1);
    assert_eq!(double(Op::Max, 1.0, f64::INFINITY), f64::INFINITY.to_bits());
}

#[test]
fn floating_sums_and_products_are_ieee() {
    assert_eq!(single(Op::Sum, 1.0, f32::EPSILON / 2.0), 1.0f32.to_bits());
    assert_eq!(single(Op::Sum, -0.0, -0.0), (-0.0f32).to_bits());
    assert_eq!(single(Op::Sum, 1e-45, 1e-45), 2);
    assert_eq!(single(Op::Prod, f32::MAX, 2.0), f32::INFINITY.to_bits());
    assert_eq!(double(Op::Sum, 0.1, 0.2), 0x3fd3_3333_3333_3334);
    assert_eq!(double(Op::Prod, -0.0, 3.0), (-0.0f64).to_bits());
    assert_eq!(single(Op::Sum, f32::from_bits(0x7f80_0001), 1.0), 0x7fc0_0001);
}

#[test]
fn the_left_one_of_two_nans_survives() {
    let (left, right) = (f32::from_bits(0x7f80_0001), f32::from_bits(0xffc0_4321));
    let (first, second) = (f64::from_bits(0xfff8_0000_0000_0007), f64::from_bits(0x7ff0_0000_0000_0001));
    for op in [Op::Sum, Op::Prod] {
        assert_eq!(single(op, left, right), 0x7fc0_0001);
        assert_eq!(single(op, right, left), 0xffc0_4321);
        assert_eq!(double(op, first, second), 0xfff8_0000_0000_0007);
        assert_eq!(double(op, second, first), 0x7ff8_0000_0000_0001);
    }
    let (odd, one) = (Complex { re: left, im: 1.0 }, Complex { re: 1.0, im: 0.0 });
    let same =
        |a: &Complex<f32>, b: &Complex<f32>| (a.re.to_bits(), a.im.to_bits()) == (b.re.to_bits(), b.im.to_bits());
    let product = fold(Op::Prod, Element::C32, odd, one, same);
    assert_eq!((product.re.to_bits(), product.im.to_bits()), (f32::NAN.to_bits(), f32::NAN.to_bits()));
}

#[test]
fn complex_products_round_each_step() {
    let product = exact(Op::Prod, Element::C64, Complex { re: 1.0, im: 2.0 }, Complex { re: 3.0, im: 4.0 });
    assert_eq!(product, Complex { re: -5.0, im: 10.0 });
    // a² − b² with a² and b² one rounding apart: a contracted product would keep what the rounding lost.
    let (a, b) = (1.0f32 + f32::EPSILON, 1.0f32);
    let square = exact(Op::Prod, Element::C32, Complex { re: a, im: b }, Complex { re: a, im: b });
    assert_eq!(square, Complex { re: 2.0 * f32::EPSILON, im: 2.0 + 2.0 * f32::EPSILON });
    let sum = exact(Op::Sum, Element::C32, Complex { re: 1.0f32, im: 2.0 }, Complex { re: 3.0, im: 4.0 });
    assert_eq!(sum, Complex { re: 4.0, im: 6.0 });
}

#[test]
fn locations_follow_the_value_and_ties_the_lower_index() {
    fn check<V: Copy + PartialOrd, I: Copy + PartialOrd>(element: Element, values: [V; 2], indices: [I; 2]) {
        let [low, high] = values.map(|value| move |index| Pair { value, index });
        let [first, second] = indices;
        let located = |op, left, right| exact(op, element, left, right);
        let is = |found: Pair<V, I>, wanted: Pair<V, I>| found == wanted;
        assert!(is(located(Op::MinLoc, low(second), high(first)), low(second)));
        assert!(is(located(Op::MinLoc, high(first), low(second)), low(second)));
        assert!(is(located(Op::MaxLoc, low(first), high(second)), high(second)));
        assert!(is(located(Op::MaxLoc, high(second), low(first)), high(second)));
        for op in [Op::MinLoc, Op::MaxLoc] {
            assert!(is(located(op, low(first), low(second)), low(first)));
            assert!(is(located(op, low(second), low(first)), low(first)));
        }
    }
    check(Element::FloatInt, [-1.5f32, 0.5], [-3i32, 7]);
    check(Element::DoubleInt, [f64::NEG_INFINITY, 0.0], [0i32, 1]);
    check(Element::LongInt, [i64::MIN, i64::MAX], [i32::MIN, i32::MAX]);
    check(Element::ShortInt, [-1i16, 0], [3i32, 4]);
    check(Element::TwoInt, [-5i32, 5], [1i32, 2]);
    check(Element::TwoReal, [-5.0f32, 5.0], [1.0f32, 2.0]);
    check(Element::TwoDouble, [-5.0f64, 5.0], [1.0f64, 2.0]);
}

#[test]
fn locations_of_a_nan_are_those_of_the_right_operand() {
    for op in [Op::MinLoc, Op::MaxLoc] {
        let number = Pair { value: 1.0f64, index: 9i32 };
        let nan = Pair { value: f64::NAN, index: 3i32 };
        assert_eq!(fold(op, Element::DoubleInt, nan, number, |a, b| a.index == b.index), number);
        let found = fold(op, Element::DoubleInt, number, nan, |a, b| a.index == b.index);
        assert!(found.value.is_nan() && found.index == 3);
    }
}
