//! Binary trees whose subtrees are runs of consecutive numbers, so that reductions keep rank order.

use super::tree::{Links, Tree};

/// The binary tree whose root comes after all others: below the root of a run lie the two halves of the rest, the
/// upper one (ending right before the root) the larger by at most one.
#[derive(Clone, Copy, Debug)]
pub struct Postorder {
    /// p.
    pub ranks: usize,
}

impl Tree for Postorder {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn root(&self) -> usize {
        self.ranks - 1
    }

    fn links(&self, v: usize) -> Links {
        // The run is `start..=top`; the walk goes down from the whole of it until its root is v.
        let (mut start, mut top, mut parent) = (0, self.ranks - 1, None);
        while top != v {
            parent = Some(top);
            let lower_top = start + (top - start) / 2;
            if v < lower_top {
                top = lower_top - 1;
            } else {
                (start, top) = (lower_top, top - 1);
            }
        }
        let below = top - start;
        let upper = (below > 0).then(|| top - 1);
        let lower = (below > 1).then(|| start + below / 2 - 1);
        Links::new(v, parent, lower.into_iter().chain(upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::tree::check;

    #[test]
    fn ordered_trees_are_trees_with_consecutive_subtrees() {
        for ranks in 1..=64 {
            let tree = Postorder { ranks };
            check::is_tree(&tree);
            check::keeps_order(&tree);
            check::rounds_are_as_counted(&tree);
        }
    }
}
