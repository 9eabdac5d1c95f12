//! Blocks up and down a tree whose subtrees are ranges of positions: a subtree's blocks are one message.
//!
//! The root moves blocks straight between its user buffer and the network, but for the one child at most whose ranks
//! pass the last rank: its blocks go through scratch and are copied in two parts.

use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Buffer, Comm, Range, Requests};
use crate::pattern::circle::Arc;
use crate::pattern::range_tree::{RangeTree, Subtree};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// A tree laid over the ranks of a communicator, and the block of every rank.
#[derive(Clone, Copy)]
struct Laid {
    tree: RangeTree,
    p: usize,
    root: usize,
    block: usize,
}

impl Laid {
    fn new(comm: &dyn Comm, call: &Call, tree: RangeTree) -> Self {
        Self { tree, p: comm.size(), root: call.root, block: call.count }
    }

    fn rank(&self, position: usize) -> usize {
        self.tree.rank(self.p, self.root, position)
    }

    /// The own subtree, and the parent's rank unless the own rank is the root.
    fn own(&self, rank: usize) -> (Subtree, Option<usize>) {
        let (subtree, parent) = self.tree.find(self.p, self.tree.position(self.p, self.root, rank));
        (subtree, parent.map(|parent| self.rank(parent)))
    }

    /// The children of a subtree's root in the order in which a scatter serves them: the largest first, and among equals
    /// the nearest; see [`Tree::downward`](crate::pattern::tree::Tree::downward).
    fn served(&self, subtree: Subtree) -> SmallVec<[Subtree; 8]> {
        let mut children: SmallVec<[Subtree; 8]> = self.tree.children(subtree).collect();
        children.sort_by_key(|child| (Reverse(child.len), child.start));
        children
    }

    fn arc(&self, subtree: Subtree) -> Arc {
        Arc::new(self.rank(subtree.start), subtree.len, self.p)
    }

    /// The units of `inner`'s blocks in `held`, which holds those of `outer` from its first position on.
    fn part(&self, held: Range, outer: Subtree, inner: Subtree) -> Range {
        held.part((inner.start - outer.start) * self.block, inner.len * self.block)
    }

    /// The blocks of an arc in a buffer in rank order and the same blocks side by side in `packed`, run by run.
    fn runs(&self, buffer: Buffer, arc: Arc, packed: Range) -> impl Iterator<Item = (Range, Range)> {
        let mut start = 0;
        let block = self.block;
        arc.runs().into_iter().map(move |run| {
            let len = run.len() * block;
            start += len;
            (Range { buffer, start: run.start * block, len }, packed.part(start - len, len))
        })
    }
}

/// Gathers all ranks' blocks at the root of `call` up `tree`.
pub fn gather(comm: &mut dyn Comm, call: &Call, tree: RangeTree) {
    let laid = Laid::new(comm, call, tree);
    let own = Range::send(0, laid.block);
    match laid.own(comm.rank()) {
        (whole, None) => gather_at_root(comm, laid, whole),
        (leaf, Some(parent)) if leaf.len == 1 => comm.send(parent, own),
        (subtree, Some(parent)) => {
            let held = comm.scratch(subtree.len * laid.block);
            let mut arriving = Requests::new();
            for child in tree.children(subtree) {
                arriving.push(comm.irecv(laid.rank(child.node), laid.part(held, subtree, child)));
            }
            comm.copy(own, laid.part(held, subtree, subtree.itself()));
            comm.wait(&arriving);
            comm.send(parent, held);
        }
    }
}

fn gather_at_root(comm: &mut dyn Comm, laid: Laid, whole: Subtree) {
    let mut arriving = Requests::new();
    let mut wrapped = None;
    for child in laid.tree.children(whole) {
        let arc = laid.arc(child);
        let into = if arc.wraps() {
            let packed = comm.scratch(child.len * laid.block);
            wrapped = Some((arc, packed));
            packed
        } else {
            Range::receive(laid.rank(child.start) * laid.block, child.len * laid.block)
        };
        arriving.push(comm.irecv(laid.rank(child.node), into));
    }
    comm.copy(Range::send(0, laid.block), Range::receive(laid.root * laid.block, laid.block));
    comm.wait(&arriving);
    if let Some((arc, packed)) = wrapped {
        for (place, part) in laid.runs(Buffer::Receive, arc, packed) {
            comm.copy(part, place);
        }
    }
}

/// Scatters the blocks of the root of `call` to all ranks down `tree`.
pub fn scatter(comm: &mut dyn Comm, call: &Call, tree: RangeTree) {
    let laid = Laid::new(comm, call, tree);
    let own = Range::receive(0, laid.block);
    match laid.own(comm.rank()) {
        (whole, None) => scatter_at_root(comm, laid, whole),
        (leaf, Some(parent)) if leaf.len == 1 => comm.recv(parent, own),
        (subtree, Some(parent)) => {
            let held = comm.scratch(subtree.len * laid.block);
            comm.recv(parent, held);
            let mut sends = Requests::new();
            for child in laid.served(subtree) {
                sends.push(comm.isend(laid.rank(child.node), laid.part(held, subtree, child)));
            }
            comm.copy(laid.part(held, subtree, subtree.itself()), own);
            comm.wait(&sends);
        }
    }
}

fn scatter_at_root(comm: &mut dyn Comm, laid: Laid, whole: Subtree) {
    let mut sends = Requests::new();
    for child in laid.served(whole) {
        let arc = laid.arc(child);
        let from = if arc.wraps() {
            let packed = comm.scratch(child.len * laid.block);
            for (place, part) in laid.runs(Buffer::Send, arc, packed) {
                comm.copy(place, part);
            }
            packed
        } else {
            Range::send(laid.rank(child.start) * laid.block, child.len * laid.block)
        };
        sends.push(comm.isend(laid.rank(child.node), from));
    }
    comm.copy(Range::send(laid.root * laid.block, laid.block), Range::receive(0, laid.block));
    comm.wait(&sends);
}

/// Cost of [`gather`] and of [`scatter`], which is the same run backwards.
///
/// In k-nomial and Bine trees the root is busy from the start to the end: every child has collected its blocks by the
/// time the root has collected as many.
pub fn cost(shape: &Shape, tree: RangeTree) -> Cost {
    let p = shape.ranks;
    let (rounds, blocks) = match tree {
        RangeTree::Kary { top, below } => (finish(p, top, below, |_| 1), finish(p, top, below, |len| len)),
        RangeTree::Knomial { .. } | RangeTree::Bine => (tree.children(tree.whole(p)).count(), p - 1),
    };
    Cost { rounds: rounds as f64, bytes: blocks as f64 * shape.bytes as f64, ..Cost::default() }
}

/// When a node of a k-ary tree with `len` positions and `parts` children has collected them all, if the message of a
/// subtree of n positions takes `time(n)`: the small subtrees are complete first, so they come first.
fn finish(len: usize, parts: usize, below: usize, time: fn(usize) -> usize) -> usize {
    if parts == 1 {
        return (1..len).map(time).sum();
    }
    let children = parts.min(len - 1);
    if children == 0 {
        return 0;
    }
    let (small, large) = ((len - 1) / children, (len - 1) % children);
    let smaller = finish(small, below, below, time) + (children - large) * time(small);
    if large == 0 {
        return smaller;
    }
    smaller.max(finish(small + 1, below, below, time)) + large * time(small + 1)
}
