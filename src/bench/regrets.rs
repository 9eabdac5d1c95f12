//! Regrets as a drawing: for each thing that was left out a bar for each model.

#![forbid(unsafe_code)]

use super::plot::{COLOURS, drawing};
use super::tune::{LeftOut, Model, Regret};
use crate::schedule::draw::escape;
use std::fmt::Write;

const LEFT: f64 = 150.0;
const WIDTH: f64 = 720.0;
const BAR: f64 = 14.0;
const STEP: f64 = 20.0;
const GAP: f64 = 34.0;

/// Bars from nothing to the mean, with a line to where nine tenths of the cells are below.
pub fn svg(title: &str, regrets: &[(LeftOut, Model, Regret)]) -> String {
    let most = regrets.iter().map(|(.., regret)| regret.mean.max(regret.p90)).fold(0.01, f64::max) * 1.1;
    let x = |share: f64| LEFT + WIDTH * share.max(0.0) / most;
    let mut body = format!("<text x=\"16\" y=\"20\" font-size=\"13\">{}</text>\n", escape(title));
    let mut y = 44.0;
    for rows in regrets.chunk_by(|(one, ..), (other, ..)| one == other) {
        let name = match rows[0].0 {
            LeftOut::Nothing => "nothing left out".to_owned(),
            other => format!("{} left out", other.name()),
        };
        let _ = writeln!(body, "<text x=\"16\" y=\"{y:.0}\" font-weight=\"bold\">{name}</text>");
        y += 8.0;
        for (_, model, regret) in rows {
            let place = Model::ALL.iter().position(|known| known == model).unwrap_or(0);
            let (middle, end) = (y + BAR / 2.0, x(regret.mean));
            let _ = writeln!(
                body,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{}\" fill-opacity=\"0.6\"/>\
                 <line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"#000\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{:.1} %, {:.1} %</text>",
                LEFT - 8.0,
                y + 11.0,
                escape(model.name()),
                end - LEFT,
                COLOURS[place % COLOURS.len()],
                x(regret.p90),
                end.max(x(regret.p90)) + 6.0,
                y + 11.0,
                100.0 * regret.mean,
                100.0 * regret.p90
            );
            y += STEP;
        }
        y += GAP - STEP;
    }
    drawing(y, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_its_bar_and_no_number_is_broken() {
        let regret = |mean| Regret { cells: 3, unknown: 0, mean, p90: 2.0 * mean, most: 3.0 * mean };
        let rows = [
            (LeftOut::Nothing, Model::Table, regret(0.0)),
            (LeftOut::Nothing, Model::Native, regret(0.25)),
            (LeftOut::Size, Model::Tree, regret(0.04)),
        ];
        let drawing = svg("2 reports & more", &rows);
        assert_eq!(drawing.matches("<rect x").count(), rows.len());
        assert!(drawing.contains("25.0 %, 50.0 %") && drawing.contains("each size left out"), "{drawing}");
        assert!(drawing.contains("2 reports &amp; more") && !drawing.contains("NaN") && !drawing.contains("inf"));
        assert!(svg("nothing", &[]).ends_with("</svg>\n"));
    }
}
