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

/// How the rest of a run is divided between the two children of its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// In halves; the far one is the larger by at most one.
    Halves,
    /// As in Fibonacci trees: the far child, which is served first, has the more below it, so that both are finished in
    /// the same round.
    Fibonacci,
}

impl Division {
    /// How many of the `below` ranks below a root belong to its near child.
    pub const fn near(self, below: usize) -> usize {
        match self {
            Self::Halves => below / 2,
            Self::Fibonacci => {
                // The smallest Fibonacci tree that holds them has `large` and `small` below its root.
                let (mut small, mut large) = (0, 1);
                while small + large < below {
                    (small, large) = (large, small + large + 1);
                }
                below * small / (small + large)
            }
        }
    }
}

/// Rounds until one message has gone through a Fibonacci tree of `ranks` ranks.
pub fn fibonacci_rounds(ranks: usize) -> usize {
    let sizes = std::iter::successors(Some((0, 1)), |(small, large)| Some((*large, small + large + 1)));
    sizes.take_while(|(_, size)| *size < ranks).count()
}

/// A binary tree whose root comes before all others: the near child is the next number, the far one follows on the near
/// one's subtree.
#[derive(Clone, Copy, Debug)]
pub struct Preorder {
    /// p.
    pub ranks: usize,
    /// How ranks are divided.
    pub division: Division,
}

impl Tree for Preorder {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        // The run is `start..end`; the walk goes down from the whole of it until its root is v.
        let (mut start, mut end, mut parent) = (0, self.ranks, None);
        let far = |start: usize, end: usize| start + 1 + self.division.near(end - start - 1);
        while start != v {
            parent = Some(start);
            let middle = far(start, end);
            if v < middle {
                (start, end) = (start + 1, middle);
            } else {
                start = middle;
            }
        }
        let middle = far(start, end);
        let near = (start + 1 < middle).then_some(start + 1);
        let far = (middle < end).then_some(middle);
        Links::new(v, parent, far.into_iter().chain(near))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::floor_log2;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn ordered_trees_are_trees_with_consecutive_subtrees() {
        for ranks in 1..=64 {
            let trees: [&dyn Tree; 3] = [
                &Postorder { ranks },
                &Preorder { ranks, division: Division::Halves },
                &Preorder { ranks, division: Division::Fibonacci },
            ];
            for tree in trees {
                check::is_tree(tree);
                check::keeps_order(tree);
                check::rounds_are_as_counted(tree);
            }
            for tree in &trees[..2] {
                assert!(rounds(*tree, 1) <= 2 * floor_log2(ranks) as usize);
            }
        }
    }

    #[test]
    fn fibonacci_trees_grow_by_one_round_per_fibonacci_number() {
        // Sizes 1, 2, 4, 7, 12, 20, … are the most that can be reached in 0, 1, 2, … rounds with two children each.
        let (mut smaller, mut size) = (0, 1);
        for round in 0..9 {
            for ranks in smaller + 1..=size {
                assert_eq!(rounds(&Preorder { ranks, division: Division::Fibonacci }, 1), round, "p = {ranks}");
                assert_eq!(fibonacci_rounds(ranks), round);
            }
            (smaller, size) = (size, 1 + smaller + size);
        }
    }
}
