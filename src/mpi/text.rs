//! Names that the program gives, for reports and lines on terminals.

/// The text on one line and without what terminals take for orders: each control character is replaced.
pub fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_are_replaced_and_all_else_stays() {
        assert_eq!(printable("Lösung (2)"), "Lösung (2)");
        assert_eq!(printable("a\nb\x1b[31mred\u{9b}0m"), "a\u{fffd}b\u{fffd}[31mred\u{fffd}0m");
    }
}
