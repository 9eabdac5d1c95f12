//! Along the sizes of a group the candidates that cost least.

use super::losses::{Candidate, Size};
use super::settings::Settings;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Losses that differ by less are equal.
pub const EQUAL: f64 = 1e-9;

/// What a path along the sizes costs, in the order in which it counts: losses and prices of changes; sizes that are
/// left to native, or of which the messages are not known, though the candidate is level with the best; messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    losses: f64,
    left: usize,
    uncounted: usize,
    messages: f64,
}

impl Cost {
    /// With one size more that this candidate carries out.
    #[must_use]
    pub fn and(self, candidate: &Candidate) -> Self {
        Self {
            losses: self.losses + candidate.loss.total(),
            left: self.left + usize::from(candidate.choice.is_none()),
            uncounted: self.uncounted + usize::from(candidate.is_uncounted()),
            messages: self.messages + candidate.messages.unwrap_or(0.0),
        }
    }

    /// With a loss more.
    #[must_use]
    pub const fn and_loss(self, loss: f64) -> Self {
        Self { losses: self.losses + loss, ..self }
    }

    /// Losses and prices of changes.
    pub const fn losses(&self) -> f64 {
        self.losses
    }

    /// What costs less comes first.
    pub fn compare(&self, other: &Self) -> Ordering {
        if (self.losses - other.losses).abs() < EQUAL {
            let uncounted = |cost: &Self| (cost.left, cost.uncounted);
            uncounted(self).cmp(&uncounted(other)).then(self.messages.total_cmp(&other.messages))
        } else {
            self.losses.total_cmp(&other.losses)
        }
    }
}

/// The candidate for each size such that losses and changes together cost least.
pub fn cheapest(sizes: &[Size], settings: Settings) -> Vec<&str> {
    // Cost so far and the choices that lead to it, by last choice.
    let mut paths: BTreeMap<&str, (Cost, Vec<&str>)> = BTreeMap::new();
    for size in sizes {
        let cheapest = paths.values().min_by(|one, other| one.0.compare(&other.0)).cloned();
        paths = size
            .candidates
            .iter()
            .map(|(name, candidate)| {
                let stay = paths.get(name.as_str()).cloned();
                let change = cheapest.clone().map(|(cost, path)| (cost.and_loss(settings.price), path));
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

/// Where other candidates cost as much along a row as its own, the one that reaches furthest. `reach`: among how many
/// numbers of ranks a row of this candidate for these sizes would hold.
pub fn furthest<'a>(path: &mut [&'a str], sizes: &'a [Size], reach: impl Fn(&Candidate, &[Size]) -> usize) {
    let mut start = 0;
    for end in 1..=path.len() {
        if end < path.len() && path[end] == path[start] {
            continue;
        }
        let here = &sizes[start..end];
        let cost =
            |name: &str| here.iter().try_fold(Cost::default(), |cost, size| Some(cost.and(size.candidates.get(name)?)));
        let own = cost(path[start]);
        let costs_as_much = |name: &str| cost(name).zip(own).is_some_and(|(other, own)| other.compare(&own).is_eq());
        let alike = here[0].candidates.iter().filter(|(name, _)| costs_as_much(name));
        let alike: Vec<_> = alike.filter(|(_, candidate)| candidate.choice.is_some()).collect();
        if alike.len() > 1 {
            // Of several the first.
            let furthest = alike.into_iter().rev().max_by_key(|(_, candidate)| reach(candidate, here));
            let name = furthest.map_or(path[start], |(name, _)| name);
            path[start..end].fill(name);
        }
        start = end;
    }
}
