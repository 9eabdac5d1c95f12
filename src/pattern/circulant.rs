//! Circulant graphs: every rank has neighbours at the same distances, so p need be no power of two.

use smallvec::SmallVec;

/// One round: blocks `distance..reach`, counted from a rank's own, belong to ranks that are reached over `distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// How far the neighbours of this round are.
    pub distance: usize,
    /// The `distance` of the round before, p at first: reach − distance blocks are exchanged.
    pub reach: usize,
}

impl Round {
    /// Number of blocks that go each way.
    pub const fn blocks(self) -> usize {
        self.reach - self.distance
    }
}

/// The ⌈log2 p⌉ rounds of `ranks` ranks, the farthest first: the reach is halved, rounding up, until it is 1.
pub fn rounds(ranks: usize) -> SmallVec<[Round; 16]> {
    let mut rounds = SmallVec::new();
    let mut reach = ranks;
    while reach > 1 {
        let distance = reach.div_ceil(2);
        rounds.push(Round { distance, reach });
        reach = distance;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;

    #[test]
    fn every_block_is_sent_once_and_every_rank_contributes_once_to_each() {
        for p in 1..=64 {
            let rounds = rounds(p);
            assert_eq!(rounds.len(), ceil_log2(p) as usize);
            assert_eq!(rounds.iter().map(|round| round.blocks()).sum::<usize>(), p - 1);
            // By rotation it is enough to look at rank 0: parts[i] are the contributors to what it holds of block i.
            let mut parts: Vec<Vec<usize>> = vec![vec![0]; p];
            for round in &rounds {
                let before = parts.clone();
                for i in 0..round.blocks() {
                    // Rank p − distance sends what is its block i + distance.
                    let theirs = before[i + round.distance].iter().map(|rank| (rank + p - round.distance) % p);
                    parts[i].extend(theirs);
                }
            }
            parts[0].sort_unstable();
            assert_eq!(parts[0], (0..p).collect::<Vec<_>>());
        }
    }
}
