//! For which other numbers of ranks a row holds that was found at one: where the cost formulas say that its algorithm
//! keeps its place among the others.
//!
//! A row reaches as far as its algorithm takes no more time over that of each other one than it does where it was
//! measured, by their formulas. Among two ranks a ring, a chain and a tree are the same message, and any of them may
//! have been the fastest by chance; what was found there holds for two ranks.

use super::formula::Formula;
use super::group::Group;
use crate::algorithm::{Choice, of};
use crate::selection::Span;
use std::collections::BTreeSet;

/// Below so many ranks all numbers of them are looked at, and from there on about so many between one number and half
/// as many again.
const ALL_BELOW: usize = 128;
const PER_OCTAVE: usize = 24;

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
    let catalogue: Vec<_> = of(group.operation).iter().map(|row| Choice::new(row)).collect();
    let mut others: Vec<&Choice> = Vec::new();
    for other in measured.iter().copied().chain(&catalogue) {
        if other != choice && !others.contains(&other) {
            others.push(other);
        }
    }
    let formula = Formula::of(group);
    let time = |choice: &Choice, ranks: usize, bytes: usize| formula.seconds(choice, ranks, bytes);
    let own = group.ranks as usize;
    if own == 2 {
        return group.exactly();
    }
    let over = |mine: f64, theirs: f64| if theirs > 0.0 { mine / theirs } else { 1.0 };
    let behind_here = |bytes: &usize| {
        let mine = time(choice, own, *bytes);
        let behind = |other: &&Choice| Some(over(mine?, time(other, own, *bytes)?));
        (*bytes, others.iter().map(behind).collect::<Vec<_>>())
    };
    let behind_here: Vec<_> = sizes.iter().map(behind_here).collect();
    let alike = |ranks: usize| {
        behind_here.iter().all(|(bytes, behind)| {
            let Some(mine) = time(choice, ranks, *bytes) else { return false };
            others.iter().zip(behind).all(|(other, here)| match (here, time(other, ranks, *bytes)) {
                (Some(here), Some(theirs)) => over(mine, theirs) <= here.max(1.0) * (1.0 + SLACK),
                // What cannot be used there is no rival; of what could not be used here, nothing is known.
                (_, None) => true,
                (None, Some(theirs)) => over(mine, theirs) <= 1.0 + SLACK,
            })
        })
    };
    let numbers: Vec<usize> = looked_at(within, own).into_iter().filter(|ranks| is_meant(*ranks)).collect();
    let furthest = |ranks: &mut dyn Iterator<Item = &usize>| ranks.take_while(|ranks| alike(**ranks)).last().copied();
    let least = furthest(&mut numbers.iter().rev().skip_while(|ranks| **ranks >= own)).unwrap_or(own);
    let most = furthest(&mut numbers.iter().skip_while(|ranks| **ranks <= own)).unwrap_or(own);
    Span { least, most }
}

/// The numbers of ranks in `within`, from 2 on, for which formulas are asked: all that are small, and beyond them a few
/// for each power of two. A formula may take as long as it has ranks, so that asking for all would take as long as
/// their square. The powers of two and their neighbours are where formulas jump.
fn looked_at(within: Span, own: usize) -> BTreeSet<usize> {
    let Span { least, most } = within;
    let next = |ranks: &usize| Some(ranks + if *ranks < ALL_BELOW { 1 } else { ranks / PER_OCTAVE });
    let spread = std::iter::successors(Some(least.max(2)), next).take_while(|ranks| *ranks <= most);
    let powers = (1..usize::BITS - 1).map(|power| 1 << power);
    let jumps = powers.chain([own]).flat_map(|ranks: usize| ranks - 1..=ranks + 1).chain([least, most]);
    spread.chain(jumps.filter(|ranks| (least.max(2)..=most).contains(ranks))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_numbers_of_ranks_are_looked_at() {
        let among = |own: usize| looked_at(Span { least: own / 2, most: 2 * own }, own);
        assert_eq!(among(2), [2, 3, 4].into());
        assert_eq!(among(48), (24..=96).collect());
        for own in [256, 300, 2048, 8191, 1 << 20, (1 << 24) - 3] {
            let numbers = among(own);
            assert!(numbers.len() < 2 * ALL_BELOW, "{own}: {}", numbers.len());
            for ranks in [own / 2, own - 1, own + 1, 2 * own, own.next_power_of_two(), own.next_power_of_two() + 1] {
                assert!(numbers.contains(&ranks), "{own}: {ranks}");
            }
        }
    }
}
