//! A count of units cut into one block per rank.

use std::ops::Range;

/// `count` units cut into `ranks` blocks in order, sizes differing by at most one unit, the larger ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    count: usize,
    ranks: usize,
}

impl Blocks {
    /// Cuts `count` units into `ranks` blocks.
    pub const fn new(count: usize, ranks: usize) -> Self {
        Self { count, ranks }
    }

    /// Number of blocks.
    pub const fn ranks(&self) -> usize {
        self.ranks
    }

    /// First unit of block `block`, for `block` in `0..=ranks` (the last is `count`).
    pub const fn start(&self, block: usize) -> usize {
        let (small, larger) = (self.count / self.ranks, self.count % self.ranks);
        small * block + if block < larger { block } else { larger }
    }

    /// Units of block `block`.
    pub const fn units(&self, block: usize) -> Range<usize> {
        self.start(block)..self.start(block + 1)
    }

    /// Units of the blocks `blocks`.
    pub const fn span(&self, blocks: Range<usize>) -> Range<usize> {
        self.start(blocks.start)..self.start(blocks.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn blocks_cover_all_units_in_order_and_differ_by_one_at_most() {
        for ranks in 1..=64 {
            for count in [0, 1, ranks - 1, ranks, ranks + 1, 7 * ranks + 3, 1009] {
                let blocks = Blocks::new(count, ranks);
                assert_eq!((blocks.start(0), blocks.start(ranks)), (0, count));
                for block in 0..ranks {
                    let len = blocks.units(block).len();
                    assert!(len == count / ranks || len == count / ranks + 1);
                }
            }
        }
    }
}
