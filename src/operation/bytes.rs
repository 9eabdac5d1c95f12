//! Bytes as users write them.

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
