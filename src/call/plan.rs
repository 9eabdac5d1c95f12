//! What is decided for a kind of call: who may carry it out, and which of them does so when.

use crate::algorithm::Choice;
use crate::monitor::CounterId;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// One that may carry calls out, and where those that it does are counted.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// An algorithm of ours; `None` for the native library.
    pub choice: Option<Arc<Choice>>,
    /// Where its calls are counted.
    pub counter: CounterId,
}

/// Which of a plan's candidates carries a call out. All ranks of the communicator see it alike at every call, since it rests
/// on what they agreed on and on calls that they count alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The only one does.
    Fixed,
    /// Two take turns by epochs of calls: the first in even ones, the second in odd ones.
    Alternate,
    /// Two do, one after the other; their results are compared, and the program gets one of them.
    Both,
}

/// A decision.
#[derive(Clone, Debug)]
pub struct Plan {
    candidates: SmallVec<[Candidate; 2]>,
    policy: Policy,
}

impl Plan {
    /// Every call by the native library, counted in `counter`.
    pub fn native(counter: CounterId) -> Self {
        Self::fixed(Candidate { choice: None, counter })
    }

    /// Every call by one.
    pub fn fixed(candidate: Candidate) -> Self {
        Self { candidates: smallvec![candidate], policy: Policy::Fixed }
    }

    /// By the native library, whose calls are counted in `native`, and by another in epochs.
    pub fn alternate(native: CounterId, other: Candidate) -> Self {
        Self { candidates: smallvec![Candidate { choice: None, counter: native }, other], policy: Policy::Alternate }
    }

    /// By the native library, whose calls are counted in `native`, and by another for comparison.
    pub fn both(native: CounterId, other: Candidate) -> Self {
        Self { candidates: smallvec![Candidate { choice: None, counter: native }, other], policy: Policy::Both }
    }

    /// Which of the candidates carry a call out.
    #[inline]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Those that may, one or two, the native library before an algorithm of ours.
    #[inline]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The same with nothing but the last candidate: of a call that has nothing to send, there is nothing to compare.
    pub fn of_last(&self) -> Self {
        Self::fixed(self.candidates[self.candidates.len() - 1].clone())
    }
}
