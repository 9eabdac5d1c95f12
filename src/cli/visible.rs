//! What terminals would take for orders, made visible: names and words come from files that others may have written.

use std::borrow::Cow;

/// The text with each control character, but for the ends of lines and tabulators, as the escape that JSON has for it, which
/// stays one where the text is JSON.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_order = |character: char| character.is_control() && !"\n\r\t".contains(character);
    if !text.contains(is_order) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_order(character) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_terminals_obey_is_shown_and_all_else_stays() {
        assert_eq!(visible("Lösung\t(2)\r\n"), "Lösung\t(2)\r\n");
        assert_eq!(visible("\x1b[31mred\u{9b}0m\x07\x7f"), "\\u001b[31mred\\u009b0m\\u0007\\u007f");
        let json = format!("\"{}\"", visible("a\u{9b}b"));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "a\u{9b}b");
    }
}
