//! How one candidate stands, and what there is to tell of all.

use serde::{Deserialize, Serialize};

/// What is foreseen of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Foreseen {
    /// Time by the cost model over that of the default, or of the best by the model where the default is the MPI
    /// library; none of that library, unless it is known to be slow.
    pub predicted: Option<f64>,
    /// The same where calls overlap, so that what the busiest rank does is all that they take; none where that is not
    /// known, or not asked for.
    pub overlapped: Option<f64>,
    /// Nanoseconds that it takes to make it ready.
    pub ready_ns: u64,
}

/// How one candidate stands; alike on all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Time by the cost model over that of the default, or of the best by the model where the default is the MPI
    /// library; none of that library, unless it is known to be slow.
    pub predicted: Option<f64>,
    /// The same where calls overlap, so that what the busiest rank does is all that they take; none where that is not
    /// known, or not asked for.
    pub overlapped: Option<f64>,
    /// Nanoseconds that it takes to make it ready before its first call.
    pub ready_ns: u64,
    /// Whether it may still be chosen.
    pub state: State,
    /// The slowest rank's time per call in the last round that it was in, nanoseconds; 0 before.
    pub ns: u64,
    /// The fastest rank's, which holds least waiting for late ranks; as long where only the other is known.
    pub fastest_ns: u64,
    /// Calls that were made with it.
    pub calls: u64,
    /// What the times above were when this candidate or another incumbent was last measured, and the incumbent's then:
    /// what they become while the incumbent's change rests on these.
    pub measured: [[u64; 2]; 2],
}

/// Whether a candidate may still be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It has not been tried.
    Untried,
    /// It was measured so many times and may be chosen.
    InPlay(u8),
    /// Others are faster.
    Dropped,
}

impl Standing {
    /// Of one that has not been tried.
    pub const fn untried(foreseen: Foreseen) -> Self {
        let Foreseen { predicted, overlapped, ready_ns } = foreseen;
        let state = State::Untried;
        Self { predicted, overlapped, ready_ns, state, ns: 0, fastest_ns: 0, calls: 0, measured: [[0; 2]; 2] }
    }

    /// Time over that of the default where its calls take one `overlap`th of what the cost model says of one alone:
    /// as the model says if that is 1, and the nearer to what the busiest rank does the more it is. Where that is not
    /// known, the default's overlapping is held against the candidate. All ranks have to find the same bits, whatever
    /// their machines are: of powers and logarithms libraries differ in the last one.
    pub fn predicted(&self, overlap: f64) -> Option<f64> {
        let alone = self.predicted?;
        Some(match self.overlapped {
            Some(overlapped) => alone / overlap + overlapped * (1.0 - 1.0 / overlap),
            None => alone * overlap.sqrt(),
        })
    }

    /// Whether it was measured and not dropped.
    pub const fn is_in_play(&self) -> bool {
        matches!(self.state, State::InPlay(_))
    }

    /// Rounds that it was measured in and may be chosen after.
    pub const fn level(&self) -> u8 {
        match self.state {
            State::InPlay(level) => level,
            State::Untried | State::Dropped => 0,
        }
    }
}

/// What there is to tell of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Calls of the cell.
    pub calls: u64,
    /// Calls that were made to measure another candidate than the one that carried out the others.
    pub tried_calls: u64,
    /// What trying has cost.
    pub spent_ns: u64,
    /// What was saved over the default, by the slowest rank's times.
    pub saved_ns: i64,
    /// The same by the fastest rank's.
    pub saved_fastest_ns: i64,
}
