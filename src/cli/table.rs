//! Columns of text.

/// Lays `rows` out in columns two spaces apart, each line indented by `indent` spaces, with no trailing spaces.
pub fn columns(indent: usize, rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let wide = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<_> =
        (0..wide).map(|place| rows.iter().filter_map(|row| row.get(place)).map(|cell| width(cell)).max()).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (cell, widest) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(widest.unwrap_or(0) - width(cell) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters() {
        let rows = [vec!["αβ".to_owned(), "x".to_owned()], vec!["abc".to_owned()], vec![String::new(), "y".to_owned()]];
        assert_eq!(columns(1, &rows), " αβ   x\n abc\n      y\n");
    }
}
