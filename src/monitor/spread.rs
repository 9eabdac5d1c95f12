//! A quantity over ranks.

use super::units::seconds;
use serde::{Deserialize, Serialize};

/// A quantity over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// Least.
    pub min: f64,
    /// World rank that has the least: of time in collectives, as a rule the one that the others wait for.
    pub min_rank: u32,
    /// Mean over the ranks that took part.
    pub mean: f64,
    /// Most.
    pub max: f64,
    /// World rank that has the most.
    pub max_rank: u32,
}

impl Spread {
    /// Of (world rank, nanoseconds) of each rank that takes part.
    pub(super) fn of(values: impl Iterator<Item = (u32, u64)>) -> Self {
        let (mut least, mut most, mut sum, mut count) = ((u64::MAX, 0), (0, 0), 0, 0);
        for (rank, value) in values {
            if count == 0 || value > most.0 {
                most = (value, rank);
            }
            if count == 0 || value < least.0 {
                least = (value, rank);
            }
            (sum, count) = (sum + u128::from(value), count + 1);
        }
        if count == 0 { Self::default() } else { Self::of_sum(least, most, sum, count) }
    }

    /// Of the least and the most, each with the rank that has it, and the sum over so many ranks.
    pub(super) fn of_sum(least: (u64, u32), most: (u64, u32), sum: u128, count: u32) -> Self {
        Self {
            min: seconds(least.0 as f64),
            min_rank: least.1,
            mean: seconds(sum as f64) / f64::from(count),
            max: seconds(most.0 as f64),
            max_rank: most.1,
        }
    }
}
