//! Lists and ranges of numbers on the command line.

/// The numbers of a comma-separated list, each a number or a range in steps of `factor` that ends where it says.
///
/// # Errors
/// What is accepted.
pub fn values(
    option: &str,
    text: &str,
    factor: usize,
    parse: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<usize>, String> {
    let refuse =
        || format!("{option} '{text}': accepted: numbers of at least 1, or ranges such as 8-64, comma-separated");
    let number = |text: &str| parse(text.trim()).filter(|number| *number > 0).ok_or_else(refuse);
    let mut values = Vec::new();
    for part in text.split(',') {
        let Some((first, last)) = part.split_once('-') else {
            values.push(number(part)?);
            continue;
        };
        let (mut next, last) = (number(first)?, number(last)?);
        if next > last {
            return Err(refuse());
        }
        while next < last {
            values.push(next);
            next = next.saturating_mul(factor);
        }
        values.push(last);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parse_bytes;

    #[test]
    fn lists_and_ranges_are_read() {
        let read = |text| values("--ranks", text, 2, parse_bytes);
        assert_eq!(read("8-64"), Ok(vec![8, 16, 32, 64]));
        assert_eq!(read("3, 5-12"), Ok(vec![3, 5, 10, 12]));
        assert_eq!(read("1K"), Ok(vec![1024]));
        for wrong in ["", "0", "8-", "9-8", "x"] {
            assert!(read(wrong).unwrap_err().contains("accepted"), "{wrong}");
        }
    }
}
