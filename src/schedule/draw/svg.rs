//! The little of SVG that the drawings need.

use std::fmt::Write;

/// Colours, one meaning each.
pub mod colour {
    pub const INK: &str = "#1f2933";
    pub const FAINT_INK: &str = "#7b8794";
    pub const RULE: &str = "#dde3ea";
    pub const PAPER: &str = "#ffffff";
    pub const BAND: &str = "#f6f8fa";
    pub const SEND: &str = "#2f6fde";
    pub const RECEIVE: &str = "#f08c2e";
    pub const FOLD: &str = "#2b9d68";
    pub const COPY: &str = "#9b7fd1";
    pub const OVERHEAD: &str = "#52606d";
    pub const WAIT: &str = "#e4e9ef";
    pub const UPWARD: &str = "#2f6fde";
    pub const DOWNWARD: &str = "#d9480f";
}

/// Where a text stands to its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows.
#[derive(Default)]
pub struct Svg {
    body: String,
}

/// Text as it may stand in XML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text in lines of at most so many letters, words that are longer apart.
fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > most {
            lines.push(word.to_owned());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines
}

impl Svg {
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(format_args!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    /// A line with a head at its end, both ends kept `gap` away from the points; `told` shows when pointed at.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64), gap: f64, colour: &str, told: &str) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        // The head's own length comes off the line, so that the tip ends at the gap.
        let (x1, y1, x2, y2) = (from.0 + gap * ux, from.1 + gap * uy, to.0 - gap * ux, to.1 - gap * uy);
        let (bx, by) = (x2 - 7.0 * ux, y2 - 7.0 * uy);
        let (px, py) = (-uy * 2.8, ux * 2.8);
        self.put(format_args!(
            "<g><title>{}</title><line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{bx:.1}\" y2=\"{by:.1}\" stroke=\"{colour}\" \
             stroke-width=\"1.4\"/><path d=\"M{x2:.1} {y2:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{colour}\"/></g>",
            escape(told),
            bx + px,
            by + py,
            bx - px,
            by - py
        ));
    }

    /// A curve that leaves and arrives vertically, with a head at its end; both ends are where they are to be seen.
    pub fn vertical_arrow(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, told: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let base = y2 - 7.0 * (y2 - y1).signum();
        let bend = f64::midpoint(y1, base);
        self.put(format_args!(
            "<g><title>{}</title><path d=\"M{x1:.1} {y1:.1}C{x1:.1} {bend:.1} {x2:.1} {bend:.1} {x2:.1} {base:.1}\" \
             fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/><path d=\"M{x2:.1} {y2:.1}L{:.1} {base:.1}L{:.1} \
             {base:.1}Z\" fill=\"{colour}\"/></g>",
            escape(told),
            x2 + 2.8,
            x2 - 2.8,
        ));
    }

    /// A filled rectangle with round corners; `told` shows when pointed at.
    pub fn bar(&mut self, corner: (f64, f64), size: (f64, f64), colour: &str, told: &str) {
        let ((x, y), (width, height)) = (corner, size);
        let radius = (width / 2.0).min(height / 2.0).min(2.0);
        self.put(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" rx=\"{radius:.1}\" \
             fill=\"{colour}\"><title>{}</title></rect>",
            escape(told)
        ));
    }

    pub fn circle(&mut self, centre: (f64, f64), radius: f64, fill: &str, stroke: &str) {
        let (x, y) = centre;
        self.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" stroke=\"{stroke}\" \
             stroke-width=\"1.5\"/>"
        ));
    }

    pub fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, colour: &str, text: &str) {
        self.styled(at, size, anchor, colour, "400", text);
    }

    pub fn bold(&mut self, at: (f64, f64), size: f64, anchor: Anchor, colour: &str, text: &str) {
        self.styled(at, size, anchor, colour, "600", text);
    }

    /// A heading and a note on one line, the note behind the heading however wide the reader's letters are.
    pub fn headline(&mut self, at: (f64, f64), heading: &str, note: &str) {
        let (x, y) = at;
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"13\" font-weight=\"600\" fill=\"{}\">{}<tspan dx=\"14\" \
             font-size=\"11\" font-weight=\"400\" fill=\"{}\">{}</tspan></text>",
            colour::INK,
            escape(heading),
            colour::FAINT_INK,
            escape(note)
        ));
    }

    /// Lines of text, broken between words where they would be wider than `width`; gives the height of those after the
    /// first.
    pub fn paragraph(&mut self, at: (f64, f64), size: f64, look: (&str, &str), text: &str, width: f64) -> f64 {
        // Of common letters, wide ones such as DejaVu's.
        let most = (width / (0.6 * size)) as usize;
        let mut height = 0.0;
        for (place, line) in lines(text, most).iter().enumerate() {
            height = place as f64 * size * 1.35;
            self.styled((at.0, at.1 + height), size, Anchor::Start, look.0, look.1, line);
        }
        height
    }

    fn styled(&mut self, at: (f64, f64), size: f64, anchor: Anchor, colour: &str, weight: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = at;
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" font-weight=\"{weight}\" text-anchor=\"{anchor}\" \
             fill=\"{colour}\">{}</text>",
            escape(text)
        ));
    }

    fn put(&mut self, element: std::fmt::Arguments) {
        writeln!(self.body, "{element}").expect("writing to a string does not fail");
    }

    /// The file.
    pub fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', \
             sans-serif\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{}</svg>\n",
            escape(title),
            colour::PAPER,
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_lose_none() {
        assert_eq!(lines("a cost that has no end", 11), ["a cost that", "has no end"]);
        assert_eq!(lines("indivisible words stay", 5), ["indivisible", "words", "stay"]);
        assert_eq!(lines("", 5), [""]);
    }
}
