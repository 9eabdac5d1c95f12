//! Tables for a screen: texts left, numbers right.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Fewest columns that a text is cut down to.
const LEAST: usize = 12;

/// Appends the rows, the first of them being the heads, in lines of at most `width` columns. Columns in `texts` hold
/// texts; where lines would be too long they give way, the widest of them first.
pub fn columns(text: &mut String, width: usize, texts: &[usize], table: &[Vec<String>]) {
    let width_of = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..table[0].len()).map(width_of).collect();
    let mut surplus = (widths.iter().sum::<usize>() + widths.len() - 1).saturating_sub(width);
    let mut cut: HashMap<usize, HashMap<&str, String>> = HashMap::new();
    while surplus > 0
        && let Some(widest) =
            texts.iter().copied().filter(|column| widths[*column] > LEAST).max_by_key(|column| widths[*column])
    {
        widths[widest] -= 1;
        surplus -= 1;
        cut.entry(widest).or_default();
    }
    for (column, cut) in &mut cut {
        *cut = told_apart(table[1..].iter().map(|row| row[*column].as_str()), widths[*column]);
    }
    for row in table {
        let mut line = String::new();
        for (column, (field, width)) in row.iter().zip(&widths).enumerate() {
            let field = cut.get(&column).and_then(|cut| cut.get(field.as_str())).unwrap_or(field);
            let padding = " ".repeat(width - field.chars().count());
            line += &if texts.contains(&column) { format!("{field}{padding} ") } else { format!("{padding}{field} ") };
        }
        writeln!(text, "{}", line.trim_end()).expect("a string takes every line");
    }
}

/// What each of the texts is in `width` characters: cut in the middle, since names differ at either end, and different
/// texts stay different, by a number if need be.
fn told_apart<'a>(texts: impl Iterator<Item = &'a str>, width: usize) -> HashMap<&'a str, String> {
    let mut given: BTreeSet<String> = BTreeSet::new();
    let mut cut = HashMap::new();
    // The next number of so many digits beside what stays then: thousands of texts may be cut to the same.
    let mut next: HashMap<(String, u32), usize> = HashMap::new();
    for text in texts {
        if cut.contains_key(text) {
            continue;
        }
        let mut shown = shortened_in_the_middle(text, width);
        if given.contains(&shown) {
            shown = (1..)
                .find_map(|digits| {
                    let stays = shortened_in_the_middle(text, width.saturating_sub(digits as usize + 1));
                    let next = next.entry((stays.clone(), digits)).or_insert_with(|| 10_usize.pow(digits - 1).max(2));
                    while *next < 10_usize.pow(digits) {
                        let numbered = format!("{stays}~{next}");
                        *next += 1;
                        if !given.contains(&numbered) {
                            return Some(numbered);
                        }
                    }
                    None
                })
                .expect("there are more numbers than texts");
        }
        given.insert(shown.clone());
        cut.insert(text, shown);
    }
    cut
}

/// The text, with two dots in place of its middle where it has more than `width` characters.
pub fn shortened_in_the_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let left = width.saturating_sub(2);
    let end = left / 2;
    text.chars().take(left - end).chain("..".chars()).chain(text.chars().skip(length - end)).collect()
}

/// The text, cut with two dots where it has more than `width` characters.
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(2)).chain("..".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_text_stay() {
        assert_eq!(shortened_in_the_middle("pipeline:segment=128K", 12), "pipel..=128K");
        assert_eq!(shortened_in_the_middle("pipeline", 8), "pipeline");
        assert_eq!(shortened_in_the_middle("αβγδεζη", 5), "αβ..η");
    }

    #[test]
    fn different_texts_stay_different() {
        let texts = ["solver of the left half A", "solver of the left hemi A", "solver of the left half A", "short"];
        let cut = told_apart(texts.into_iter(), 12);
        assert_eq!(cut[texts[0]], "solve..alf A");
        assert_eq!(cut[texts[1]], "solve..emi A");
        let texts = ["solver of the left half A", "solver of the left calf A"];
        let cut = told_apart(texts.into_iter(), 12);
        assert_eq!((cut[texts[0]].as_str(), cut[texts[1]].as_str()), ("solve..alf A", "solv..lf A~2"));
    }

    #[test]
    fn thousands_that_are_cut_to_the_same_have_numbers_of_their_own() {
        let texts: Vec<_> = (0..30_000).map(|number| format!("communicator {number:05} of the solver")).collect();
        let cut = told_apart(texts.iter().map(String::as_str), 12);
        let shown: BTreeSet<_> = cut.values().collect();
        assert_eq!(shown.len(), texts.len());
        assert!(shown.iter().all(|text| text.chars().count() <= 12));
        assert_eq!(cut[texts[1].as_str()], "comm..lver~2");
    }

    #[test]
    fn a_column_that_has_to_be_cut_tells_its_rows_apart() {
        let names = ["a communicator of the first kind", "a communicator of the first mind"];
        let mut table = vec![vec!["name".to_owned(), "calls".to_owned()]];
        table.extend(names.map(|name| vec![name.to_owned(), "1".to_owned()]));
        let mut text = String::new();
        columns(&mut text, 19, &[0], &table);
        assert_eq!(text, "name          calls\na comm.. kind     1\na comm.. mind     1\n");
    }
}
