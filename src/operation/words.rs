//! Numbers of things in words.

use super::format_bytes;

/// A number of things with their name: `1 rank`, `8 ranks`.
pub fn counted(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

/// The same of bytes, as users write them: `1 byte`, `64K bytes`.
pub fn counted_bytes(bytes: usize) -> String {
    format!("{} {}", format_bytes(bytes), if bytes == 1 { "byte" } else { "bytes" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
        assert_eq!([0, 1, 1 << 10].map(counted_bytes), ["0 bytes", "1 byte", "1K bytes"]);
    }
}
