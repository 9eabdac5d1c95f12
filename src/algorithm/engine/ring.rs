//! Blocks that travel around the ring of ranks, to the right neighbour in every step.

use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;

/// Reduce-scatter: block b starts at rank b, and each rank that it reaches folds its own contribution in.
///
/// `held` and `result` are whole vectors of `blocks` (they may share memory), `incoming` has room for block 0, which is
/// a longest one. Returns the block whose fold `result` holds in the end, (r + 1) mod p; other blocks of `result` hold
/// partial folds. The fold of block b starts with rank b and goes round, so it keeps no rank order.
pub fn reduce_scatter(comm: &mut dyn Comm, blocks: &Blocks, held: Range, result: Range, incoming: Range) -> usize {
    let (p, r) = (comm.size(), comm.rank());
    let (left, right) = neighbours(comm);
    let mut travelling = held.slice(&blocks.units(r));
    for k in 0..p - 1 {
        let units = blocks.units((r + p - k - 1) % p);
        let theirs = incoming.part(0, units.len());
        comm.sendrecv(right, travelling, left, theirs);
        travelling = result.slice(&units);
        comm.fold(theirs, held.slice(&units), travelling);
    }
    (r + 1) % p
}

/// Allgather: rank r holds block `first + r` (mod p) of `vector` at the start, and everyone holds all in the end.
pub fn allgather(comm: &mut dyn Comm, blocks: &Blocks, vector: Range, first: usize) {
    let (p, r) = (comm.size(), comm.rank());
    let (left, right) = neighbours(comm);
    let block = |k: usize| vector.slice(&blocks.units((first + r + p - k) % p));
    for k in 0..p - 1 {
        comm.sendrecv(right, block(k), left, block(k + 1));
    }
}

/// The same where rank `root` + b (mod p) holds block b at the start, and `root` all of them: it receives nothing.
pub fn allgather_from(comm: &mut dyn Comm, blocks: &Blocks, vector: Range, root: usize) {
    let p = comm.size();
    let v = (comm.rank() + p - root) % p;
    let (left, right) = neighbours(comm);
    let block = |k: usize| vector.slice(&blocks.units((v + p - k) % p));
    for k in 0..p - 1 {
        match v {
            0 => comm.send(right, block(k)),
            _ if v == p - 1 => comm.recv(left, block(k + 1)),
            _ => comm.sendrecv(right, block(k), left, block(k + 1)),
        }
    }
}

fn neighbours(comm: &dyn Comm) -> (usize, usize) {
    let (p, r) = (comm.size(), comm.rank());
    ((r + p - 1) % p, (r + 1) % p)
}
