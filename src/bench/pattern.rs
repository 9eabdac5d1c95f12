//! How calls follow one another: each alone after a barrier, or as programs make them.

#![forbid(unsafe_code)]

use super::numbers::whole;
use serde::{Deserialize, Serialize};

/// Calls that belong to one timing. What a program feels is not a call after a barrier: its calls follow one another, a
/// rank is in the next one while others are still in the last, roots and communicators change, and some rank always
/// comes late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub struct Pattern {
    /// Calls that follow one another without a barrier and are timed together; the time of a call is the total divided
    /// by their number
    #[arg(long, value_name = "CALLS", default_value_t = 1, value_parser = whole::<u32>(1..))]
    pub in_a_row: u32,
    /// Number of communicators, each of all ranks, that the calls use in turn
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole::<u32>(1..))]
    pub communicators: u32,
    /// Give each call another root, one rank after the other
    #[arg(long)]
    pub roots_in_turn: bool,
    /// Let a different rank compute for this many seconds before each call
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    pub late: f64,
}

impl Default for Pattern {
    fn default() -> Self {
        Self { in_a_row: 1, communicators: 1, roots_in_turn: false, late: 0.0 }
    }
}

impl Pattern {
    /// Whether each call is alone.
    pub fn is_alone(&self) -> bool {
        *self == Self::default()
    }

    /// The words that say the same on a command line.
    pub fn words(&self) -> Vec<String> {
        let default = Self::default();
        let mut words = Vec::new();
        let mut say = |option: &str, value: String| words.extend([format!("--{option}"), value]);
        if self.in_a_row != default.in_a_row {
            say("in-a-row", self.in_a_row.to_string());
        }
        if self.communicators != default.communicators {
            say("communicators", self.communicators.to_string());
        }
        if self.late > 0.0 {
            say("late", self.late.to_string());
        }
        words.extend(self.roots_in_turn.then(|| "--roots-in-turn".to_owned()));
        words
    }

    /// How many rows it takes until each communicator and each root has had its turn.
    pub const fn rows_of_all(&self, ranks: usize) -> u32 {
        let roots = if self.roots_in_turn { ranks as u32 } else { 1 };
        let most = if roots > self.communicators { roots } else { self.communicators };
        most.div_ceil(self.in_a_row)
    }

    /// Root of the call of that number, of a cell whose first root is `first`.
    pub const fn root(&self, first: usize, number: u32, ranks: usize) -> usize {
        if self.roots_in_turn { (first + number as usize) % ranks } else { first }
    }

    /// Place of the communicator of the call of that number among those of its variant.
    pub const fn communicator(&self, number: u32) -> usize {
        (number % self.communicators) as usize
    }

    /// Seconds that `rank` computes before the call of that number. Ranks are late in an order in which neighbours in a
    /// tree or a ring do not follow one another.
    pub const fn late(&self, rank: usize, number: u32, ranks: usize) -> f64 {
        const STRIDE: usize = 0x9E37_79B1;
        if (number as usize).wrapping_mul(STRIDE) % ranks == rank { self.late } else { 0.0 }
    }
}

impl std::fmt::Display for Pattern {
    /// In words, for a heading.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.in_a_row == 1 {
            f.write_str("each call after a barrier")?;
        } else {
            write!(f, "{} calls in a row", self.in_a_row)?;
        }
        if self.communicators > 1 {
            write!(f, ", {} communicators in turn", self.communicators)?;
        }
        if self.roots_in_turn {
            f.write_str(", roots in turn")?;
        }
        if self.late > 0.0 {
            write!(f, ", one rank {} us late", self.late * 1e6)?;
        }
        Ok(())
    }
}

/// Reads a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "accepted: a number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns() {
        let pattern = Pattern { in_a_row: 10, communicators: 3, roots_in_turn: true, late: 1e-5 };
        assert_eq!([0, 1, 2, 3].map(|number| pattern.root(2, number, 4)), [2, 3, 0, 1]);
        assert_eq!([0, 1, 2, 3].map(|number| pattern.communicator(number)), [0, 1, 2, 0]);
        for ranks in [2, 3, 4, 8] {
            let late = |number| (0..ranks).filter(|rank| pattern.late(*rank, number, ranks) > 0.0).count();
            assert!((0..100).all(|number| late(number) == 1), "{ranks}");
        }
        assert_eq!([2, 4, 11, 40].map(|ranks| pattern.rows_of_all(ranks)), [1, 1, 2, 4]);
        assert_eq!(Pattern { in_a_row: 1, roots_in_turn: false, ..pattern }.rows_of_all(8), 3);
        let alone = Pattern::default();
        assert_eq!((alone.root(2, 9, 4), alone.communicator(9), alone.late(0, 0, 4)), (2, 0, 0.0));
        assert_eq!(
            pattern.to_string(),
            "10 calls in a row, 3 communicators in turn, roots in turn, one rank 10 us late"
        );
    }
}
