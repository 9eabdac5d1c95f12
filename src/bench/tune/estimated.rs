//! What candidates would lose where nobody measured, from what they lose at one size and number of ranks or at two.

use super::losses::{Candidate, LEVEL, Loss, Size};
use crate::algorithm::Choice;
use std::collections::BTreeMap;

/// Sizes with more than this ratio between them get one in the middle.
const APART: f64 = 3.0;

/// The sizes, and between those that are far apart one more by what their candidates lose at both: the fastest in the
/// middle may be neither the one at the lower size nor that at the upper one. On 2 to 8 nodes of an emulated cluster
/// (sizes that differ by a factor of four, one of them left out at a time) calls took 8.6 to 8.9 % longer than the
/// fastest without it, and take 6.8 to 7.0 % longer.
pub fn with_middles(sizes: &[Size]) -> Vec<Size> {
    let between = |low: &Size, high: &Size| {
        let (from, to) = (low.longest() as f64, high.shortest() as f64);
        // One that is missing at a size may be its fastest, and could not be kept in the middle.
        let alike = low.candidates.keys().eq(high.candidates.keys());
        let middle = low.towards(high, 0.5, |_| true).filter(|_| alike && from > 0.0 && to / from > APART)?;
        Some(Size { bytes: (from * to).sqrt() as usize, class: None, ..middle })
    };
    let pairs = sizes.windows(2).flat_map(|pair| [between(&pair[0], &pair[1]), Some(pair[1].clone())]);
    sizes.first().cloned().into_iter().chain(pairs.flatten()).collect()
}

impl Size {
    /// What candidates would lose at `share` of the way from here to `other`, of those that are at both and accepted.
    pub fn towards(&self, other: &Self, share: f64, is_accepted: impl Fn(&Choice) -> bool) -> Option<Self> {
        let mix = |here: f64, there: f64| here + share * (there - here);
        let candidates: BTreeMap<_, _> = self
            .candidates
            .iter()
            .filter(|(_, candidate)| candidate.choice.as_ref().is_none_or(&is_accepted))
            .filter_map(|(name, here)| {
                let there = other.candidates.get(name)?;
                let loss = Loss {
                    noticed: mix(here.loss.noticed, there.loss.noticed),
                    to_native: mix(here.loss.to_native, there.loss.to_native),
                };
                let candidate = Candidate {
                    choice: here.choice.clone(),
                    loss,
                    against_native: mix(here.against_native, there.against_native),
                    behind: mix(here.behind, there.behind),
                    messages: here.messages.zip(there.messages).map(|(here, there)| mix(here, there)),
                    is_undecided: here.is_undecided || there.is_undecided,
                };
                Some((name.clone(), candidate))
            })
            .collect();
        self.estimated(candidates)
    }

    /// What candidates would lose where each takes by so much longer, in logarithms, than here; without those that say
    /// nothing. Nobody knows what the native library would take.
    pub fn fallen_back(&self, by: impl Fn(&Choice) -> Option<f64>) -> Option<Self> {
        let moved = self.candidates.iter().filter_map(|(name, here)| {
            let choice = here.choice.as_ref()?;
            Some((name, here, here.behind + by(choice)?))
        });
        let moved: Vec<_> = moved.collect();
        let best = moved.iter().map(|(_, _, behind)| *behind).min_by(f64::total_cmp)?;
        let candidates = moved.into_iter().map(|(name, here, behind)| {
            let behind = behind - best;
            let loss = Loss { noticed: if behind < LEVEL { 0.0 } else { behind }, to_native: 0.0 };
            let known = Candidate { choice: here.choice.clone(), loss, against_native: 0.0, ..here.clone() };
            (name.clone(), Candidate { behind, messages: None, is_undecided: false, ..known })
        });
        self.estimated(candidates.collect())
    }

    /// Whether native is a candidate, and loses less than all others.
    pub fn is_natives(&self) -> bool {
        let of_native = self.candidates.values().find(|candidate| candidate.choice.is_none());
        of_native.is_some_and(|native| {
            let mut others = self.candidates.values().filter(|candidate| candidate.choice.is_some());
            others.all(|other| other.loss.total() > native.loss.total())
        })
    }

    /// One of this size in which nothing is compared with native.
    pub fn left_to_native(&self) -> Self {
        let mut left = Self { is_measured: false, left_out: String::new(), ..self.clone() };
        left.candidates.retain(|_, candidate| candidate.choice.is_none());
        left
    }

    /// One of this size with these candidates; none if none of them is Collie's.
    fn estimated(&self, candidates: BTreeMap<String, Candidate>) -> Option<Self> {
        candidates.values().any(|candidate| candidate.choice.is_some()).then(|| Self {
            bytes: self.bytes,
            class: self.class,
            is_measured: false,
            candidates,
            native: None,
            left_out: String::new(),
        })
    }
}
