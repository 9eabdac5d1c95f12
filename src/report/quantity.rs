//! Numbers with their units, in few columns.

/// Decimals beyond which no time was measured.
const MOST_DECIMALS: usize = 6;

/// Seconds with three significant digits: `12.3us`, `1.50s`, at most 7 columns below 10,000 s.
pub fn duration(seconds: f64) -> String {
    let (sign, seconds) = if seconds < 0.0 { ("-", -seconds) } else { ("", seconds) };
    let (value, unit) = match seconds {
        0.0 => return "0s".to_owned(),
        s if s < 999.5e-9 => (s * 1e9, "ns"),
        s if s < 999.5e-6 => (s * 1e6, "us"),
        s if s < 999.5e-3 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{sign}{}{unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    // Rounding may carry into the next digit, so the limits are those of the rounded value.
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$}")
}

/// A power of two of bytes as rules write it (`4K`), or a sum of bytes with three digits (`1.23M`). K, M, G are powers
/// of 1024.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    let mut unit = 0;
    let mut value = bytes as f64;
    while unit + 1 < UNITS.len() && value >= 1023.5 {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value:.0}{}", UNITS[unit])
    } else {
        format!("{}{}", three_digits(value), UNITS[unit])
    }
}

/// A count in at most 7 columns: `1234567`, `12.3M`, `1.23G`; M and G are powers of 1000.
pub fn count(count: u64) -> String {
    match count {
        0..10_000_000 => count.to_string(),
        10_000_000..999_500_000 => format!("{}M", three_digits(count as f64 / 1e6)),
        _ => format!("{}G", three_digits(count as f64 / 1e9)),
    }
}

/// A number of things with their name: `1 rank`, `8 ranks`.
pub fn several(number: u64, name: &str) -> String {
    of_several(number, name, &format!("{name}s"))
}

/// The same of names whose plural is not the name with an s.
pub fn of_several(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Ascending numbers in few words: `2, 5-7`.
pub fn ranges(numbers: &[u32]) -> String {
    let ranges = numbers.chunk_by(|left, right| left + 1 == *right);
    let words = ranges.map(|range| match range {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Decimals of ratios of which a verdict says that they are not 1: two, or as many as show that.
pub fn decimals_apart(ratios: &[f64]) -> usize {
    let is_apart =
        |decimals: &usize| ratios.iter().all(|ratio| format!("{ratio:.decimals$}") != format!("{:.decimals$}", 1.0));
    (2..MOST_DECIMALS).find(is_apart).unwrap_or(MOST_DECIMALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_three_digits_and_carry_into_the_next_unit() {
        let texts = [0.0, 3e-9, 99.96e-9, 999.6e-9, 1.234e-5, 9.999e-3, 0.9996, 61.5, -2e-3].map(duration);
        assert_eq!(texts, ["0s", "3.00ns", "100ns", "1.00us", "12.3us", "10.0ms", "1.00s", "61.5s", "-2.00ms"]);
    }

    #[test]
    fn bytes_are_written_as_rules_write_them() {
        let texts = [0, 8, 1023, 1024, 1 << 19, 1536, 5_000_000_000, u64::MAX].map(bytes);
        assert_eq!(texts, ["0", "8", "1023", "1K", "512K", "1.50K", "4.66G", "16E"]);
    }

    #[test]
    fn what_is_told_apart_is_never_shown_as_one() {
        let decimals: [&[f64]; 5] = [&[1.23, 0.5], &[0.997], &[1.01, 1.004, 1.02], &[0.99991], &[1.0]];
        assert_eq!(decimals.map(decimals_apart), [2, 3, 3, 4, 6]);
    }

    #[test]
    fn counts_and_shares_stay_narrow() {
        let texts = [0, 9_999_999, 12_345_678, 999_499_999, 999_600_000, 123_456_789_012].map(count);
        assert_eq!(texts, ["0", "9999999", "12.3M", "999M", "1.00G", "123G"]);
        assert_eq!((several(1, "rank"), several(0, "row")), ("1 rank".to_owned(), "0 rows".to_owned()));
        let kinds = [1, 2].map(|number| of_several(number, "kind of calls", "kinds of calls"));
        assert_eq!(kinds, ["1 kind of calls", "2 kinds of calls"]);
        assert_eq!((percent(0.0), percent(0.12345), percent(1.0)), ("0.0%".into(), "12.3%".into(), "100.0%".into()));
    }
}
