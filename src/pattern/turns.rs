//! Allgathers in which every rank holds neighbouring blocks of the circle of ranks and gets more of them in each turn.

use super::circle::Arc;
use super::circulant::rounds;
use super::hypercube::ceil_log2;

/// One rank's side of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who gets `outgoing`.
    pub to: usize,
    /// Blocks sent.
    pub outgoing: Arc,
    /// Who sends `incoming`.
    pub from: usize,
    /// Blocks received.
    pub incoming: Arc,
}

/// The circulant graph whose skips halve the number of ranks: with s_k = ⌈p / 2^(q−k)⌉, rank r holds the s_k blocks
/// from its own upwards before turn k, and gets the next s_(k+1) − s_k from the rank s_k above it.
pub fn circulant(p: usize, r: usize) -> impl Iterator<Item = Turn> {
    rounds(p).into_iter().rev().map(move |round| {
        let (held, fresh) = (round.distance, round.blocks());
        Turn {
            to: (r + p - held) % p,
            outgoing: Arc::new(r, fresh, p),
            from: (r + held) % p,
            incoming: Arc::new(r + held, fresh, p),
        }
    })
}

/// The Bine butterfly: even ranks meet r + 1, r − 1, r + 3, r − 5, r + 11, …, odd ones the other way round; the blocks
/// held grow by turns upwards and downwards.
///
/// With an odd number of ranks there is no such pairing, since two even ranks are neighbours on the circle; then all
/// ranks grow the same way and get the blocks from the next rank that holds no block twice.
pub fn bine(p: usize, r: usize) -> impl Iterator<Item = Turn> {
    let pairs = p.is_multiple_of(2);
    let (mut below, mut above) = (0, 0);
    (0..ceil_log2(p)).map(move |k| {
        let held = below + above + 1;
        let fresh = held.min(p - held);
        let up = (k % 2 == 0) == (r.is_multiple_of(2) || !pairs);
        // Ranks are counted from r + p, so that nothing falls below zero.
        let (lowest, next) = (r + p - below, r + p + above + 1);
        let (low, high) = (Arc::new(lowest, fresh, p), Arc::new(next - fresh, fresh, p));
        let incoming = if up { Arc::new(next, fresh, p) } else { Arc::new(lowest - fresh, fresh, p) };
        let turn = if pairs {
            let partner = (if up { next + above } else { lowest - 1 - below }) % p;
            Turn { to: partner, outgoing: if up { high } else { low }, from: partner, incoming }
        } else {
            let (upper, lower) = ((r + held) % p, (r + p - held) % p);
            let (to, from) = if up { (lower, upper) } else { (upper, lower) };
            Turn { to, outgoing: if up { low } else { high }, from, incoming }
        };
        if up {
            above += fresh;
        } else {
            below += fresh;
        }
        turn
    })
}

/// So many blocks of a turn of [`bine`] never lie around the end of the circle: two are those of a pair (2g, 2g + 1), unless
/// somebody is left without a partner.
pub const fn bine_together(p: usize) -> usize {
    if p.is_multiple_of(2) { 2 } else { 1 }
}

/// Neighbours that meet by turns on the left and on the right: first the two of a pair (2g, 2g + 1) share their blocks,
/// then each passes on the pair of blocks that it got last.
///
/// Needs an even number of ranks (or one). In turn k > 0 an even rank of pair g gets pair g − (k+1)/2 from the left if
/// k is odd and pair g + k/2 from the right if k is even; odd ranks mirror that.
pub fn neighbor(p: usize, r: usize) -> impl Iterator<Item = Turn> {
    let even = r.is_multiple_of(2);
    let pair = move |k: usize| {
        let up = k.is_multiple_of(2) == even;
        let distance = 2 * k.div_ceil(2);
        Arc::new(r - r % 2 + if up { distance } else { p - distance }, 2, p)
    };
    (0..p / 2).map(move |k| {
        let right = k.is_multiple_of(2) == even;
        let partner = if right { (r + 1) % p } else { (r + p - 1) % p };
        let (outgoing, incoming) =
            if k == 0 { (Arc::new(r, 1, p), Arc::new(partner, 1, p)) } else { (pair(k - 1), pair(k)) };
        Turn { to: partner, outgoing, from: partner, incoming }
    })
}

/// Rings inside groups of `size` neighbouring ranks and a ring of the groups: in the turns s divisible by `size` member
/// i of a group gets block i of the group s/size before it from the group before it, in the turns after that the other
/// blocks of that group from its neighbour inside the group.
///
/// `size` has to divide `p`.
pub fn rings(p: usize, r: usize, size: usize) -> impl Iterator<Item = Turn> {
    let (group, member) = (r / size, r % size);
    let rank = move |group: usize, member: usize| group % (p / size) * size + member % size;
    let before = move |s: usize| group + p / size - s / size;
    (1..p).map(move |s| {
        // What comes inside the group stood one member further left in the turn before.
        let (source, step) = (before(s), s % size);
        let (to, from, outgoing) = if step == 0 {
            let from = rank(group + p / size - 1, member);
            (rank(group + 1, member), from, rank(source + 1, member))
        } else {
            let (right, left) = (rank(group, member + 1), rank(group, member + size - 1));
            (right, left, rank(source, member + size - step + 1))
        };
        let incoming = rank(source, member + size - step);
        Turn { to, outgoing: Arc::new(outgoing, 1, p), from, incoming: Arc::new(incoming, 1, p) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message is expected, nobody sends what it lacks or gets what it has, and in the end all have all.
    fn check<I: Iterator<Item = Turn>>(p: usize, turns: impl Fn(usize, usize) -> I) -> usize {
        let all: Vec<Vec<Turn>> = (0..p).map(|r| turns(p, r).collect()).collect();
        let mut held: Vec<Vec<bool>> = (0..p).map(|r| (0..p).map(|block| block == r).collect()).collect();
        for k in 0..all[0].len() {
            let before = held.clone();
            for (r, turn) in all.iter().map(|turns| turns[k]).enumerate() {
                let sender = all[turn.from][k];
                assert_eq!((sender.to, sender.outgoing), (r, turn.incoming), "p = {p}, rank {r}, turn {k}");
                for block in turn.incoming.runs().into_iter().flatten() {
                    assert!(before[turn.from][block], "rank {} lacks block {block}", turn.from);
                    assert!(!std::mem::replace(&mut held[r][block], true), "rank {r} has block {block}");
                }
            }
        }
        assert!(held.into_iter().flatten().all(|held| held));
        all[0].len()
    }

    #[test]
    fn all_blocks_reach_all_ranks_once_in_as_few_turns_as_there_can_be() {
        for p in 1..=130 {
            assert_eq!(check(p, circulant), ceil_log2(p) as usize);
            assert_eq!(check(p, bine), ceil_log2(p) as usize);
        }
    }

    #[test]
    fn neighbours_pass_on_pairs() {
        for p in (2..=64).step_by(2) {
            assert_eq!(check(p, neighbor), p / 2);
        }
    }

    #[test]
    fn rings_of_rings_leave_a_group_in_one_turn_of_its_size() {
        for p in 1..=64usize {
            for size in (1..=p).filter(|size| p.is_multiple_of(*size)) {
                assert_eq!(check(p, |p, r| rings(p, r, size)), p - 1);
                for r in 0..p {
                    assert_eq!(rings(p, r, size).filter(|turn| turn.to / size != r / size).count(), p / size - 1);
                }
            }
        }
    }

    #[test]
    fn bine_partners_follow_the_alternating_sum_of_powers_of_minus_two() {
        for p in [2usize, 4, 8, 16, 32, 64] {
            for r in 0..p {
                let mut distance = 0i64;
                for (k, turn) in bine(p, r).enumerate() {
                    distance += (-2i64).pow(k as u32);
                    let sign = if r % 2 == 0 { 1 } else { -1 };
                    assert_eq!(turn.to as i64, (r as i64 + sign * distance).rem_euclid(p as i64));
                }
            }
        }
    }
}
