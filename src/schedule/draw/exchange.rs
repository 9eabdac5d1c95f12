//! An exchange: ranks as columns, rounds as rows, messages as arrows.

use super::shape::Message;
use super::svg::{Anchor, Svg, colour};
use crate::operation::{counted, counted_bytes};

const ROUND: f64 = 46.0;
const LABELS: f64 = 66.0;
/// Rounds shown; a pipe goes on like that.
const ROUNDS: usize = 32;

/// Draws the messages with the upper left corner at the point given, at least `width` wide, and returns the size.
pub fn draw(svg: &mut Svg, messages: &[Message], size: usize, corner: (f64, f64), width: f64) -> (f64, f64) {
    let all = messages.iter().map(|message| message.arrives).max().unwrap_or(0);
    let rounds = all.min(ROUNDS);
    let spacing = ((width - LABELS) / size as f64).clamp(30.0, 150.0);
    let at = |rank: usize, round: usize| {
        (corner.0 + LABELS + (rank as f64 + 0.5) * spacing, corner.1 + 40.0 + round as f64 * ROUND)
    };
    let (left, right) = (corner.0, corner.0 + LABELS + size as f64 * spacing);
    for round in 0..rounds {
        let y = at(0, round).1;
        if round % 2 == 0 {
            svg.bar((left, y), (right - left, ROUND), colour::BAND, &format!("round {}", round + 1));
        }
        svg.text(
            (left + 8.0, y + ROUND / 2.0 + 4.0),
            11.0,
            Anchor::Start,
            colour::FAINT_INK,
            &format!("round {}", round + 1),
        );
    }
    for rank in 0..size {
        let (x, y) = at(rank, 0);
        svg.line((x, y), at(rank, rounds), colour::RULE, 1.2);
        svg.circle((x, y - 22.0), 12.0, colour::PAPER, colour::SEND);
        svg.bold((x, y - 17.8), 11.5, Anchor::Middle, colour::INK, &rank.to_string());
        (0..=rounds).for_each(|round| svg.circle(at(rank, round), 2.2, colour::FAINT_INK, colour::FAINT_INK));
    }
    for message in messages.iter().filter(|message| message.arrives <= rounds) {
        let Message { from, to, bytes, departs, arrives } = *message;
        let tint = if to > from { colour::UPWARD } else { colour::DOWNWARD };
        let told = format!("round {}: rank {from} to rank {to}, {}", departs + 1, counted_bytes(bytes as usize));
        svg.arrow(at(from, departs), at(to, arrives), 4.0, tint, &told);
    }
    let mut height = 40.0 + rounds as f64 * ROUND + 12.0;
    if all > rounds {
        let text = format!("… and {}", counted(all - rounds, "more round"));
        svg.text((left + 8.0, corner.1 + height + 8.0), 11.0, Anchor::Start, colour::FAINT_INK, &text);
        height += 20.0;
    }
    (right - left, height)
}
