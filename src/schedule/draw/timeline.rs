//! The time line: one row per rank, above what leaves it, in the middle what it does itself, below what comes in.

use super::svg::{Anchor, Svg, colour};
use crate::operation::counted_bytes;
use crate::schedule::simulate::{Activity, Observer, Span};
use std::collections::HashMap;

const LABELS: f64 = 66.0;

/// Everything that happened.
#[derive(Default)]
pub struct Record {
    activities: Vec<(usize, Activity, Span)>,
    transfers: Vec<Transfer>,
}

struct Transfer {
    sender: usize,
    receiver: usize,
    departs: bool,
    bytes: u64,
    span: Span,
}

impl Observer for Record {
    fn activity(&mut self, rank: usize, activity: Activity, span: Span) {
        self.activities.push((rank, activity, span));
    }

    fn transfer(&mut self, sender: usize, receiver: usize, departs: bool, bytes: u64, span: Span) {
        self.transfers.push(Transfer { sender, receiver, departs, bytes, span });
    }
}

const fn look(activity: Activity) -> (&'static str, &'static str) {
    match activity {
        Activity::Overhead => ("overhead", colour::OVERHEAD),
        Activity::Wait => ("waiting", colour::WAIT),
        Activity::Fold => ("reducing", colour::FOLD),
        Activity::Copy => ("copying", colour::COPY),
    }
}

/// Draws the time line with its upper left corner at the point given and returns its height.
pub fn draw(svg: &mut Svg, record: &Record, size: usize, time: f64, corner: (f64, f64), width: f64) -> f64 {
    let (left, top) = (corner.0 + LABELS, corner.1 + 24.0);
    let span = width - LABELS - 4.0;
    let x = |seconds: f64| left + if time > 0.0 { seconds / time * span } else { 0.0 };
    legend(svg, corner);
    let lane = if size <= 16 { 10.0 } else { 8.5 };
    let height = 3.0 * lane + 8.0;
    let bottom = top + size as f64 * height;
    for rank in 0..size {
        let y = top + rank as f64 * height;
        if rank % 2 == 0 {
            svg.bar((corner.0, y), (width, height), colour::BAND, &format!("rank {rank}"));
        }
        svg.text(
            (corner.0 + 8.0, y + height / 2.0 + 4.0),
            11.0,
            Anchor::Start,
            colour::FAINT_INK,
            &format!("rank {rank}"),
        );
    }
    axis(svg, time, x, top, bottom);
    let mut bar = |rank: usize, place: f64, lane: f64, span: Span, tint: &str, told: &str, label: Option<usize>| {
        let y = top + rank as f64 * height + 4.0 + place;
        let length = x(span.end) - x(span.start);
        // A hair apart, so that bars next to each other can be told apart.
        svg.bar((x(span.start), y), ((length - 0.6).max(0.6), (lane - 1.0).max(0.8 * lane)), tint, told);
        if let Some(label) = label
            .map(|label| label.to_string())
            .filter(|label| lane > 6.0 && length > 0.75 * lane * label.len() as f64 + 4.0)
        {
            let middle = f64::midpoint(x(span.start), x(span.end));
            svg.bold((middle, y + lane - 2.2), lane - 1.5, Anchor::Middle, colour::PAPER, &label);
        }
    };
    for (rank, activity, span) in &record.activities {
        let (name, tint) = look(*activity);
        bar(*rank, lane, lane, *span, tint, &format!("rank {rank}: {name}, {}", times(*span)), None);
    }
    for (transfer, (place, number)) in record.transfers.iter().zip(beside(&record.transfers, time)) {
        let Transfer { sender, receiver, departs, bytes, span } = transfer;
        // Those that share a port stand one above the other.
        let part = lane / number as f64;
        let place = place as f64 * part;
        let told = format!("rank {sender} to rank {receiver}: {}, {}", counted_bytes(*bytes as usize), times(*span));
        if *departs {
            bar(*sender, place, part, *span, colour::SEND, &told, Some(*receiver));
        } else {
            bar(*receiver, 2.0 * lane + place, part, *span, colour::RECEIVE, &told, Some(*sender));
        }
    }
    bottom - corner.1 + 26.0
}

/// For each transfer its place among those that are under way beside it, and how many places its port needs.
fn beside(transfers: &[Transfer], time: f64) -> Vec<(usize, usize)> {
    let port = |transfer: &Transfer| match transfer.departs {
        true => (transfer.sender, true),
        false => (transfer.receiver, false),
    };
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by(|a, b| transfers[*a].span.start.total_cmp(&transfers[*b].span.start));
    let mut ends: HashMap<(usize, bool), Vec<f64>> = HashMap::new();
    let mut places = vec![0; transfers.len()];
    for transfer in order {
        let Span { start, end } = transfers[transfer].span;
        let ends = ends.entry(port(&transfers[transfer])).or_default();
        let free = ends.iter().position(|end| *end <= start + 1e-9 * time).unwrap_or(ends.len());
        if free == ends.len() {
            ends.push(end);
        }
        (places[transfer], ends[free]) = (free, end);
    }
    places.into_iter().zip(transfers).map(|(place, transfer)| (place, ends[&port(transfer)].len())).collect()
}

fn legend(svg: &mut Svg, corner: (f64, f64)) {
    let entries = [
        ("sending (to)", colour::SEND),
        ("receiving (from)", colour::RECEIVE),
        ("reducing", colour::FOLD),
        ("copying", colour::COPY),
        ("overhead", colour::OVERHEAD),
        ("waiting", colour::WAIT),
    ];
    let mut x = corner.0 + LABELS;
    for (name, tint) in entries {
        svg.bar((x, corner.1 + 2.0), (12.0, 9.0), tint, name);
        svg.text((x + 17.0, corner.1 + 10.5), 10.5, Anchor::Start, colour::FAINT_INK, name);
        x += 17.0 + 6.2 * name.len() as f64 + 16.0;
    }
}

/// A rule every round number of seconds.
fn axis(svg: &mut Svg, time: f64, x: impl Fn(f64) -> f64, top: f64, bottom: f64) {
    if time <= 0.0 {
        return;
    }
    let rough = time / 7.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let mut tick = 0;
    while f64::from(tick) * step <= time * 1.0001 {
        let at = x(f64::from(tick) * step);
        svg.line((at, top), (at, bottom + 4.0), colour::RULE, 0.8);
        svg.text((at, bottom + 17.0), 10.0, Anchor::Middle, colour::FAINT_INK, &seconds(f64::from(tick) * step));
        tick += 1;
    }
}

fn times(span: Span) -> String {
    format!("{} to {}", seconds(span.start), seconds(span.end))
}

/// Seconds in the unit that suits them, three digits.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0".to_owned(),
        // Rounding may carry into the next unit.
        s if s < 999.5e-9 => (s * 1e9, "ns"),
        s if s < 999.5e-6 => (s * 1e6, "µs"),
        s if s < 999.5e-3 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}
