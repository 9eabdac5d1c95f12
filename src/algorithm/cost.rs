//! Cost formulas as code.

use super::Call;

/// What a cost formula may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// p.
    pub ranks: usize,
    /// Signature bytes that one rank contributes (n for bcast and reductions, b for the others).
    pub bytes: usize,
    /// Bytes of one unit.
    pub unit: usize,
    /// Root rank.
    pub root: usize,
    /// α/β, bytes.
    pub half_bandwidth: usize,
}

impl Shape {
    /// The shape of a call among `ranks` ranks.
    pub const fn of(call: &Call, ranks: usize) -> Self {
        let half_bandwidth = call.half_bandwidth;
        Self { ranks, bytes: call.bytes(), unit: call.unit, root: call.root, half_bandwidth }
    }
}

/// Time = `rounds`·α + `bytes`·β + `folded`·γ along the longest chain of dependent steps, with one message out and one
/// message in at a time per rank (sending and receiving at once is free; copies cost nothing).
///
/// A message departs when both its ends are started, and messages that wait for one port take it in the order in which
/// their rank started them. `tests/costs.rs` counts each of the three by itself ([`crate::schedule::count`]) and holds
/// the formulas to it: never below, at most a quarter and two steps above, exact at powers of two without segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Message start-ups, each α.
    pub rounds: f64,
    /// Bytes sent, each β.
    pub bytes: f64,
    /// Bytes folded, each γ.
    pub folded: f64,
}

impl Cost {
    /// Seconds under start-up `alpha` s, `beta` s per byte sent and `gamma` s per byte folded.
    pub fn seconds(self, alpha: f64, beta: f64, gamma: f64) -> f64 {
        self.rounds * alpha + self.bytes * beta + self.folded * gamma
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { rounds: self.rounds + other.rounds, bytes: self.bytes + other.bytes, folded: self.folded + other.folded }
    }
}
