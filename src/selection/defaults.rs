//! The default tables: what a call gets when neither a variable nor a rule speaks about it. They are data, in the rules
//! format, one table per kind of place; a row whose needs are not met gives way to the next that matches. Behind the rows
//! of a place stand those of `everywhere.rules`, which decide about operations of which nothing is known of the place.

use super::rules::{self, Rules};
use super::situation::Situation;
use once_cell::sync::Lazy;

/// The name of the table for calls whose ranks outnumber the cores.
pub const OVERSUBSCRIBED: &str = "one_node_oversubscribed";

/// The text of a place's file, and behind it what holds in every place. Lines are counted on from one to the other.
macro_rules! and_everywhere {
    ($file:literal) => {
        concat!(include_str!(concat!("defaults/", $file)), include_str!("defaults/everywhere.rules"))
    };
}

/// Name and text of each table: the best of ours.
pub const TABLES: [(&str, &str); 3] = [
    ("one_node", and_everywhere!("one_node.rules")),
    (OVERSUBSCRIBED, and_everywhere!("one_node_oversubscribed.rules")),
    ("across_nodes", and_everywhere!("across_nodes.rules")),
];

/// The same with the native library among the candidates, and nothing but what was measured, for `COLLIE_MODE=best`.
pub const BEST: [(&str, &str); 3] = [
    ("one_node", include_str!("defaults/one_node.best")),
    (OVERSUBSCRIBED, include_str!("defaults/one_node_oversubscribed.best")),
    ("across_nodes", include_str!("defaults/across_nodes.best")),
];

/// What the literature says of each place, without a measurement of ours.
const LITERATURE: [(&str, &str); 3] = [
    ("one_node", and_everywhere!("one_node.literature")),
    (OVERSUBSCRIBED, and_everywhere!("one_node_oversubscribed.literature")),
    ("across_nodes", and_everywhere!("across_nodes.literature")),
];

/// What comes first where the ranks share memory.
pub const SHARED: (&str, &str) = ("shared_memory", include_str!("defaults/shared_memory.rules"));

/// The same where those of each of several nodes do.
pub const SHARED_INSIDE: (&str, &str) = ("shared_memory_inside", include_str!("defaults/shared_memory_inside.rules"));

/// For `COLLIE_MODE=best`, what comes before all else where the ranks share memory and are all on one node: the calls that
/// were measured, of which those that the native library carries out faster are left to it, and the others (`auto`) go by
/// the tables of mode `replace`.
pub const SHARED_BEST: (&str, &str) = (SHARED.0, include_str!("defaults/shared_memory.best"));

static PARSED_SHARED: Lazy<[Rules; 3]> = Lazy::new(|| {
    let parsed = |(name, text)| rules::parse(name, text).unwrap_or_else(|errors| panic!("default table {errors}"));
    [SHARED, SHARED_INSIDE, SHARED_BEST].map(parsed)
});

static PARSED: Lazy<[[Rules; 3]; 3]> = Lazy::new(|| {
    let parsed = |(name, text)| rules::parse(name, text).unwrap_or_else(|errors| panic!("default table {errors}"));
    [TABLES, BEST, LITERATURE].map(|tables| tables.map(parsed))
});

/// The text of the table of that name, of those for ranks that share memory as well.
pub fn text(name: &str, best: bool) -> Option<&'static str> {
    let (tables, shared) = if best { (BEST, SHARED_BEST) } else { (TABLES, SHARED) };
    tables.into_iter().chain([shared, SHARED_INSIDE]).find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// Name and rows of the table for `situation`; `best`: of that with native rows.
pub fn of(situation: &Situation, best: bool) -> (&'static str, &'static Rules) {
    let place = place(situation);
    (TABLES[place].0, &PARSED[usize::from(best)][place])
}

/// Name and rows of the table that comes first where the ranks share memory: all of them on one node, or those of each
/// of several.
pub fn of_shared_memory(one_node: bool) -> (&'static str, &'static Rules) {
    let [all, inside, _] = &*PARSED_SHARED;
    if one_node { (SHARED.0, all) } else { (SHARED_INSIDE.0, inside) }
}

/// Name and rows of the table that says in mode `best` which calls of ranks that share memory were measured.
pub fn best_of_shared_memory() -> (&'static str, &'static Rules) {
    (SHARED_BEST.0, &PARSED_SHARED[2])
}

/// The rows of the literature for `situation`.
pub fn literature(situation: &Situation) -> &'static Rules {
    &PARSED[2][place(situation)]
}

const fn place(situation: &Situation) -> usize {
    match (situation.one_node, situation.oversubscribed) {
        (true, false) => 0,
        (true, true) => 1,
        (false, _) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_everywhere_begins_a_line() {
        for (name, text) in TABLES.into_iter().chain(LITERATURE) {
            let of_place = text.strip_suffix(include_str!("defaults/everywhere.rules"));
            assert!(of_place.is_some_and(|text| text.ends_with('\n')), "{name}");
        }
    }
}
