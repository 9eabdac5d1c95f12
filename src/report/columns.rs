//! Tables for a screen: texts left, numbers right, at most 100 columns.

use std::fmt::Write;

/// Columns of a line.
pub const WIDTH: usize = 100;

/// Fewest columns that a text is cut down to.
const LEAST: usize = 12;

/// Appends the rows, the first of them being the heads. Columns in `texts` hold texts; where lines would be too long
/// they give way, the first of them first.
pub fn columns(text: &mut String, texts: &[usize], table: &[Vec<String>]) {
    let width_of = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..table[0].len()).map(width_of).collect();
    let mut surplus = (widths.iter().sum::<usize>() + widths.len() - 1).saturating_sub(WIDTH);
    for column in texts {
        let given = surplus.min(widths[*column].saturating_sub(LEAST));
        widths[*column] -= given;
        surplus -= given;
    }
    for row in table {
        let mut line = String::new();
        for (column, (field, width)) in row.iter().zip(&widths).enumerate() {
            let field = shortened(field, *width);
            let padding = " ".repeat(width - field.chars().count());
            line += &if texts.contains(&column) { format!("{field}{padding} ") } else { format!("{padding}{field} ") };
        }
        writeln!(text, "{}", line.trim_end()).expect("a string takes every line");
    }
}

/// The text, cut with two dots where it has more than `width` characters.
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(2)).chain("..".chars()).collect()
}
