//! Round-optimal broadcast of blocks on a circulant graph: which block a rank sends and receives in which round.
//!
//! With q = ⌈log2 p⌉, round i exchanges over the distance of k = i mod q: number v sends to v + skip_k and receives
//! from v − skip_k. Over q rounds v receives one new block of its own (its base block, which starts with it) and q − 1
//! others, each of them q blocks further on in every next phase of q rounds; so two lists of q entries say it all.

use super::circulant::rounds;
use smallvec::{SmallVec, smallvec};

/// A list with one entry per distance.
type List<T> = SmallVec<[T; 16]>;

/// Marks the end of the list of candidates.
const NONE: usize = usize::MAX;

/// What one number does among `ranks`; number 0 has all blocks at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSchedule {
    ranks: usize,
    v: usize,
    /// Distances, the shortest first, and p.
    skips: List<usize>,
    /// Block received over each distance in phase 0; negative where the phase before would have been meant.
    receive: List<isize>,
    /// Block sent over each distance in phase 0.
    send: List<isize>,
}

/// One round of one number: whom to send which block, and which block to receive from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Number and block.
    pub send: Option<(usize, usize)>,
    /// Number and block.
    pub receive: Option<(usize, usize)>,
}

impl BlockSchedule {
    /// The schedule of number `v`, in O(q²) steps.
    pub fn new(ranks: usize, v: usize) -> Self {
        let skips: List<usize> = rounds(ranks).iter().rev().map(|round| round.distance).chain([ranks]).collect();
        let receive = receive_list(&skips, v);
        let q = skips.len() - 1;
        // What is sent is what the other side receives.
        let send = (0..q).map(|k| receive_list(&skips, (v + skips[k]) % ranks)[k]).collect();
        Self { ranks, v, skips, receive, send }
    }

    /// Rounds for `blocks` blocks: as few as there can be with one port.
    pub fn rounds(&self, blocks: usize) -> usize {
        if self.ranks == 1 { 0 } else { blocks - 1 + self.receive.len() }
    }

    /// Round `round` of the broadcast of `blocks` blocks. Every number but 0 receives every block exactly once.
    pub fn exchange(&self, round: usize, blocks: usize) -> Exchange {
        let (p, q) = (self.ranks, self.receive.len());
        // The last phase is a full one; the rounds that the first one lacks would have moved nothing.
        let missing = (q - (blocks - 1) % q) % q;
        let (phase, k) = ((round + missing) / q, (round + missing) % q);
        let block = |first: isize| {
            let block = first + (phase * q) as isize - missing as isize;
            // Base blocks beyond the last one stand for the last one.
            usize::try_from(block).ok().map(|block| block.min(blocks - 1))
        };
        let (to, from) = ((self.v + self.skips[k]) % p, (self.v + p - self.skips[k]) % p);
        Exchange {
            send: block(self.send[k]).filter(|_| to != 0).map(|block| (to, block)),
            receive: block(self.receive[k]).filter(|_| self.v != 0).map(|block| (from, block)),
        }
    }
}

/// The distance over which the first block of number `v` comes: the last one of the greedy sum of distances that makes
/// v. For number 0, q.
fn base_block(skips: &[usize], v: usize) -> usize {
    let q = skips.len() - 1;
    let mut sum = 0;
    for k in (0..q).rev() {
        if sum + skips[k] <= v {
            sum += skips[k];
        }
        if sum == v && sum > 0 {
            return k;
        }
    }
    q
}

/// The receive list of number `v`.
fn receive_list(skips: &[usize], v: usize) -> List<isize> {
    let (p, q) = (skips[skips.len() - 1], skips.len() - 1);
    let base = base_block(skips, v);
    let mut search = Search {
        skips,
        target: p + v,
        bound: 2 * p,
        next: (0..=q).map(|k| k.checked_sub(1).unwrap_or(NONE)).collect(),
        before: (0..=q).map(|k| if k == q { NONE } else { k + 1 }).collect(),
        found: smallvec![],
    };
    let first = if base == q { search.next[q] } else { q };
    search.unlink(base);
    search.descend(0, first);
    search.found.iter().map(|k| if *k == q { base as isize } else { *k as isize - q as isize }).collect()
}

/// Depth-first search for numbers that can pass on the base block of each other kind in time: for every distance k the
/// nearest number, at least skip_k and less than skip_k+1 before the target, whose path from 0 has not been used.
struct Search<'a> {
    skips: &'a [usize],
    target: usize,
    bound: usize,
    next: List<usize>,
    before: List<usize>,
    found: List<usize>,
}

impl Search<'_> {
    fn descend(&mut self, sum: usize, first: usize) {
        let q = self.skips.len() - 1;
        let mut candidate = first;
        while candidate != NONE {
            let there = sum + self.skips[candidate];
            if there + self.skips[self.found.len()] <= self.target && there < self.bound {
                if there + self.skips[self.found.len() + 1] <= self.target {
                    self.descend(there, candidate);
                }
                if self.found.len() == q || sum + self.skips[self.found.len() + 1] > self.target {
                    return;
                }
                self.bound = there;
                self.found.push(candidate);
                self.unlink(candidate);
                if self.found.len() == q {
                    return;
                }
            }
            candidate = self.next[candidate];
        }
    }

    fn unlink(&mut self, candidate: usize) {
        let (before, next) = (self.before[candidate], self.next[candidate]);
        if before != NONE {
            self.next[before] = next;
        }
        if next != NONE {
            self.before[next] = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;

    /// Runs the schedule round by round: both sides agree, nothing is sent before it is there, all is received once.
    fn check(ranks: usize, blocks: usize) {
        let schedules: Vec<_> = (0..ranks).map(|v| BlockSchedule::new(ranks, v)).collect();
        let mut held = vec![vec![false; blocks]; ranks];
        held[0] = vec![true; blocks];
        for round in 0..schedules[0].rounds(blocks) {
            let exchanges: Vec<_> = schedules.iter().map(|schedule| schedule.exchange(round, blocks)).collect();
            let before = held.clone();
            for v in 0..ranks {
                if let Some((to, block)) = exchanges[v].send {
                    assert_eq!(exchanges[to].receive, Some((v, block)), "p = {ranks}, B = {blocks}");
                    assert!(before[v][block], "p = {ranks}, B = {blocks}: {v} sends {block} in round {round}");
                }
                if let Some((from, block)) = exchanges[v].receive {
                    assert_eq!(exchanges[from].send, Some((v, block)));
                    assert!(!std::mem::replace(&mut held[v][block], true), "p = {ranks}, B = {blocks}: twice");
                }
            }
        }
        assert!(held.iter().flatten().all(|held| *held), "p = {ranks}, B = {blocks}");
    }

    #[test]
    fn every_rank_receives_every_block_once_in_the_fewest_rounds() {
        for ranks in 2..=200 {
            assert_eq!(BlockSchedule::new(ranks, 1).rounds(7), 6 + ceil_log2(ranks) as usize);
            for blocks in if ranks <= 64 { vec![1, 2, 3, 4, 5, 6, 7, 11, 16] } else { vec![1, 9] } {
                check(ranks, blocks);
            }
        }
    }
}
