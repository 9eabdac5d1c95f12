//! What the ending of a file's name promises, held against what the file is to get.

use std::path::Path;

/// Endings that stand for one form. A file of another one would be taken for what it is not.
const KNOWN: [&str; 14] =
    ["txt", "json", "csv", "tsv", "html", "htm", "svg", "png", "jpg", "jpeg", "gif", "pdf", "ps", "eps"];

/// Whether a file that `option` names may hold `form`, which files with one of the endings `accepted` do. Names without
/// an ending, and endings that nobody knows, promise nothing.
///
/// # Errors
/// The ending is that of another form; what is accepted.
pub fn fits(option: &str, path: &Path, form: &str, accepted: &[&str]) -> Result<(), String> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !KNOWN.contains(&ending.as_str()) || accepted.contains(&ending.as_str()) {
        return Ok(());
    }
    let accepted: Vec<_> = accepted.iter().map(|ending| format!(".{ending}")).collect();
    let (path, accepted) = (path.display(), accepted.join(", "));
    Err(format!("{option} '{path}': {form} does not belong in a .{ending} file; accepted endings: {accepted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_of_another_form_is_refused() {
        let told = |path: &str| fits("--output", Path::new(path), "a drawing in SVG", &["svg"]);
        for fitting in ["x.svg", "x.SVG", "x", "/dev/stdout", "x.drawing", ".png"] {
            assert_eq!(told(fitting), Ok(()), "{fitting}");
        }
        let words = "--output 'x.PNG': a drawing in SVG does not belong in a .png file; accepted endings: .svg";
        assert_eq!(told("x.PNG"), Err(words.to_owned()));
    }
}
