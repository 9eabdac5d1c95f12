//! How the bytes of all ranks travel to rank 0: up a binomial tree, in pieces that an `int` counts. Arithmetic only.

use std::ops::Range;

/// Most bytes of one message. MPI counts in `int`; and what the MPI library holds on the way stays small.
pub const PIECE: usize = 64 << 20;

/// The parts of so many bytes that travel one by one; none of no bytes.
pub fn pieces(length: u64, most: usize) -> impl Iterator<Item = Range<u64>> {
    let most = most.max(1) as u64;
    (0..length.div_ceil(most)).map(move |piece| piece * most..((piece + 1) * most).min(length))
}

/// The ranks that `rank` of `size` hears of, nearest first. It ends up with those from `rank` on in one range: its own,
/// then the range of each child in turn.
pub fn children(rank: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> {
    let bits = if rank == 0 { usize::BITS } else { rank.trailing_zeros() };
    let least = (usize::BITS - size.saturating_sub(1).leading_zeros()).min(bits);
    (0..least).map(move |bit| rank + (1 << bit)).filter(move |child| *child < size)
}

/// Whom `rank` tells; rank 0 nobody.
pub const fn parent(rank: usize) -> Option<usize> {
    match rank {
        0 => None,
        rank => Some(rank & (rank - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_one_another_and_an_int_counts_each() {
        for length in [0, 1, PIECE as u64 - 1, PIECE as u64, PIECE as u64 + 1, (1 << 31) + 5, (1 << 32) + 1, 1 << 45] {
            let mut end = 0;
            for piece in pieces(length, PIECE) {
                assert_eq!(piece.start, end);
                assert!(piece.end > piece.start && piece.end - piece.start <= i32::MAX as u64);
                end = piece.end;
            }
            assert_eq!(end, length);
        }
    }

    #[test]
    fn every_rank_is_heard_once_and_in_order() {
        for size in (1..=70).chain([1000, 4095, 4096, 4097, 27_000, 65_535, 65_536]) {
            // The ranks from each one on that it knows of in the end: children have higher numbers.
            let mut known = vec![0usize; size];
            for rank in (0..size).rev() {
                let mut end = rank + 1;
                for child in children(rank, size) {
                    assert_eq!((child, parent(child)), (end, Some(rank)), "{size} ranks");
                    end += known[child];
                }
                known[rank] = end - rank;
            }
            assert_eq!(known[0], size);
            assert!(children(0, size).count() <= 17, "rank 0 of {size} hears of few");
        }
    }

    #[test]
    fn sums_beyond_what_an_int_counts_arrive_whole() {
        // 65,536 ranks with 100 KiB each that nothing merges: 6.25 GiB at rank 0, the longest way that there is.
        let (size, each) = (65_536, 100 << 10);
        let mut held = vec![0u64; size];
        let mut messages = 0;
        for rank in (0..size).rev() {
            held[rank] = each + children(rank, size).map(|child| held[child]).sum::<u64>();
            messages += pieces(held[rank], PIECE).count();
        }
        assert_eq!(held[0], size as u64 * each);
        assert!(held[0] > u64::from(u32::MAX));
        assert!(messages < 2 * size);
    }
}
