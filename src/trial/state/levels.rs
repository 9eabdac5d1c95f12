//! How long candidates are measured, and what has to come of it.

/// A round's length, and how its outcome is judged.
pub struct Level {
    /// Epochs of each member.
    pub epochs: u32,
    /// Calls of an epoch: an even number in what decides, since programs call in pairs, one after much work and one
    /// right after it.
    pub calls: u32,
    /// How many times the fastest's time those may take that stay in play.
    pub within: f64,
    /// The part of the incumbent's time that one has to save to take its place.
    pub gain: f64,
}

/// By how often a candidate was measured before.
pub const LEVELS: [Level; 3] = [
    Level { epochs: 1, calls: 4, within: 2.5, gain: 0.20 },
    Level { epochs: 3, calls: 2, within: 1.5, gain: 0.10 },
    Level { epochs: 6, calls: 4, within: 1.1, gain: 0.03 },
];

/// The same where the ranks meet after each epoch, so that a few tell as much.
pub const LEVELS_WITH_MEETINGS: [Level; 3] = [
    Level { epochs: 2, calls: 2, within: 2.0, gain: 0.20 },
    Level { epochs: 3, calls: 2, within: 1.25, gain: 0.10 },
    Level { epochs: 4, calls: 4, within: 1.1, gain: 0.03 },
];

/// The first round of those of whom nothing is predicted, where an exchange costs less than several calls of somebody
/// who is slow: between nodes the MPI library takes as long as the fastest now, and seven times as long then. A single
/// call may have met a late rank, so nobody is dropped for it.
pub const PROBE: Level = Level { epochs: 1, calls: 1, within: f64::INFINITY, gain: 0.20 };
