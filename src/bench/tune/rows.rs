//! Rows of one group: along the sizes the candidates that lose least, with a price for each change.

use super::group::Group;
use super::losses::{Candidate, Size};
use super::reach::reach;
use super::settings::{Block, Extend, Settings};
use crate::selection::{BytesOf, Rule, Span, Wanted};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What a path along the sizes costs: losses and prices of changes, then messages.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    losses: f64,
    messages: f64,
}

impl Cost {
    fn and(self, candidate: &Candidate) -> Self {
        let loss = candidate.loss;
        Self { losses: self.losses + loss.noticed + loss.to_native, messages: self.messages + candidate.messages }
    }

    fn compare(&self, other: &Self) -> Ordering {
        if (self.losses - other.losses).abs() < 1e-9 {
            self.messages.total_cmp(&other.messages)
        } else {
            self.losses.total_cmp(&other.losses)
        }
    }
}

/// The candidate for each size such that losses and changes together cost least.
fn cheapest(sizes: &[Size], settings: Settings) -> Vec<&str> {
    // Cost so far and the choices that lead to it, by last choice.
    let mut paths: BTreeMap<&str, (Cost, Vec<&str>)> = BTreeMap::new();
    for size in sizes {
        let cheapest = paths.values().min_by(|one, other| one.0.compare(&other.0)).cloned();
        paths = size
            .candidates
            .iter()
            .map(|(name, candidate)| {
                let stay = paths.get(name.as_str()).cloned();
                let change = cheapest.clone().map(|(mut cost, path)| {
                    cost.losses += settings.price;
                    (cost, path)
                });
                let (cost, mut path) = match (stay, change) {
                    (Some(stay), Some(change)) if stay.0.compare(&change.0).is_le() => stay,
                    (stay, change) => change.or(stay).unwrap_or_default(),
                };
                path.push(name.as_str());
                (name.as_str(), (cost.and(candidate), path))
            })
            .collect();
    }
    paths.into_values().min_by(|one, other| one.0.compare(&other.0)).map(|(_, path)| path).unwrap_or_default()
}

/// The rows of a group; `all`: every group of the reports.
pub fn block<'a>(
    group: &Group,
    sizes: &[Size],
    all: impl Iterator<Item = &'a Group> + Clone,
    settings: Settings,
) -> Block {
    let path = cheapest(sizes, settings);
    let conditions = group.conditions(all.clone());
    let mut rules: Vec<Rule> = Vec::new();
    let mut of_rule: Vec<Vec<&Size>> = Vec::new();
    let (mut ratios, mut left, mut least) = (Vec::new(), 0, 0);
    for (place, (size, name)) in sizes.iter().zip(&path).enumerate() {
        let middle = |next: &Size| ((size.bytes.max(1) as f64) * next.bytes as f64).sqrt() as usize;
        let most = sizes.get(place + 1).map_or(usize::MAX, middle);
        let candidate = &size.candidates[*name];
        if let Some(native) = size.native {
            let (ratio, to_native) = match candidate.choice {
                Some(_) => (candidate.against_native.exp(), ""),
                None => (native.exp(), " native"),
            };
            ratios.push(match group.operation.has_own_counts() {
                true => format!("{ratio:.2}{to_native} over all sizes"),
                false => format!("{} {ratio:.2}{to_native}", size.bytes),
            });
        }
        left += usize::from(candidate.choice.is_none());
        let wanted = candidate.choice.clone().map_or(Wanted::Native, Wanted::Algorithm);
        match rules.last_mut().zip(of_rule.last_mut()) {
            Some((last, sizes)) if last.wanted == wanted => {
                last.bytes.most = most;
                sizes.push(size);
            }
            _ => {
                rules.push(Rule {
                    operation: group.operation,
                    ranks: group.exactly(),
                    bytes: Span { least, most },
                    bytes_of: BytesOf::Rank,
                    wanted,
                    conditions: conditions.clone(),
                    line: 0,
                });
                of_rule.push(vec![size]);
            }
        }
        least = most.saturating_add(1);
    }
    for (rule, sizes) in rules.iter_mut().zip(&of_rule) {
        if rule.bytes.least == 0 && rule.bytes.most == usize::MAX {
            rule.bytes = Span::ALL;
        }
        // Nobody knows how the native library behaves among other numbers of ranks.
        let Wanted::Algorithm(choice) = &rule.wanted else { continue };
        let near = group.nearest(all.clone());
        if settings.extend == Extend::Near {
            rule.ranks = near;
        } else if settings.extend == Extend::Alike {
            let measured: Vec<_> = sizes.iter().flat_map(|size| size.candidates.values()).collect();
            let measured: Vec<_> = measured.iter().filter_map(|candidate| candidate.choice.as_ref()).collect();
            let bytes: Vec<_> = sizes.iter().map(|size| size.bytes).collect();
            rule.ranks = reach(choice, &measured, group, &bytes, near);
        }
    }
    let evidence = format!("{}, {} ranks; native over this: {}", group.name(), group.ranks, ratios.join(", "));
    Block { evidence, rules, sizes: (sizes.len(), left) }
}
