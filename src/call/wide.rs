//! Numbers that may be wider than a double, as they are compared.
//!
//! A number is the sum of two doubles, the nearest one and what it is off by: all 64 bits of the x87 numbers that are
//! `long double` on x86-64, and 106 of the 113 of quadruple precision (`MPI_REAL16`, and `long double` on AArch64, RISC-V
//! and others). Exponents are those of doubles. Of what lies outside it is known only that it is greater or less.

/// A number of any width.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// The nearest double; infinite, or the least one above zero, for what lies beyond.
    pub nearest: f64,
    /// What the number is more than that; NaN for what lies beyond doubles.
    rest: f64,
}

/// Exponents of numbers that two doubles hold with all their digits.
const HELD: std::ops::RangeInclusive<i32> = -900..=1023;
/// What is added to exponents in 16 bytes.
const BIAS: i32 = 16383;

impl Wide {
    /// A number that is a double.
    pub const fn of(nearest: f64) -> Self {
        Self { nearest, rest: 0.0 }
    }

    /// An x87 number in 16 bytes: sign and exponent in two, above a mantissa in eight; the others are nobody's.
    pub fn extended(bytes: &[u8]) -> Self {
        let (mantissa, high) = words(bytes);
        let exponent = i32::from(high as u16 & 0x7FFF);
        let is_infinite = exponent == 0x7FFF && mantissa << 1 == 0;
        let number = Self::scaled(exponent, [u128::from(mantissa), 63], is_infinite);
        if high & 0x8000 == 0 { number } else { number.negated() }
    }

    /// An IEEE number of quadruple precision.
    pub fn quadruple(bytes: &[u8]) -> Self {
        let (low, high) = words(bytes);
        let exponent = (high >> 48) as i32 & 0x7FFF;
        let fraction = u128::from(high & 0xFFFF_FFFF_FFFF) << 64 | u128::from(low);
        let leading = u128::from(exponent != 0) << 112;
        let number = Self::scaled(exponent, [leading | fraction, 112], exponent == 0x7FFF && fraction == 0);
        if high >> 63 == 0 { number } else { number.negated() }
    }

    /// A mantissa, so many bits of which are a fraction, times two to the power of a biased exponent.
    fn scaled(exponent: i32, [mantissa, fraction]: [u128; 2], is_infinite: bool) -> Self {
        if exponent == 0x7FFF {
            return Self::of(if is_infinite { f64::INFINITY } else { f64::NAN });
        }
        if mantissa == 0 {
            return Self::of(0.0);
        }
        // Denormal numbers have the exponent of the least others.
        let power = exponent.max(1) - BIAS - fraction as i32;
        let exponent = power + mantissa.ilog2() as i32;
        if !HELD.contains(&exponent) {
            let nearest = if exponent < 0 { f64::from_bits(1) } else { f64::INFINITY };
            return Self { nearest, rest: f64::NAN };
        }
        let nearest = mantissa as f64;
        let rest = (mantissa as i128 - nearest as i128) as f64;
        let scaled = |number: f64| number * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
        let (nearest, rest) = (scaled(nearest), scaled(rest));
        if nearest.is_infinite() { Self { nearest, rest: f64::NAN } } else { Self { nearest, rest } }
    }

    fn negated(self) -> Self {
        Self { nearest: -self.nearest, rest: -self.rest }
    }

    /// Whether both are one number, or none.
    #[allow(clippy::float_cmp, reason = "numbers are equal, or are judged")]
    pub fn is(self, other: Self) -> bool {
        let both_are_none = self.nearest.is_nan() && other.nearest.is_nan();
        both_are_none || (self.nearest == other.nearest && self.rest == other.rest)
    }

    /// What this is more than the other.
    pub fn minus(self, other: Self) -> f64 {
        let rest = |number: Self| if number.rest.is_nan() { 0.0 } else { number.rest };
        (self.nearest - other.nearest) + (rest(self) - rest(other))
    }
}

impl std::fmt::LowerExp for Wide {
    /// For people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { nearest, rest } = *self;
        match nearest.abs() {
            _ if rest == 0.0 || nearest.is_nan() => write!(f, "{nearest:e}"),
            _ if !rest.is_nan() => write!(f, "{nearest:e}{rest:+e}"),
            beyond => {
                let sign = if nearest < 0.0 { "-" } else { "" };
                write!(f, "{sign}({})", if beyond > 1.0 { "over 1.7e308" } else { "under 1.2e-271" })
            }
        }
    }
}

fn words(bytes: &[u8]) -> (u64, u64) {
    let word = |start: usize| u64::from_ne_bytes(bytes[start..start + 8].try_into().expect("eight bytes"));
    (word(0), word(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(high: u64, low: u64) -> [u8; 16] {
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&low.to_ne_bytes());
        bytes[8..].copy_from_slice(&high.to_ne_bytes());
        bytes
    }

    #[test]
    fn numbers_of_sixteen_bytes_are_read_with_all_their_digits() {
        // 1.5 and −2 in the x87 format, with something in the bytes that are nobody's; and in quadruple precision.
        let extended = |high: u64, low: u64| Wide::extended(&bytes(high, low));
        let quadruple = |high: u64, low: u64| Wide::quadruple(&bytes(high, low));
        let is = |number: Wide, double: f64| assert!(number.is(Wide::of(double)), "{number:?} {double}");
        is(extended(0xABCD_0000_3FFF, 0xC000_0000_0000_0000), 1.5);
        is(extended(0xFFFF_FFFF_0000_C000, 0x8000_0000_0000_0000), -2.0);
        is(quadruple(0x3FFF_8000_0000_0000, 0), 1.5);
        is(quadruple(0xC000_0000_0000_0000, 0), -2.0);
        is(quadruple(0, 0), 0.0);
        is(extended(0x7FFF, 1 << 63), f64::INFINITY);
        is(extended(0xFFFF, 1 << 63), f64::NEG_INFINITY);
        is(extended(0x7FFF, 3 << 62), f64::NAN);
        is(quadruple(0x7FFF_0000_0000_0000, 1), f64::NAN);
        let next = extended(0x3FFF, (1 << 63) | 1);
        assert_eq!(next.minus(Wide::of(1.0)), 2f64.powi(-63));
        assert_eq!(format!("{next:e}"), "1e0+1.0842021724855044e-19");
        assert_eq!(quadruple(0x3FFF_0000_0000_0000, 1 << 8).minus(Wide::of(1.0)), 2f64.powi(-104));
        // The least one that rounds up to a power of two.
        assert_eq!(Wide::of(2.0).minus(extended(0x3FFF, u64::MAX)), 2f64.powi(-63));
    }

    #[test]
    fn what_lies_beyond_doubles_is_neither_nothing_nor_equal() {
        let [tiny, small] = [1, 2].map(|low| Wide::extended(&bytes(0, low)));
        let [huge, large] = [0x7FFE, 0x7FFD].map(|high| Wide::extended(&bytes(high, 1 << 63)));
        assert!(!tiny.is(small) && !tiny.is(Wide::of(0.0)) && tiny.nearest > 0.0);
        assert!(!huge.is(large) && !huge.is(Wide::of(f64::INFINITY)) && huge.nearest == f64::INFINITY);
        assert!(Wide::of(1.0).minus(tiny) == 1.0);
        assert_eq!(format!("{tiny:e} {huge:e}"), "(under 1.2e-271) (over 1.7e308)");
        // A double's highest exponent, rounded beyond it.
        assert!(!Wide::extended(&bytes(0x3FFF + 1023, u64::MAX)).is(Wide::of(f64::INFINITY)));
    }
}
