//! Sparbit: blocks leap over the farthest distance first, and each later leap fills the gaps between those held.

use super::hypercube::ceil_log2;
use std::ops::Range;

/// One round: every rank sends `blocks` blocks to the rank `distance` above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leap {
    /// Ranks between sender and receiver.
    pub distance: usize,
    /// Blocks in the message.
    pub blocks: usize,
    ranks: usize,
}

/// The rounds among `ranks` ranks: distances 2^(q−1), …, 2, 1.
///
/// After the round of distance d, rank r holds the blocks of the ranks r − j·d for 0 ≤ j < ⌈p/d⌉.
pub fn leaps(ranks: usize) -> impl Iterator<Item = Leap> {
    (0..ceil_log2(ranks)).rev().map(move |k| {
        let distance = 1usize << k;
        Leap { distance, blocks: ranks.div_ceil(distance) - ranks.div_ceil(2 * distance), ranks }
    })
}

impl Leap {
    /// Who gets the message of `rank`.
    pub const fn to(&self, rank: usize) -> usize {
        (rank + self.distance) % self.ranks
    }

    /// Who sends `rank` a message.
    pub const fn from(&self, rank: usize) -> usize {
        (rank + self.ranks - self.distance) % self.ranks
    }

    /// The blocks that `rank` sends, each as a run of ranks.
    pub fn outgoing(self, rank: usize) -> impl Iterator<Item = Range<usize>> + Clone {
        (0..self.blocks).map(move |j| {
            let block = (rank + self.ranks - 2 * j * self.distance) % self.ranks;
            block..block + 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_reach_all_ranks_once() {
        for p in 1..=130 {
            let mut held: Vec<Vec<bool>> = (0..p).map(|r| (0..p).map(|block| block == r).collect()).collect();
            let mut rounds = 0;
            for leap in leaps(p) {
                let before = held.clone();
                for r in 0..p {
                    let from = leap.from(r);
                    assert_eq!(leap.to(from), r);
                    for block in leap.outgoing(from).flatten() {
                        assert!(before[from][block]);
                        assert!(!std::mem::replace(&mut held[r][block], true));
                    }
                    let expected = p.div_ceil(leap.distance);
                    assert_eq!(held[r].iter().filter(|held| **held).count(), expected);
                    assert!((0..expected).all(|j| held[r][(r + p - j * leap.distance) % p]));
                }
                rounds += 1;
            }
            assert_eq!(rounds, ceil_log2(p));
            assert!(held.into_iter().flatten().all(|held| held));
        }
    }
}
