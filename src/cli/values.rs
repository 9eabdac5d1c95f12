//! Lists and ranges of numbers on the command line.

use crate::algorithm::format_bytes;
use std::ops::RangeInclusive;

/// The numbers of a comma-separated list, each of them `accepted`: a number, or a range in steps of `factor` that ends
/// where it says. Ascending, each once.
///
/// # Errors
/// What is accepted.
pub fn values(
    option: &str,
    text: &str,
    factor: usize,
    accepted: RangeInclusive<usize>,
    parse: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<usize>, String> {
    let (least, most) = (accepted.start(), accepted.end());
    // Where numbers may be written so, they are told so.
    let (units, most) = match parse("1K") {
        Some(_) => (" (K, M, G are powers of 1024)", format_bytes(*most)),
        None => ("", most.to_string()),
    };
    let refuse = || {
        format!(
            "{option} '{text}': accepted: numbers from {least} to {most}{units}, or ranges such as 8-64, comma-separated"
        )
    };
    let number = |text: &str| parse(text.trim()).filter(|number| accepted.contains(number)).ok_or_else(refuse);
    let mut values = Vec::new();
    for part in text.split(',') {
        let Some((first, last)) = part.split_once('-') else {
            values.push(number(part)?);
            continue;
        };
        let (mut next, last) = (number(first)?, number(last)?);
        if next > last {
            return Err(format!("{option} '{text}': {part} is empty: its end is below its start"));
        }
        while next < last {
            values.push(next);
            next = next.saturating_mul(factor);
        }
        values.push(last);
    }
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parse_bytes;

    #[test]
    fn lists_and_ranges_are_read() {
        let read = |text| values("--ranks", text, 2, 1..=4096, parse_bytes);
        assert_eq!(read("8-64"), Ok(vec![8, 16, 32, 64]));
        assert_eq!(read("3, 5-12"), Ok(vec![3, 5, 10, 12]));
        assert_eq!(read("1K"), Ok(vec![1024]));
        assert_eq!(read("64,8-16,16,4"), Ok(vec![4, 8, 16, 64]), "ascending, each once");
        let accepted = "accepted: numbers from 1 to 4K (K, M, G are powers of 1024), or ranges";
        for wrong in ["", "0", "8-", "x", "-3", "4097", "8-1000000000000"] {
            assert!(read(wrong).unwrap_err().contains(accepted), "{wrong}");
        }
        assert_eq!(read("4,9-8").unwrap_err(), "--ranks '4,9-8': 9-8 is empty: its end is below its start");
        let plain = values("--ranks", "x", 2, 1..=4096, |text| text.parse().ok()).unwrap_err();
        assert!(plain.contains("from 1 to 4096, or"), "{plain}");
        let least = values("--ranks", "1", 2, 2..=64, parse_bytes).unwrap_err();
        assert!(least.contains("'1': accepted: numbers from 2 to 64 ("), "{least}");
    }
}
