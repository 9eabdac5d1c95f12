//! The binomial negabinary tree as a [`Tree`].

use super::range_tree::RangeTree;
use super::tree::{Links, Tree};

/// The Bine tree of `ranks` ranks; numbers are positions, and a subtree is a run of them.
#[derive(Clone, Copy, Debug)]
pub struct Bine {
    /// p.
    pub ranks: usize,
}

impl Tree for Bine {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn root(&self) -> usize {
        RangeTree::Bine.whole(self.ranks).node
    }

    fn links(&self, v: usize) -> Links {
        let (subtree, parent) = RangeTree::Bine.find(self.ranks, v);
        Links::new(v, parent, RangeTree::Bine.children(subtree).map(|child| child.node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn bine_trees_are_trees_with_consecutive_subtrees_of_the_fewest_rounds() {
        for ranks in 1..=64 {
            let tree = Bine { ranks };
            check::is_tree(&tree);
            check::keeps_order(&tree);
            check::rounds_are_as_counted(&tree);
            assert_eq!(rounds(&tree, 1), ceil_log2(ranks) as usize);
        }
    }
}
