//! Ranks on a circle: a rank's neighbours past the last rank are the first ones.

use std::ops::Range;

/// `len` neighbouring ranks of a circle of `ranks`, from `start` upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    start: usize,
    len: usize,
    ranks: usize,
}

impl Arc {
    /// `len ≤ ranks` neighbours from `start` (any multiple of `ranks` may lie on top) upwards.
    pub const fn new(start: usize, len: usize, ranks: usize) -> Self {
        Self { start: start % ranks, len, ranks }
    }

    /// Its first rank.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// Number of ranks on it.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no rank is on it.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The arc in rank order from its start: one run of ranks, and a second one (else empty) if it passes the last
    /// rank.
    pub const fn runs(&self) -> [Range<usize>; 2] {
        let end = self.start + self.len;
        if end <= self.ranks { [self.start..end, 0..0] } else { [self.start..self.ranks, 0..end - self.ranks] }
    }

    /// Whether it passes the last rank.
    pub const fn wraps(&self) -> bool {
        self.start + self.len > self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::Arc;

    #[test]
    fn the_runs_of_an_arc_are_its_ranks_in_order() {
        for ranks in 1..=64 {
            for start in 0..2 * ranks {
                for len in 0..=ranks {
                    let arc = Arc::new(start, len, ranks);
                    let expected: Vec<_> = (start..start + len).map(|rank| rank % ranks).collect();
                    let [first, second] = arc.runs();
                    assert_eq!(arc.wraps(), !second.is_empty());
                    assert_eq!(first.chain(second).collect::<Vec<_>>(), expected);
                }
            }
        }
    }
}
