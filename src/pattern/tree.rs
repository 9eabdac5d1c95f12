//! What all trees have in common: who is above me, who is below me, and how long a message takes to go through.
//!
//! A tree numbers its ranks 0 … p−1 by its own order; [`Tree::rooted`] turns the numbers so that any rank is its root.

use smallvec::SmallVec;

/// A child as its parent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its number, or its rank in links that are renumbered.
    pub number: usize,
    /// Whether its subtree comes before the parent in the tree's order, so that it is folded on the left.
    pub before: bool,
}

/// One rank's neighbours in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Above; none at the root.
    pub parent: Option<usize>,
    /// Below, in the order in which a message is sent down that comes up as well (see [`Tree::downward`] for one that does
    /// not). Contributions come up in the reverse of it, and trees that keep rank order list their children so that each
    /// one, in that reverse order, borders on what is folded already.
    pub children: SmallVec<[Child; 8]>,
}

impl Links {
    /// Links of number `v`.
    pub fn new(v: usize, parent: Option<usize>, children: impl IntoIterator<Item = usize>) -> Self {
        let children = children.into_iter().map(|number| Child { number, before: number < v }).collect();
        Self { parent, children }
    }

    /// The same links with every number replaced by `rank(number)`.
    pub fn renumbered(mut self, rank: impl Fn(usize) -> usize) -> Self {
        self.parent = self.parent.map(&rank);
        for child in &mut self.children {
            child.number = rank(child.number);
        }
        self
    }
}

/// A tree over the numbers 0 … p−1.
pub trait Tree {
    /// p.
    fn ranks(&self) -> usize;

    /// The number of the root.
    fn root(&self) -> usize {
        0
    }

    /// Neighbours of number `v`.
    fn links(&self, v: usize) -> Links;

    /// [`Links`] of number `v` where nothing comes up: a tree that keeps rank order may serve its children in another
    /// order then. Those with the most below them come first, and among equals the nearest: a program whose roots take
    /// turns has the next root there, which can go on as soon as it has its message.
    fn downward(&self, v: usize) -> Links {
        self.links(v)
    }

    /// Neighbours of rank `rank`, as ranks, when the ranks are turned so that `root` is at the tree's root.
    fn rooted(&self, rank: usize, root: usize) -> Links {
        let p = self.ranks();
        let shift = (root + p - self.root()) % p;
        self.links((rank + p - shift) % p).renumbered(|number| (number + shift) % p)
    }
}

/// A tree as a broadcast goes down it; see [`Tree::downward`].
pub struct Downward<'a>(pub &'a dyn Tree);

impl Tree for Downward<'_> {
    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    fn root(&self) -> usize {
        self.0.root()
    }

    fn links(&self, v: usize) -> Links {
        self.0.downward(v)
    }
}

/// Rounds until the last rank has the last of `segments` segments, if every rank sends one message at a time and sends
/// each segment to all its children before the next. Reductions, the same backwards, take as long.
///
/// A rank that gets the first segment in round a and whose busiest ancestor has d children gets segment j in round
/// a + j·d: that ancestor sets the pace for all below.
pub fn rounds(tree: &dyn Tree, segments: usize) -> usize {
    struct Arrival {
        v: usize,
        first: usize,
        pace: usize,
    }
    let mut queue = Vec::with_capacity(tree.ranks());
    queue.push(Arrival { v: tree.root(), first: 0, pace: 0 });
    let mut last = 0;
    let mut next = 0;
    while let Some(&Arrival { v, first, pace }) = queue.get(next) {
        next += 1;
        let children = tree.links(v).children;
        let pace = pace.max(children.len());
        for (place, child) in children.iter().enumerate() {
            let first = first + place + 1;
            last = last.max(first + (segments - 1) * pace);
            queue.push(Arrival { v: child.number, first, pace });
        }
    }
    last
}

/// Edges between number `v` and the root.
pub fn depth(tree: &dyn Tree, v: usize) -> usize {
    std::iter::successors(tree.links(v).parent, |parent| tree.links(*parent).parent).count()
}

/// The most children that any rank has.
pub fn widest(tree: &dyn Tree) -> usize {
    (0..tree.ranks()).map(|v| tree.links(v).children.len()).max().unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod check {
    use super::*;
    use std::ops::Range;

    /// Asserts that parents and children agree, that everyone hangs below the root, and that turning keeps all that.
    pub fn is_tree(tree: &dyn Tree) {
        let p = tree.ranks();
        let mut reached = vec![false; p];
        let mut stack = vec![tree.root()];
        assert_eq!(tree.links(tree.root()).parent, None, "p = {p}");
        while let Some(v) = stack.pop() {
            assert!(!std::mem::replace(&mut reached[v], true), "p = {p}: {v} is reached twice");
            for child in tree.links(v).children {
                assert_eq!(tree.links(child.number).parent, Some(v), "p = {p}");
                assert_eq!(child.before, child.number < v);
                stack.push(child.number);
            }
        }
        assert!(reached.iter().all(|reached| *reached), "p = {p}: {reached:?}");
        for root in 0..p {
            assert_eq!(tree.rooted(root, root).parent, None);
            for rank in 0..p {
                for child in tree.rooted(rank, root).children {
                    assert_eq!(tree.rooted(child.number, root).parent, Some(rank), "p = {p}, root {root}");
                }
            }
        }
    }

    /// Asserts that folding each rank's children in turn only ever joins neighbouring runs of ranks.
    pub fn keeps_order(tree: &dyn Tree) {
        assert_eq!(run(tree, tree.root()), 0..tree.ranks());
    }

    fn run(tree: &dyn Tree, v: usize) -> Range<usize> {
        let mut held = v..v + 1;
        for child in tree.links(v).children.iter().rev() {
            let part = run(tree, child.number);
            let (left, right) = if child.before { (part, held) } else { (held, part) };
            assert_eq!(left.end, right.start, "p = {}, rank {v}", tree.ranks());
            held = left.start..right.end;
        }
        held
    }

    /// Rounds counted by moving every segment along every edge.
    pub fn counted_rounds(tree: &dyn Tree, segments: usize) -> usize {
        let mut last = 0;
        let mut stack = vec![(tree.root(), vec![0; segments])];
        while let Some((v, arrivals)) = stack.pop() {
            let children = tree.links(v).children;
            let mut below = vec![Vec::new(); children.len()];
            let mut free = 0;
            for arrival in arrivals {
                last = last.max(arrival);
                for times in &mut below {
                    free = free.max(arrival) + 1;
                    times.push(free);
                }
            }
            stack.extend(children.iter().map(|child| child.number).zip(below));
        }
        last
    }

    /// Asserts the closed form of [`rounds`] for up to 9 segments.
    pub fn rounds_are_as_counted(tree: &dyn Tree) {
        for segments in 1..=9 {
            assert_eq!(rounds(tree, segments), counted_rounds(tree, segments), "p = {}", tree.ranks());
        }
    }
}
