//! One page that needs nothing else: the summary as data, and a script that draws it.

use super::drawings::drawings;
use super::text;
use crate::monitor::Summary;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// In the order in which they build on each other.
const SCRIPTS: [&str; 5] = [
    include_str!("page/basics.js"),
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/timeline.js"),
    include_str!("page/page.js"),
];

/// The report.
pub fn render(summary: &Summary) -> String {
    let data = serde_json::to_string(summary).expect("a summary has no part that JSON cannot hold");
    // Texts of the program may hold "</script>"; in JSON "<" occurs in strings only, where it may be escaped.
    let data = data.replace('<', "\\u003c");
    let parts = [
        ("{{style}}", STYLE.to_owned()),
        ("{{drawings}}", drawn(summary)),
        ("{{text}}", escaped(&text::render(summary))),
        ("{{script}}", SCRIPTS.concat()),
        ("{{data}}", data),
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
        text += &format!("<figure><figcaption>{}</figcaption>{}</figure>\n", escaped(&drawing.heading), drawing.svg);
    }
    if left_out > 0 {
        text += &format!("<p class=\"note\">{left_out} more algorithms took less time than these.</p>\n");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
