//! Bytes as users write them.

/// What to say of a number that is too large to be held, as an end of what is accepted; nothing of any other text.
pub fn upper_bound(text: &str) -> String {
    let digits = text.trim_end_matches(['K', 'k', 'M', 'm', 'G', 'g']);
    let is_number = !digits.is_empty() && text.len() - digits.len() <= 1 && digits.bytes().all(|c| c.is_ascii_digit());
    match is_number && parse_bytes(text).is_none() {
        true => format!(", at most {}", usize::MAX),
        false => String::new(),
    }
}

/// Bytes as users write them: digits, then at most one of K, M, G (powers of 1024).
pub fn parse_bytes(text: &str) -> Option<usize> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 1 << 10),
        b'M' | b'm' => (&text[..text.len() - 1], 1 << 20),
        b'G' | b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

/// Bytes as users write them, the shortest exact form.
pub fn format_bytes(bytes: usize) -> String {
    for (letter, shift) in [('G', 30), ('M', 20), ('K', 10)] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_bound_is_told_of_numbers_that_are_too_large_alone() {
        for text in ["18446744073709551616", "99999999999999999999K", "17179869184g"] {
            assert_eq!((parse_bytes(text), upper_bound(text).as_str()), (None, ", at most 18446744073709551615"));
        }
        for text in ["", "K", "x", "-1", "99999999999999999999KK", "99999999999999999999x", "18446744073709551615"] {
            assert_eq!(upper_bound(text), "", "{text}");
        }
    }
}
