//! Lines as they are written, with their ends.

/// A line without what only editors see.
pub fn bare(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// Whether there is neither a rule nor anything else to be read in a line.
pub fn is_comment(line: &str) -> bool {
    bare(line).is_empty() || bare(line).starts_with('#')
}

/// How a line ends.
pub fn end_of(line: &str) -> &str {
    &line[line.trim_end_matches(['\r', '\n']).len()..]
}
