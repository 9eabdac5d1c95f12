//! Interpreter *draw*: an algorithm as an SVG picture, its tree or its messages by round, and its time line below.

mod exchange;
mod shape;
mod svg;
mod timeline;
mod tree;
mod winners;

pub use svg::escape;
pub use timeline::seconds;
pub use winners::{NotSimulated, Winner, winners};

use super::simulate::{Broken, Network, Tapes, simulate_tapes};
use crate::operation::{At, Call, Choice, Holds, counted, counted_bytes};
use svg::{Svg, colour};

const MARGIN: f64 = 36.0;
const WIDTH: f64 = 880.0;

/// Steps of all ranks that are drawn at most: a picture of more takes longer to make, and to open, than anybody waits.
pub const MOST_STEPS: usize = 1 << 18;

/// Draws what `choice` does for `call` among `size` ranks, with the time line as simulated on `network`.
///
/// Meant for 1 to 32 ranks; more are drawn, but hard to read.
///
/// Nothing is drawn of more than [`MOST_STEPS`].
///
/// # Errors
/// Programs that do not fit together.
pub fn draw(choice: &Choice, call: &Call, size: usize, network: &Network) -> Result<Option<String>, Broken> {
    let (name, network) = (&network.name, network.of_transport(call));
    let tapes = Tapes::record(choice, call, size, &network.form(choice, call), MOST_STEPS);
    let Some(tapes) = tapes else { return Ok(None) };
    let messages = shape::messages(&tapes)?;
    let mut svg = Svg::default();
    let row = choice.algorithm;
    let title = format!("{} {}", row.operation, choice);
    let mut y = 46.0;
    y += svg.paragraph((MARGIN, y), 20.0, (colour::INK, "600"), &title, WIDTH) + 22.0;
    y += svg.paragraph((MARGIN, y), 12.5, (colour::INK, "400"), row.summary, WIDTH) + 19.0;
    y += svg.paragraph((MARGIN, y), 11.5, (colour::FAINT_INK, "400"), &facts(choice, call, size), WIDTH) + 35.0;
    let (heading, note, panel) = match tree(call, &messages, size) {
        Some(tree) => {
            let pass = |to| format!("; rank {} passes the result on to rank {to}", tree.root);
            let pass = tree.passes_on_to.map(pass).unwrap_or_default();
            let note = format!("numbers beside ranks: round of the first message along the edge{pass}");
            ("Tree", note, tree::draw(&mut svg, &tree, (MARGIN, y + 18.0), WIDTH))
        }
        None => {
            let panel = exchange::draw(&mut svg, &messages, size, (MARGIN, y + 14.0), WIDTH);
            let heading = if tapes.share_memory() { "Flags seen by round" } else { "Messages by round" };
            (heading, "blue to a higher rank, red to a lower one".to_owned(), panel)
        }
    };
    svg.headline((MARGIN, y), heading, &note);
    y += panel.1 + 44.0;
    let mut record = timeline::Record::default();
    let outcome = simulate_tapes(&tapes, &network, call.nodes, &mut record)?;
    let note = format!("{} as simulated on {}", seconds(outcome.time), name);
    svg.headline((MARGIN, y), "Time line", &note);
    let width = panel.0.max(WIDTH);
    y += timeline::draw(&mut svg, &record, size, outcome.time, (MARGIN, y + 14.0), width) + 14.0;
    Ok(Some(svg.finish(width + 2.0 * MARGIN, y + MARGIN - 8.0, &title)))
}

fn tree(call: &Call, messages: &[shape::Message], size: usize) -> Option<shape::Tree> {
    match (call.operation.rooted(), call.operation.row().receive.at) {
        (false, _) => None,
        (true, At::Root) => shape::Tree::up(messages, size, call.root),
        (true, At::Everyone) => shape::Tree::of(messages, size, call.root, true),
    }
}

fn facts(choice: &Choice, call: &Call, size: usize) -> String {
    let ranks = counted(size, "rank");
    let root = if call.operation.rooted() { format!(", root {}", call.root) } else { String::new() };
    let row = call.operation.row();
    let per = match (row.send.holds, row.send.per_rank() && row.receive.per_rank()) {
        (Holds::Nothing, _) => "",
        (_, true) => " per pair of ranks",
        _ => " per rank",
    };
    let bytes =
        if call.operation.has_data() { format!(", {}{per}", counted_bytes(call.bytes())) } else { String::new() };
    format!("{ranks}{root}{bytes}   ·   cost {}", choice.algorithm.formula)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::all;

    #[test]
    fn every_row_of_the_catalogue_can_be_drawn() {
        let mut network = Network::presets().next().expect("there are presets");
        network.memory.ranks_per_numa_node = Some(3);
        for row in all() {
            for size in [1, 2, 8] {
                let numa = network.numa_nodes(size);
                let call = network.with_shared_memory(&Call::plain(row.operation, 64, 8), &numa);
                if row.accepts(&call, size).is_ok() {
                    let drawing = draw(&Choice::new(row), &call, size, &network)
                        .expect("the row is verified")
                        .expect("few steps");
                    assert!(drawing.starts_with("<svg") && drawing.contains("Time line"), "{row:?}");
                    assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{row:?} at {size}");
                }
            }
        }
    }
}
