//! Numbers of ranks that nobody measured, between two that were and up to a factor of two beyond them: what each
//! candidate would lose there.
//!
//! Between two numbers of ranks a candidate loses what it loses at both, the nearer one counting more. The cost formulas
//! are not asked there: on 2 to 8 nodes of an emulated cluster (Open MPI, one number of ranks left out at a time), what
//! was estimated with them took 5 to 9 % longer than the fastest, without them 4 to 5 %. Beyond the measured numbers
//! they are: a candidate falls back as far as its formula does, where most of the catalogue was measured. Among two
//! ranks most algorithms are the same messages, which says nothing of more.

use super::formula::Formula;
use super::group::Group;
use super::losses::Size;
use crate::algorithm::{Choice, of};
use crate::selection::Span;
use std::collections::BTreeSet;

/// The most and the fewest ranks of those that are estimated as one, in ratio.
const TOGETHER: f64 = 1.26;

/// So many of the numbers that are estimated as one are asked for whether an algorithm may be used.
const ASKED: usize = 32;

/// Calls of ranks that nobody measured.
pub struct Estimate {
    /// Those that were measured, but for the number of ranks: one in the middle.
    pub group: Group,
    /// What each candidate would lose.
    pub sizes: Vec<Size>,
    /// For which numbers of ranks it holds.
    pub ranks: Span,
    /// The numbers of ranks it rests on.
    pub from: Vec<u32>,
}

impl Estimate {
    /// Whether it rests on one number of ranks, and lies on one side of that.
    pub fn is_beyond(&self) -> bool {
        self.from.len() == 1
    }

    /// Whether both are of the same calls and rest on the same numbers of ranks.
    pub fn rests_on_the_same(&self, other: &Self) -> bool {
        self.group.differs_in_ranks_only(&other.group) && self.from == other.from
    }
}

/// Estimates from what was measured, in the order of groups; `anywhere`: of ranks that may lie otherwise than those.
pub fn estimates(measured: &[(&Group, Vec<Size>)], anywhere: bool) -> Vec<Estimate> {
    let mut all = Vec::new();
    for alike in measured.chunk_by(|(one, _), (other, _)| one.differs_in_ranks_only(other)) {
        let [(first, sizes), ..] = alike else { continue };
        if !first.is_told_apart() {
            continue;
        }
        let fewest = if anywhere { 2 } else { first.placement().fewest() };
        all.extend(beyond(first, sizes, below(first, fewest)));
        for pair in alike.windows(2) {
            let [(low, before), (high, after)] = pair else { continue };
            if low.ranks > 2 {
                all.extend(within((low, before), (high, after)));
            } else {
                all.extend(beyond(high, after, below(high, 3)));
            }
        }
        if let [.., (last, sizes)] = alike
            && last.ranks > 2
        {
            let ranks = last.ranks as usize;
            all.extend(beyond(last, sizes, Span { least: ranks + 1, most: 2 * ranks }));
        }
    }
    all
}

/// The numbers of ranks below that of a group, down to half of it or to `least`.
fn below(group: &Group, least: usize) -> Span {
    let ranks = group.ranks as usize;
    Span { least: ranks.div_ceil(2).max(least), most: ranks - 1 }
}

/// Those between two measured numbers of ranks.
fn within<'a>(
    (low, before): (&'a Group, &'a [Size]),
    (high, after): (&'a Group, &'a [Size]),
) -> impl Iterator<Item = Estimate> + 'a {
    let numbers = Span { least: low.ranks as usize + 1, most: high.ranks as usize - 1 };
    together(numbers).into_iter().filter_map(move |ranks| {
        let group = low.among(middle(ranks));
        let position = |ranks: u32| f64::from(ranks).ln();
        let share = (position(group.ranks) - position(low.ranks)) / (position(high.ranks) - position(low.ranks));
        let sizes: Vec<_> = before
            .iter()
            .filter_map(|one| {
                // Of a class the mean may differ from communicator to communicator.
                let is_same =
                    |other: &&Size| other.class == one.class && (one.class.is_some() || other.bytes == one.bytes);
                let other = after.iter().find(is_same)?;
                one.towards(other, share, |choice| is_accepted(choice, &group, ranks, one.bytes))
            })
            .collect();
        (!sizes.is_empty()).then(|| Estimate { group, sizes, ranks, from: vec![low.ranks, high.ranks] })
    })
}

/// Those of `numbers`, on one side of the only measured number of ranks that is near.
fn beyond<'a>(near: &'a Group, measured: &'a [Size], numbers: Span) -> impl Iterator<Item = Estimate> + 'a {
    let own = near.ranks as usize;
    together(numbers).into_iter().filter_map(move |ranks| {
        let group = near.among(middle(ranks));
        let fallen_back = |size: &Size| {
            if size.is_natives() {
                return Some(size.left_to_native());
            }
            let formula = Formula::of(&group);
            size.fallen_back(|choice| {
                let time = |ranks| formula.seconds(choice, ranks, size.bytes).filter(|time| *time > 0.0);
                let (here, there) = time(own).zip(time(group.ranks as usize))?;
                is_accepted(choice, &group, ranks, size.bytes).then(|| (there / here).ln())
            })
            .filter(|there| holds_most(there, &group, ranks))
        };
        let sizes: Vec<_> = measured.iter().filter_map(fallen_back).collect();
        (!sizes.iter().all(Size::is_natives)).then(|| Estimate { group, sizes, ranks, from: vec![near.ranks] })
    })
}

/// Whether that compares most of what could be used there. The fastest of a few may be far behind the others there,
/// whatever it was where they were measured.
fn holds_most(size: &Size, group: &Group, ranks: Span) -> bool {
    let could = of(group.operation).iter().map(|row| Choice::new(row));
    let could = could.filter(|choice| is_accepted(choice, group, ranks, size.bytes)).count();
    let measured = size.candidates.values().filter_map(|candidate| candidate.choice.as_ref());
    let measured: BTreeSet<_> = measured.map(|choice| choice.algorithm.name).collect();
    2 * measured.len() >= could
}

/// Whether an algorithm may be used for calls of that many bytes among any of these ranks.
fn is_accepted(choice: &Choice, group: &Group, ranks: Span, bytes: usize) -> bool {
    let formula = Formula::of(group);
    let step = (ranks.most - ranks.least) / ASKED + 1;
    (ranks.least..=ranks.most).step_by(step).all(|ranks| formula.seconds(choice, ranks, bytes).is_some())
}

/// The middle, in ratio.
fn middle(ranks: Span) -> u32 {
    (ranks.least as f64 * ranks.most as f64).sqrt().round() as u32
}

/// These numbers of ranks, as few together as may behave alike; a power of two stands alone, as many algorithms take
/// others another way.
fn together(numbers: Span) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    let mut least = numbers.least;
    while least <= numbers.most {
        let most = match least.is_power_of_two() {
            true => least,
            false => ((least as f64 * TOGETHER) as usize).min(least.next_power_of_two() - 1).min(numbers.most),
        };
        all.push(Span { least, most });
        least = most + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_stand_alone() {
        let spans = |least, most| together(Span { least, most }).into_iter().map(|span| (span.least, span.most));
        assert_eq!(spans(5, 7).collect::<Vec<_>>(), [(5, 6), (7, 7)]);
        assert_eq!(spans(9, 17).collect::<Vec<_>>(), [(9, 11), (12, 15), (16, 16), (17, 17)]);
        assert_eq!(spans(1, 0).count(), 0);
    }
}
