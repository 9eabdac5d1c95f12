//! The parts of a message down a binomial tree: every rank ends with the block of its number.

use crate::operation::{Comm, Range, Requests};
use crate::pattern::knomial::Knomial;
use crate::pattern::tree::Tree;

/// Scatters from number 0 among the numbers `0..ranks`, as number `v`. `rank` turns numbers into ranks and `of` gives
/// the place of a run of blocks; a rank with children holds the blocks of its whole subtree for a while.
pub fn binomial(
    comm: &mut dyn Comm,
    ranks: usize,
    v: usize,
    rank: impl Fn(usize) -> usize,
    of: impl Fn(std::ops::Range<usize>) -> Range,
) {
    let tree = Knomial::binomial(ranks);
    let links = tree.links(v);
    let subtree = |v: usize| v..(v + tree.reach(v)).min(ranks);
    if let Some(parent) = links.parent {
        comm.recv(rank(parent), of(subtree(v)));
    }
    let sends: Requests =
        links.children.iter().map(|child| comm.isend(rank(child.number), of(subtree(child.number)))).collect();
    comm.wait(&sends);
}
