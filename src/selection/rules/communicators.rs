//! Which communicators the conditions of a rule leave it: numbers of ranks, and places of these on nodes. Conditions on
//! either bear on the other, since no node has more ranks than there are.

use super::{Condition, Rule, Span};
use crate::algorithm::SharedMemory;

/// Numbers of ranks of communicators whose collectives are ours: those of one rank stay with the MPI library.
pub const SEVERAL: Span = Span { least: 2, most: usize::MAX };

/// Whether some of these numbers of ranks, two or more, is a power of two, or is none.
pub fn holds(ranks: Span, power_of_two: bool) -> bool {
    match power_of_two {
        true => ranks.least.checked_next_power_of_two().is_some_and(|power| power <= ranks.most),
        // Of two such numbers that follow each other, one is no power of two.
        false => ranks.least < ranks.most || !ranks.least.is_power_of_two(),
    }
}

/// The numbers of ranks for which a rule can match, but for which powers of two they are; none if there are no such.
pub fn ranks(rule: &Rule) -> Option<Span> {
    let has = |condition| rule.conditions.contains(&condition);
    let on_node = rule.conditions.iter().try_fold(Span { least: 1, most: usize::MAX }, |span, condition| {
        let condition = match condition {
            Condition::RanksPerNode(ranks) => *ranks,
            Condition::OnePerNode => Span { least: 1, most: 1 },
            _ => Span::ALL,
        };
        span.and(condition)
    })?;
    let by_node = if has(Condition::OneNode) || has(Condition::SharedMemory) {
        on_node
    } else {
        let elsewhere = usize::from(has(Condition::SeveralNodes));
        Span { least: on_node.least.saturating_add(elsewhere), most: usize::MAX }
    };
    rule.ranks.and(SEVERAL)?.and(by_node)
}

/// Why no communicator is such that a rule could match.
pub fn none(rule: &Rule) -> Option<String> {
    let ranks = rule.ranks.and(SEVERAL)?;
    match rule.power_of_two() {
        Some(true) if !holds(ranks, true) => {
            return Some(format!("never matches: no number of ranks in {} is a power of two", rule.ranks));
        }
        Some(false) if !holds(ranks, false) => {
            return Some(format!("never matches: {} is a power of two", ranks.least));
        }
        _ => {}
    }
    match self::ranks(rule) {
        Some(left) if rule.power_of_two().is_none_or(|power_of_two| holds(left, power_of_two)) => None,
        _ => match &rule.conditions[..] {
            [Condition::RanksPerNode(on_node)] if rule.ranks == Span::ALL => {
                Some(format!("never matches: no node has {on_node} ranks"))
            }
            [Condition::RanksPerNode(on_node)] => {
                Some(format!("never matches: among {} ranks no node has {on_node} of them", rule.ranks))
            }
            _ => Some("never matches: its conditions never hold together".to_owned()),
        },
    }
}

/// A way in which the ranks of a communicator lie on nodes.
#[derive(Clone, Copy)]
pub struct Place {
    /// Node of each of some ranks; none if it is one.
    pub nodes: &'static [u32],
    pub shared: Option<SharedMemory>,
    /// Ranks on the node that has most of them: the fewest of those that no rule tells apart.
    pub most_on_node: usize,
    /// Numbers of ranks that can lie so.
    pub ranks: Span,
}

/// All that these rules can tell from others.
pub fn places<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<Place> {
    let spans = rules.flat_map(|rule| &rule.conditions).filter_map(|condition| match condition {
        Condition::RanksPerNode(ranks) => Some(*ranks),
        _ => None,
    });
    let one = Span { least: 1, most: 1 };
    let mut places = Vec::new();
    for Span { least, most } in Span::between(spans.chain([one]), usize::MAX) {
        let place = |nodes, shared, ranks| Place { nodes, shared, most_on_node: least, ranks };
        if least > 1 {
            // Rows for one rank, which changes nothing, are no matter here.
            let ranks = Span { least: if least == 2 { 0 } else { least }, most };
            places.extend([None, Some(SharedMemory::PLAIN)].map(|shared| place(&[], shared, ranks)));
        }
        if least > 0 {
            let elsewhere = if least > 1 { least.saturating_add(1) } else { 0 };
            places.push(place(&[0, 1], None, Span { least: elsewhere, most: usize::MAX }));
        }
    }
    places
}
