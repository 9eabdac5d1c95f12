//! A leaf of a decision tree: calls for which one algorithm stands, and the rules that say so.

use super::group::{Group, Placement};
use super::losses::{Candidate, Size};
use super::path::Cost;
use super::reach::reach;
use super::settings::{Extend, Settings};
use crate::algorithm::Choice;
use crate::selection::{Condition, Rule, Span, Wanted};
use std::collections::{BTreeMap, BTreeSet};

/// What a candidate loses that was not measured: a factor of four.
const UNMEASURED: f64 = 1.386;

/// Calls that were measured together.
#[derive(Clone, Copy)]
pub struct Example<'a> {
    /// What they have in common.
    pub group: &'a Group,
    /// What each candidate takes.
    pub size: &'a Size,
}

/// Examples that one candidate is the best of.
pub struct Leaf<'a> {
    /// These.
    pub examples: Vec<Example<'a>>,
    /// Name of the candidate.
    pub name: &'a str,
    /// The candidate.
    pub candidate: &'a Candidate,
    /// What it loses over all of them.
    pub loss: f64,
}

impl<'a> Leaf<'a> {
    /// Of the candidate that loses least over all examples; of fewer messages where several do.
    pub fn of(examples: Vec<Example<'a>>) -> Self {
        let all = examples.iter().flat_map(|example| &example.size.candidates);
        let names: BTreeSet<&str> = all.map(|(name, _)| name.as_str()).collect();
        let cost = |name: &str| {
            examples.iter().fold(Cost::default(), |cost, example| match example.size.candidates.get(name) {
                Some(candidate) => cost.and(candidate),
                None => cost.and_loss(UNMEASURED),
            })
        };
        // Of equal ones the first.
        let best = names.into_iter().map(|name| (cost(name), name)).min_by(|one, other| one.0.compare(&other.0));
        let (cost, name) = best.expect("every size has candidates");
        let loss = cost.losses();
        let known = examples.iter().find_map(|example| example.size.candidates.get(name));
        let candidate = known.expect("the name is from one of them");
        Self { name, candidate, loss, examples }
    }
}

impl Leaf<'_> {
    /// Within `rule`: for several placements at once if they hold for the same numbers of ranks, or else for each its
    /// own. What was measured in one placement tells nothing of another, unless rules are to hold anywhere.
    pub fn rules(&self, rule: &Rule, Settings { extend, anywhere, .. }: Settings, rules: &mut Vec<Rule>) {
        let places: BTreeSet<Placement> = self.examples.iter().map(|example| example.group.placement()).collect();
        let within = |span: Span| span.and(rule.ranks);
        let spans = |place: &Placement| self.ranks(*place, rule, extend).into_iter().filter_map(within).collect();
        let mut rows: Vec<(Rule, Vec<Span>)> =
            places.iter().map(|place| (placed(rule, *place, &places, anywhere), spans(place))).collect();
        if rows.windows(2).all(|pair| pair[0].1 == pair[1].1)
            && let Some(of_all) = placed_together(rule, &places, anywhere)
        {
            rows.truncate(1);
            rows.iter_mut().for_each(|(of_place, _)| *of_place = of_all.clone());
        }
        let wanted = self.candidate.choice.clone().map_or(Wanted::Native, Wanted::Algorithm);
        for (rule, spans) in rows {
            let row = |ranks| Rule { ranks, wanted: wanted.clone(), ..rule.clone() };
            rules.extend(spans.into_iter().map(row).map(without_powers));
        }
    }

    /// For which numbers of ranks it holds in a placement: native for each that was measured there, ours from the fewest
    /// to the most, and beyond these as far as a row of a table would reach.
    fn ranks(&self, place: Placement, rule: &Rule, extend: Extend) -> Vec<Span> {
        let here = self.examples.iter().filter(|example| example.group.placement() == place);
        let measured: BTreeSet<usize> = here.map(|example| example.group.ranks as usize).collect();
        let (first, last) = (measured.first().copied().unwrap_or(2), measured.last().copied().unwrap_or(2));
        let exactly = |ranks: usize| Span { least: ranks, most: ranks };
        let Some(choice) = &self.candidate.choice else {
            // Nobody knows how the native library behaves among other numbers of ranks.
            return measured.into_iter().map(exactly).collect();
        };
        let near = match extend {
            Extend::Exact => {
                let measured: Vec<usize> = measured.into_iter().collect();
                let runs = measured.chunk_by(|one, other| one + 1 == *other);
                return runs.map(|run| Span { least: run[0], most: run[run.len() - 1] }).collect();
            }
            // Among two ranks most algorithms are the same messages, which says nothing of more.
            Extend::Near => Span {
                least: if first == 2 { 2 } else { first.div_ceil(2).max(3) },
                most: if last == 2 { 2 } else { 2 * last },
            },
            Extend::Alike | Extend::Estimated => {
                let is_meant =
                    |ranks: usize| rule.power_of_two().is_none_or(|wanted| ranks.is_power_of_two() == wanted);
                let reach = |ranks| self.reach(choice, place, ranks, &is_meant);
                Span { least: reach(first).least, most: reach(last).most }
            }
        };
        vec![near]
    }

    /// For which numbers of ranks up to a factor of two off a row of `choice` holds that is for `ranks` in a placement: in
    /// all groups of these that are here, and among those numbers that are meant.
    fn reach(&self, choice: &Choice, place: Placement, ranks: usize, is_meant: &dyn Fn(usize) -> bool) -> Span {
        let within = Span { least: ranks.div_ceil(2), most: 2 * ranks };
        let is_it = |group: &Group| group.placement() == place && group.ranks as usize == ranks;
        let mut groups: BTreeMap<&Group, Vec<&Size>> = BTreeMap::new();
        for Example { group, size } in self.examples.iter().filter(|example| is_it(example.group)) {
            groups.entry(*group).or_default().push(*size);
        }
        groups.into_iter().fold(within, |span, (group, sizes)| {
            let measured = sizes.iter().flat_map(|size| size.candidates.values());
            let measured: Vec<_> = measured.filter_map(|candidate| candidate.choice.as_ref()).collect();
            let bytes: Vec<_> = sizes.iter().map(|size| size.bytes).collect();
            let of_group = reach(choice, &measured, group, &bytes, within, is_meant);
            Span { least: span.least.max(of_group.least), most: span.most.min(of_group.most) }
        })
    }
}

/// The rule for one of these placements, which is told from others too unless rules are to hold anywhere.
fn placed(rule: &Rule, place: Placement, among: &BTreeSet<Placement>, anywhere: bool) -> Rule {
    let mut rule = rule.clone();
    let is_told_from = |other: Placement| !anywhere || among.contains(&other);
    match place {
        _ if anywhere && among.len() < 2 => {}
        Placement::Together => require(&mut rule, Condition::OneNode),
        Placement::Apart => require(&mut rule, Condition::OnePerNode),
        Placement::Grouped => {
            if is_told_from(Placement::Together) {
                require(&mut rule, Condition::SeveralNodes);
            }
            if is_told_from(Placement::Apart) {
                rule.narrow_ranks_per_node(SEVERAL);
            }
        }
    }
    rule
}

/// The rule for all of these placements at once, if conditions can say so.
fn placed_together(rule: &Rule, places: &BTreeSet<Placement>, anywhere: bool) -> Option<Rule> {
    let mut rule = rule.clone();
    if anywhere {
        return Some(rule);
    }
    match places.iter().copied().collect::<Vec<_>>()[..] {
        [Placement::Together, Placement::Apart, Placement::Grouped] => {}
        [Placement::Together, Placement::Grouped] => rule.narrow_ranks_per_node(SEVERAL),
        [Placement::Apart, Placement::Grouped] => require(&mut rule, Condition::SeveralNodes),
        _ => return None,
    }
    Some(rule)
}

/// Numbers of ranks on a node that holds more than one.
const SEVERAL: Span = Span { least: 2, most: usize::MAX };

fn require(rule: &mut Rule, condition: Condition) {
    if !rule.conditions.contains(&condition) {
        rule.conditions.push(condition);
    }
}

/// A rule for one number of ranks needs not say that it is a power of two.
fn without_powers(mut rule: Rule) -> Rule {
    if rule.ranks.least == rule.ranks.most {
        rule.conditions.retain(|condition| !matches!(condition, Condition::PowerOfTwo | Condition::NotPowerOfTwo));
    }
    rule
}
