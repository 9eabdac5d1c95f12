//! Trees of flags in shared memory: everyone tells that all below are there, or that all may go.

use crate::operation::Comm;
use crate::pattern::tree::Tree;

/// Begins a call on the board and tells at step 1 that all ranks below are there, as their flags say in turn.
pub fn gather(comm: &mut dyn Comm, tree: &dyn Tree) {
    let own = comm.rank();
    gather_among(comm, tree, own, |rank| rank);
}

/// The same up a tree of some ranks, in which the own one has number `own`.
pub fn gather_among(comm: &mut dyn Comm, tree: &dyn Tree, own: usize, rank: impl Fn(usize) -> usize) {
    let children = tree.links(own).children;
    if children.is_empty() {
        return comm.enter(1);
    }
    comm.enter(0);
    children.iter().rev().for_each(|child| comm.await_flag(rank(child.number), 1));
    comm.signal(1);
}

/// Goes on when the rank above tells so at step 2, and tells those below; the root begins.
pub fn release(comm: &mut dyn Comm, tree: &dyn Tree) {
    let links = tree.links(comm.rank());
    if let Some(parent) = links.parent {
        comm.await_flag(parent, 2);
    }
    if !links.children.is_empty() {
        comm.signal(2);
    }
}

/// Flags that are seen one after another until number `v` has seen those of all below.
pub fn gathered(tree: &dyn Tree, v: usize) -> usize {
    let children = tree.links(v).children;
    children.iter().rev().fold(0, |seen: usize, child| seen.max(gathered(tree, child.number)) + 1)
}

/// Flags that are seen one after another until the last rank has seen that of the rank above.
pub fn released(tree: &dyn Tree) -> usize {
    fn below(tree: &dyn Tree, v: usize) -> usize {
        tree.links(v).children.iter().map(|child| 1 + below(tree, child.number)).max().unwrap_or(0)
    }
    below(tree, tree.root())
}
