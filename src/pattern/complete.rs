//! Complete k-ary trees, filled level by level.

use super::tree::{Links, Tree};

/// The complete tree in which number v has the children kv + 1 … kv + k as far as there are ranks.
#[derive(Clone, Copy, Debug)]
pub struct Complete {
    /// p.
    pub ranks: usize,
    /// k, at least 1.
    pub radix: usize,
}

impl Complete {
    /// Edges from the root to the last rank.
    pub const fn height(&self) -> usize {
        let (mut height, mut v) = (0, self.ranks - 1);
        while v > 0 {
            v = (v - 1) / self.radix;
            height += 1;
        }
        height
    }
}

impl Tree for Complete {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn links(&self, v: usize) -> Links {
        let first = v.saturating_mul(self.radix).saturating_add(1).min(self.ranks);
        let children = first..first.saturating_add(self.radix).min(self.ranks);
        Links::new(v, v.checked_sub(1).map(|before| before / self.radix), children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn complete_trees_are_trees_of_least_height() {
        for ranks in 1..=64 {
            for radix in [1, 2, 3, 4, 7, 64, usize::MAX] {
                let tree = Complete { ranks, radix };
                check::is_tree(&tree);
                check::rounds_are_as_counted(&tree);
                let (mut level, mut room, mut height) = (1usize, 1usize, 0);
                while room < ranks {
                    level = level.saturating_mul(radix);
                    room = room.saturating_add(level);
                    height += 1;
                }
                assert_eq!(tree.height(), height);
                assert!(rounds(&tree, 1) <= height * radix.min(ranks));
            }
        }
    }
}
