//! Halving of a linear array: the message goes to the head of the far half first, then each half does the same.

use super::tree::{Links, Tree};

/// The tree of the halving of `ranks` ranks in a row. No two messages of one round cross the same link.
#[derive(Clone, Copy, Debug)]
pub struct LinearArray {
    /// p.
    pub ranks: usize,
}

impl Tree for LinearArray {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        // The run is `start..start + len`, headed by its first number; its far half is the smaller by at most one.
        let (mut start, mut len, mut parent) = (0, self.ranks, None);
        while start != v {
            let kept = len.div_ceil(2);
            if v < start + kept {
                len = kept;
            } else {
                parent = Some(start);
                (start, len) = (start + kept, len - kept);
            }
        }
        let lengths = std::iter::successors(Some(len), |len| Some(len.div_ceil(2))).take_while(|len| *len > 1);
        Links::new(v, parent, lengths.map(|len| v + len.div_ceil(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn halving_is_a_tree_with_consecutive_subtrees_and_takes_the_fewest_rounds() {
        for ranks in 1..=64 {
            let tree = LinearArray { ranks };
            check::is_tree(&tree);
            check::keeps_order(&tree);
            check::rounds_are_as_counted(&tree);
            assert_eq!(rounds(&tree, 1), ceil_log2(ranks) as usize);
        }
    }
}
