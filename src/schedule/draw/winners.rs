//! A map of which algorithm is fastest, over numbers of ranks and bytes.

use super::seconds;
use super::svg::{Anchor, Svg, colour};
use crate::operation::{counted, counted_bytes};

/// The fastest algorithm of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner {
    /// The algorithm as users write it.
    pub name: String,
    /// Seconds that it takes.
    pub time: f64,
    /// Seconds that the next one takes, if there is one.
    pub next: Option<f64>,
    /// Whether its time was simulated; otherwise the cost formula tells it.
    pub simulated: bool,
}

/// Quiet colours on which dark text stays legible; beyond them they come around again.
const TINTS: [&str; 12] = [
    "#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffe999", "#9fd8cb", "#d9c3a5", "#b8c4d6", "#e5b8d0",
    "#c6dbb0", "#f4cdb0",
];

const MARGIN: f64 = 36.0;
const LEFT: f64 = 84.0;
const CELL: (f64, f64) = (128.0, 52.0);

/// The time of some algorithm is missing.
#[derive(Clone, Copy, Debug)]
pub struct NotSimulated;

/// Draws one row per number of ranks and one column per number of bytes; `cells` row by row, none where no algorithm
/// can be used.
pub fn winners(
    title: &str,
    note: &str,
    ranks: &[usize],
    bytes: &[usize],
    cells: &[Result<Option<Winner>, NotSimulated>],
) -> String {
    let mut svg = Svg::default();
    svg.bold((MARGIN, 46.0), 20.0, Anchor::Start, colour::INK, title);
    svg.text((MARGIN, 68.0), 12.0, Anchor::Start, colour::FAINT_INK, note);
    let (left, top) = (MARGIN + LEFT, 112.0);
    let mut names: Vec<&str> = Vec::new();
    let mut formulas = false;
    for (column, bytes) in bytes.iter().enumerate() {
        let x = left + (column as f64 + 0.5) * CELL.0;
        svg.bold((x, top - 10.0), 12.0, Anchor::Middle, colour::INK, &counted_bytes(*bytes));
    }
    for (row, ranks) in ranks.iter().enumerate() {
        let y = top + row as f64 * CELL.1;
        svg.bold((MARGIN, y + CELL.1 / 2.0 + 4.0), 12.0, Anchor::Start, colour::INK, &counted(*ranks, "rank"));
        for (column, cell) in cells[row * bytes.len()..(row + 1) * bytes.len()].iter().enumerate() {
            let x = left + column as f64 * CELL.0;
            let mut empty = |why| svg.bar((x + 1.0, y + 1.0), (CELL.0 - 2.0, CELL.1 - 2.0), colour::BAND, why);
            let Winner { name, time, next, simulated } = match cell {
                Ok(Some(winner)) => winner,
                Ok(None) => {
                    empty("no algorithm can be used");
                    continue;
                }
                Err(NotSimulated) => {
                    empty("not simulated: ended before");
                    continue;
                }
            };
            let place = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            let ahead = next.map(|next| format!("next ×{:.2}", next / time)).unwrap_or_default();
            let shown = format!("{}{}", if *simulated { "" } else { "~" }, seconds(*time));
            formulas |= !simulated;
            let told = format!("{name}: {shown} {ahead}");
            svg.bar((x + 1.0, y + 1.0), (CELL.0 - 2.0, CELL.1 - 2.0), TINTS[place % TINTS.len()], &told);
            let middle = x + CELL.0 / 2.0;
            let short = name.split(':').next().unwrap_or(name);
            // 120 units hold about 18 letters of this size.
            let letters = (10.0 * (20.0 / short.chars().count() as f64).min(1.0)).max(6.5);
            svg.bold((middle, y + 19.0), letters, Anchor::Middle, colour::INK, short);
            svg.text((middle, y + 32.5), 10.0, Anchor::Middle, colour::INK, &shown);
            svg.text((middle, y + 44.5), 9.0, Anchor::Middle, colour::OVERHEAD, &ahead);
        }
    }
    let mut height = top + ranks.len() as f64 * CELL.1 + MARGIN;
    if formulas {
        svg.text((left, height - 10.0), 11.0, Anchor::Start, colour::FAINT_INK, "~ by the cost formula, not simulated");
        height += 14.0;
    }
    svg.finish(left + bytes.len() as f64 * CELL.0 + MARGIN, height, title)
}
