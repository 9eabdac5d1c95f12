//! What is decided for a kind of call: who may carry it out, and which of them does so when.

use super::learner::Learner;
use crate::monitor::CounterId;
use crate::operation::Choice;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use std::sync::Arc;

/// One that may carry calls out, and where those that it does are counted.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// An algorithm of ours; `None` for the native library.
    pub choice: Option<Arc<Choice>>,
    /// Where its calls are counted.
    pub counter: CounterId,
}

/// Which of a plan's candidates carries a call out. All ranks of the communicator see it alike at every call, since it
/// rests on what they agreed on and on calls that they count alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The only one does.
    Fixed,
    /// Two take turns by epochs of calls: the first in even ones, the second in odd ones.
    Alternate,
    /// One of several, as they have learned together: a [`Learner`] says who it is.
    Learn,
    /// Two do, one after the other; their results are compared, and the program gets one of them.
    Both,
}

/// A decision.
#[derive(Clone, Debug)]
pub struct Plan {
    candidates: SmallVec<[Candidate; 2]>,
    policy: Policy,
    learner: Option<Rc<Learner>>,
}

impl Plan {
    /// Every call by the native library, counted in `counter`.
    pub fn native(counter: CounterId) -> Self {
        Self::fixed(Candidate { choice: None, counter })
    }

    /// Every call by one.
    pub fn fixed(candidate: Candidate) -> Self {
        Self::of(smallvec![candidate], Policy::Fixed)
    }

    /// By the native library, whose calls are counted in `native`, and by another in epochs.
    pub fn alternate(native: CounterId, other: Candidate) -> Self {
        Self::of(smallvec![Candidate { choice: None, counter: native }, other], Policy::Alternate)
    }

    /// By the native library, whose calls are counted in `native`, and by another for comparison.
    pub fn both(native: CounterId, other: Candidate) -> Self {
        Self::of(smallvec![Candidate { choice: None, counter: native }, other], Policy::Both)
    }

    /// By `default`, or another of those that `learner` knows of. Where theirs are counted is said when they come to
    /// run.
    pub fn learn(default: Candidate, learner: Rc<Learner>) -> Self {
        let counter = default.counter;
        let others = learner.candidates().iter().skip(1).cloned().map(|choice| Candidate { choice, counter });
        let candidates = std::iter::once(default).chain(others).collect();
        Self { learner: Some(learner), ..Self::of(candidates, Policy::Learn) }
    }

    const fn of(candidates: SmallVec<[Candidate; 2]>, policy: Policy) -> Self {
        Self { candidates, policy, learner: None }
    }

    /// Which of the candidates carry a call out.
    #[inline]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Those that may; of two the native library before an algorithm of ours.
    #[inline]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Who says which of several carries out a call, where they learn that.
    #[inline(always)]
    pub const fn learner(&self) -> Option<&Rc<Learner>> {
        self.learner.as_ref()
    }

    /// Has the calls of a candidate counted in `counter`.
    pub fn count_in(&mut self, place: usize, counter: CounterId) {
        self.candidates[place].counter = counter;
    }

    /// The same with nothing but the last candidate: of a call that has nothing to send, there is nothing to compare.
    pub fn of_last(&self) -> Self {
        Self::fixed(self.candidates[self.candidates.len() - 1].clone())
    }
}
