//! For which other numbers of ranks a row holds that was found at one: where the cost formulas say that its algorithm
//! keeps its place among the others.
//!
//! A row reaches as far as its algorithm takes no more time over that of each other one than it does where it was
//! measured, by their formulas. Among two ranks a ring, a chain and a tree are the same message, and any of them may
//! have been the fastest by chance; what was found there holds for two ranks.

use super::group::Group;
use crate::algorithm::{Call, Choice, Shape, of};
use crate::schedule::simulate::Network;
use crate::selection::Span;

/// Share by which an algorithm may fall back behind another: formulas are no better than that.
const SLACK: f64 = 0.02;

/// The part of `within` around the ranks of `group` for which `choice` behaves as it does among these, for calls of
/// `sizes` bytes: beside each of the `measured` candidates, and what else the catalogue has. Numbers that are not meant
/// are passed over.
pub fn reach(
    choice: &Choice,
    measured: &[&Choice],
    group: &Group,
    sizes: &[usize],
    within: Span,
    is_meant: &dyn Fn(usize) -> bool,
) -> Span {
    let name = if group.is_on_one_node() { "shared_memory" } else { "ethernet" };
    let network = Network::preset(name).expect("it is a preset");
    let catalogue: Vec<_> = of(group.operation).iter().map(|row| Choice::new(row)).collect();
    let others: Vec<&Choice> = measured.iter().copied().chain(&catalogue).filter(|other| *other != choice).collect();
    let unit = if group.operation.reduces() { 8 } else { 1 };
    let time = |choice: &Choice, ranks: usize, bytes: usize| {
        let bytes = if group.operation.has_data() { bytes.div_ceil(unit) * unit } else { 0 };
        let plain = Call { commutative: group.is_commutative(), ..super::losses::plain(group.operation, bytes, &[]) };
        let call = if group.shares_memory() { network.with_shared_memory(&plain, &[]) } else { plain };
        choice.accepts(&call, ranks).ok()?;
        let half_bandwidth = network.half_bandwidth(group.is_on_one_node());
        let cost = choice.cost(&Shape { half_bandwidth, ..Shape::of(&call, ranks) });
        Some(network.seconds(cost, group.is_on_one_node(), group.shares_memory()))
    };
    let own = group.ranks as usize;
    if own == 2 {
        return group.exactly();
    }
    let behind = |other: &Choice, ranks: usize, bytes: usize| {
        let (mine, theirs) = (time(choice, ranks, bytes)?, time(other, ranks, bytes)?);
        Some(if theirs > 0.0 { mine / theirs } else { 1.0 })
    };
    let alike = |ranks: usize| {
        sizes.iter().all(|bytes| {
            time(choice, ranks, *bytes).is_some()
                && others.iter().all(|other| match (behind(other, own, *bytes), behind(other, ranks, *bytes)) {
                    (Some(here), Some(there)) => there <= here.max(1.0) * (1.0 + SLACK),
                    // What cannot be used there is no rival; of what could not be used here, nothing is known.
                    (_, None) => true,
                    (None, Some(there)) => there <= 1.0 + SLACK,
                })
        })
    };
    let (fewer, more) = ((within.least.max(2)..own).rev(), own + 1..=within.most);
    let least = fewer.filter(|ranks| is_meant(*ranks)).take_while(|ranks| alike(*ranks)).last().unwrap_or(own);
    let most = more.filter(|ranks| is_meant(*ranks)).take_while(|ranks| alike(*ranks)).last().unwrap_or(own);
    Span { least, most }
}
