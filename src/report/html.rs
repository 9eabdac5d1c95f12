//! One page that needs nothing else: the summary, or a difference, as data, and a script that draws it.

use super::drawings::drawings;
use super::layout::Layout;
use super::text;
use crate::monitor::Summary;
use crate::schedule::draw::escape;
use serde::Serialize;

/// Until the script knows more.
const HEADING: &str = "Collie report";

const PAGE: &str = include_str!("page/page.html");

/// The look of the page.
const STYLE: &str = include_str!("page/page.css");

/// In the order in which they build on each other.
const SCRIPTS: [&str; 9] = [
    include_str!("page/basics.js"),
    include_str!("page/colours.js"),
    include_str!("page/tables.js"),
    include_str!("page/totals.js"),
    include_str!("page/calls.js"),
    include_str!("page/charts.js"),
    include_str!("page/heat.js"),
    include_str!("page/timeline.js"),
    include_str!("page/page.js"),
];

/// Those of the difference: some of the above, and its own.
const DIFFERENCE_SCRIPTS: [&str; 5] =
    [SCRIPTS[0], SCRIPTS[1], SCRIPTS[2], SCRIPTS[4], include_str!("page/difference.js")];

/// The report.
pub fn render(summary: &Summary) -> String {
    if summary.record.is_some() {
        // Nobody merges pages.
        return render(&Summary { record: None, ..summary.clone() });
    }
    page(HEADING, &SCRIPTS, "show", &drawn(summary), &text::render(summary, &Layout::FILE), summary)
}

/// The page of a difference of runs; `text` says the same.
pub fn difference_page(text: &str, difference: &impl Serialize) -> String {
    page(HEADING, &DIFFERENCE_SCRIPTS, "showDifference", "", text, difference)
}

/// A page of something else, in the look of the report and with its tables.
pub struct Page<'a> {
    /// Its title.
    pub heading: &'a str,
    /// What draws it, on top of the scripts for sections and tables.
    pub script: &'a str,
    /// The function in it that is called with the data.
    pub start: &'a str,
    /// What the script takes pictures from, as markup.
    pub drawings: &'a str,
    /// For those who run no scripts.
    pub text: &'a str,
}

impl Page<'_> {
    /// The page of this data.
    pub fn of(&self, data: &impl Serialize) -> String {
        let scripts = [SCRIPTS[0], SCRIPTS[1], SCRIPTS[2], self.script];
        page(self.heading, &scripts, self.start, self.drawings, self.text, data)
    }
}

/// A page that `start`, one of the scripts' functions, draws from `data`; `text` for those who run no scripts.
fn page(heading: &str, scripts: &[&str], start: &str, drawings: &str, text: &str, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("it has no part that JSON cannot hold");
    // Texts of the program may hold "</script>"; in JSON "<" occurs in strings only, where it may be escaped.
    let data = data.replace('<', "\\u003c");
    let parts = [
        ("{{title}}", escape(heading)),
        ("{{style}}", STYLE.to_owned()),
        ("{{heading}}", escape(heading)),
        ("{{drawings}}", drawings.to_owned()),
        ("{{text}}", escape(text)),
        ("{{script}}", scripts.concat()),
        ("{{data}}", data),
        ("{{start}}", start.to_owned()),
    ];
    // Each placeholder is looked for in the page only, never in what stands for another.
    let mut page = String::new();
    let mut left = PAGE;
    for (placeholder, part) in &parts {
        let (before, after) = left.split_once(placeholder).expect("the page has every placeholder, in this order");
        page += before;
        page += part;
        left = after;
    }
    page + left
}

/// What the script takes the drawings from.
fn drawn(summary: &Summary) -> String {
    let (drawings, left_out) = drawings(summary);
    let mut text = String::new();
    for drawing in &drawings {
        text += &format!("<figure><figcaption>{}</figcaption>{}</figure>\n", escape(&drawing.heading), drawing.svg);
    }
    if left_out > 0 {
        text += &format!("<p class=\"note\">{left_out} more algorithms took less time than these.</p>\n");
    }
    text
}
