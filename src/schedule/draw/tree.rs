//! A tree: leaves side by side, parents above the middle of their children, its edge's round beside each child.

use super::shape::Tree;
use super::svg::{Anchor, Svg, colour};

const NODE: f64 = 14.0;
/// Levels from which a tree that is much deeper than wide is drawn from left to right.
const LYING: usize = 6;

struct Position {
    x: f64,
    level: usize,
}

/// Draws the tree with its upper left corner at the point given, at least `width` wide, and returns its size.
pub fn draw(svg: &mut Svg, tree: &Tree, corner: (f64, f64), width: f64) -> (f64, f64) {
    let mut places: Vec<Position> = (0..tree.children.len()).map(|_| Position { x: 0.0, level: 0 }).collect();
    let mut leaves = 0.0;
    arrange(tree, tree.root, 0, &mut leaves, &mut places);
    let levels = places.iter().map(|place| place.level).max().unwrap_or(0);
    if levels >= LYING && levels as f64 > 2.0 * leaves {
        return lying(svg, tree, &places, corner, (levels, leaves));
    }
    let spacing = (width / leaves).clamp(34.0, 92.0);
    let used = spacing * leaves;
    let left = corner.0 + (width - used).max(0.0) / 2.0;
    let height = (420.0 / levels.max(1) as f64).clamp(56.0, 78.0);
    let at = |place: &Position| (left + (place.x + 0.5) * spacing, corner.1 + NODE + 4.0 + place.level as f64 * height);
    for (parent, children) in tree.children.iter().enumerate() {
        for child in children {
            let ((above_x, above_y), (x, y)) = (at(&places[parent]), at(&places[*child]));
            let (above, below) = ((above_x, above_y + NODE + 1.0), (x, y - NODE - 1.0));
            let round = tree.round[*child] + 1;
            let (from, to, ranks) =
                if tree.down { (above, below, (parent, *child)) } else { (below, above, (*child, parent)) };
            let told = format!("round {round}: rank {} to rank {}", ranks.0, ranks.1);
            svg.vertical_arrow(from, to, colour::FAINT_INK, &told);
            // By the child, on the side where the edge does not bend to.
            let (x, anchor) = if above_x > x + 1.0 { (x - 5.0, Anchor::End) } else { (x + 5.0, Anchor::Start) };
            svg.text((x, y - NODE - 6.0), 10.0, anchor, colour::FAINT_INK, &round.to_string());
        }
    }
    nodes(svg, tree, &places, at);
    (used.max(width), levels as f64 * height + 2.0 * NODE + 12.0)
}

/// The same from left to right: chains.
fn lying(
    svg: &mut Svg,
    tree: &Tree,
    places: &[Position],
    corner: (f64, f64),
    (levels, leaves): (usize, f64),
) -> (f64, f64) {
    let (step, row) = (44.0, 46.0);
    let at = |place: &Position| (corner.0 + NODE + place.level as f64 * step, corner.1 + NODE + 10.0 + place.x * row);
    for (parent, children) in tree.children.iter().enumerate() {
        for child in children {
            let (above, (x, y)) = (at(&places[parent]), at(&places[*child]));
            let round = tree.round[*child] + 1;
            let (from, to, ranks) =
                if tree.down { (above, (x, y), (parent, *child)) } else { ((x, y), above, (*child, parent)) };
            let told = format!("round {round}: rank {} to rank {}", ranks.0, ranks.1);
            svg.arrow(from, to, NODE + 1.0, colour::FAINT_INK, &told);
            svg.text((x - step / 2.0, y - 8.0), 10.0, Anchor::Middle, colour::FAINT_INK, &round.to_string());
        }
    }
    nodes(svg, tree, places, at);
    (levels as f64 * step + 2.0 * NODE, (leaves - 1.0) * row + 2.0 * NODE + 18.0)
}

fn nodes(svg: &mut Svg, tree: &Tree, places: &[Position], at: impl Fn(&Position) -> (f64, f64)) {
    for (rank, place) in places.iter().enumerate() {
        let (x, y) = at(place);
        let (fill, ink) = if rank == tree.root { (colour::SEND, colour::PAPER) } else { (colour::PAPER, colour::INK) };
        svg.circle((x, y), NODE, fill, colour::SEND);
        svg.bold((x, y + 4.5), 12.5, Anchor::Middle, ink, &rank.to_string());
    }
}

/// Gives every rank below `rank` its place, in units of leaves.
fn arrange(tree: &Tree, rank: usize, level: usize, leaves: &mut f64, places: &mut [Position]) {
    places[rank].level = level;
    let children = &tree.children[rank];
    for child in children {
        arrange(tree, *child, level + 1, leaves, places);
    }
    places[rank].x = match (children.first(), children.last()) {
        (Some(first), Some(last)) => f64::midpoint(places[*first].x, places[*last].x),
        _ => {
            *leaves += 1.0;
            *leaves - 1.0
        }
    };
}
