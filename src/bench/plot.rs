//! The result as drawings: for each group of cells the times and the ratios over the size, with their intervals.

#![forbid(unsafe_code)]

use super::result::{CellRow, Report, VariantRow};
use super::table;
use crate::algorithm::format_bytes;
use crate::schedule::draw::escape;
use std::fmt::Write;

const WIDTH: f64 = 1080.0;
const CHART_WIDTH: f64 = 360.0;
const CHART_HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const GAP: f64 = 70.0;
const LINE: f64 = 15.0;

/// Okabe and Ito's colours, which people of all kinds of sight can tell apart (Color Universal Design, 2008).
pub(super) const COLOURS: [&str; 8] =
    ["#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c00"];
/// Patterns of the lines once the colours have been used up.
const DASHES: [&str; 3] = ["none", "6 3", "2 3"];

/// One drawing with a row of two charts for each group.
pub fn svg(report: &Report) -> String {
    let mut body = String::new();
    let mut down = 30.0;
    for group in table::groups(&report.cells) {
        let names = names(group);
        let _ = writeln!(
            body,
            "<g transform=\"translate(0 {down:.0})\">\n<text x=\"16\" y=\"16\" font-weight=\"bold\">{}</text>",
            escape(&table::title(&group[0]))
        );
        group_of_charts(&mut body, group, &names);
        body.push_str("</g>\n");
        down += height(&names);
    }
    let headline = format!("<text x=\"16\" y=\"20\" font-size=\"13\">{}</text>\n", escape(&table::headline(report)));
    drawing(down, &(headline + &body))
}

/// The drawing of one group, without its title.
pub fn group(group: &[CellRow]) -> String {
    let names = names(group);
    let mut body = "<g transform=\"translate(0 -20)\">\n".to_owned();
    group_of_charts(&mut body, group, &names);
    body.push_str("</g>\n");
    drawing(height(&names) - 40.0, &body)
}

/// Of two charts and the legend of so many names, with room around them.
fn height(names: &[&str]) -> f64 {
    (TOP + CHART_HEIGHT).max(TOP + (names.len() + 1) as f64 * LINE) + 50.0
}

pub(super) fn drawing(height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

fn names(group: &[CellRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for variant in group.iter().flat_map(|row| &row.variants) {
        if !names.contains(&variant.variant.as_str()) {
            names.push(&variant.variant);
        }
    }
    names
}

/// One point of a line: size, value, and the interval around it.
struct Point {
    bytes: f64,
    value: f64,
    low: f64,
    high: f64,
}

fn group_of_charts(body: &mut String, group: &[CellRow], names: &[&str]) {
    type Value = fn(&CellRow, &VariantRow) -> Option<(f64, f64, f64)>;
    let points = |of: Value| {
        let line = |name: &&str| {
            let point = |row: &CellRow| {
                let (value, low, high) = of(row, row.variant(name)?)?;
                Some(Point { bytes: row.cell.bytes.max(1) as f64, value, low, high })
            };
            group.iter().filter_map(point).collect::<Vec<_>>()
        };
        names.iter().map(line).collect::<Vec<_>>()
    };
    let mut times = points(|_, variant| {
        let seconds = &variant.seconds;
        Some((seconds.median * 1e6, seconds.p10 * 1e6, seconds.p90 * 1e6))
    });
    let ratios = points(|_, variant| {
        let ratio = variant.against_native?;
        Some((ratio.ratio, ratio.low.unwrap_or(ratio.ratio), ratio.high.unwrap_or(ratio.ratio)))
    });
    let bound = group.iter().filter_map(|row| {
        let value = row.bound_seconds? * 1e6;
        Some(Point { bytes: row.cell.bytes.max(1) as f64, value, low: value, high: value })
    });
    times.push(bound.collect());
    chart(body, LEFT, "median time, µs (10 % to 90 %)", &times, false);
    chart(body, LEFT + CHART_WIDTH + GAP, "native / this (95 %)", &ratios, true);
    legend(body, names, times.last().is_some_and(|bound| !bound.is_empty()));
}

fn legend(body: &mut String, names: &[&str], bounded: bool) {
    let x = LEFT + 2.0 * CHART_WIDTH + GAP + 16.0;
    let bound = bounded.then_some("bound of the link");
    for (place, name) in names.iter().copied().chain(bound).enumerate() {
        let y = TOP + 8.0 + place as f64 * LINE;
        let _ = writeln!(
            body,
            "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" {}/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 22.0,
            stroke(place),
            x + 28.0,
            y + 4.0,
            escape(&shortened(name))
        );
    }
}

/// Room in the legend is scarce; the table has the whole name.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 28 { name.to_owned() } else { name.chars().take(27).chain(['…']).collect() }
}

fn stroke(place: usize) -> String {
    let (colour, dash) = (COLOURS[place % COLOURS.len()], DASHES[place / COLOURS.len() % DASHES.len()]);
    format!("stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\" fill=\"none\"")
}

/// Both axes logarithmic.
struct Axes {
    x: (f64, f64),
    y: (f64, f64),
    left: f64,
}

impl Axes {
    fn x(&self, bytes: f64) -> f64 {
        self.left + share(bytes, self.x) * CHART_WIDTH
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - share(value, self.y)) * CHART_HEIGHT
    }
}

/// Where `value` lies between the ends, 0 to 1.
fn share(value: f64, (from, to): (f64, f64)) -> f64 {
    (value.ln() - from.ln()) / (to.ln() - from.ln())
}

fn chart(body: &mut String, left: f64, title: &str, lines: &[Vec<Point>], about_one: bool) {
    let all = || lines.iter().flatten();
    let ends = |low: fn(&Point) -> f64, high: fn(&Point) -> f64| {
        (all().map(low).fold(f64::INFINITY, f64::min), all().map(high).fold(0.0, f64::max))
    };
    if all().next().is_none() {
        return;
    }
    let (least, most) = ends(|point| point.low, |point| point.high);
    let y = if about_one { (least.min(0.8) * 0.95, most.max(1.25) * 1.05) } else { (least * 0.8, most * 1.25) };
    let (first, last) = ends(|point| point.bytes, |point| point.bytes);
    let axes = Axes { x: (first / 1.5, last * 1.5), y, left };
    let _ = writeln!(
        body,
        "<text x=\"{left}\" y=\"{}\">{title}</text><rect x=\"{left}\" y=\"{TOP}\" width=\"{CHART_WIDTH}\" \
         height=\"{CHART_HEIGHT}\" fill=\"none\" stroke=\"#999\"/>",
        TOP - 8.0
    );
    grid(body, &axes, lines);
    if about_one {
        let y = axes.y(1.0);
        let _ = writeln!(
            body,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#000\"/>",
            left + CHART_WIDTH
        );
    }
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let points: Vec<_> = line.iter().map(|p| format!("{:.1},{:.1}", axes.x(p.bytes), axes.y(p.value))).collect();
        let _ = writeln!(body, "<polyline points=\"{}\" {}/>", points.join(" "), stroke(place));
        for point in line {
            let x = axes.x(point.bytes);
            let _ = writeln!(
                body,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{}\" stroke-opacity=\"0.4\"/>",
                axes.y(point.low),
                axes.y(point.high),
                COLOURS[place % COLOURS.len()]
            );
        }
    }
}

/// Lines and words at the sizes measured and at round values.
fn grid(body: &mut String, axes: &Axes, lines: &[Vec<Point>]) {
    let mut sizes: Vec<usize> = lines.iter().flatten().map(|point| point.bytes as usize).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let every = sizes.len().div_ceil(9).max(1);
    for bytes in sizes.iter().step_by(every) {
        let (x, bottom) = (axes.x(*bytes as f64), TOP + CHART_HEIGHT);
        let _ = writeln!(
            body,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#eee\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 14.0,
            format_bytes(*bytes)
        );
    }
    for value in round_values(axes.y) {
        let y = axes.y(value);
        let _ = writeln!(
            body,
            "<line x1=\"{}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#eee\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            axes.left,
            axes.left + CHART_WIDTH,
            axes.left - 5.0,
            y + 4.0
        );
    }
}

/// 1, 2 and 5 times powers of ten between the ends; only the powers if these are many.
fn round_values((from, to): (f64, f64)) -> Vec<f64> {
    let powers = || (-4..12).map(|power: i32| 10f64.powi(power));
    let between = |value: &f64| *value >= from && *value <= to;
    let tens: Vec<_> = powers().filter(between).collect();
    if tens.len() > 4 { tens } else { powers().flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]).filter(between).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{report, row};
    use super::*;
    use crate::algorithm::Operation;

    #[test]
    fn drawings_hold_every_variant_and_no_broken_number() {
        let mut cells = vec![row(Operation::Bcast, 8, 4, 5.0), row(Operation::Bcast, 4096, 4, 12.5)];
        cells[1].bound_seconds = Some(4e-6);
        cells.push(row(Operation::Barrier, 0, 4, 5.0));
        let report = report(cells);
        let drawing = svg(&report);
        // Times of two variants and the bound, ratios of one; for the barrier the same without the bound.
        assert_eq!(drawing.matches("<polyline").count(), 4 + 3);
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
    }

    #[test]
    fn round_values_are_few() {
        assert_eq!(round_values((0.7, 6.0)), [1.0, 2.0, 5.0]);
        assert_eq!(round_values((0.5, 2e5)), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
    }
}
