//! Ranks beyond the size that an exchange wants: they hand their contribution to a neighbour and get the result from
//! it.

use crate::algorithm::Cost;
use crate::operation::{Comm, Range};
use crate::pattern::hypercube::{Folding, Part};

/// What a rank of the core starts an exchange with.
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// Own number in the core.
    pub number: usize,
    /// Own contribution, with that of the extra rank folded in: the send buffer or the result.
    pub held: Range,
    /// Scratch of at least the units asked for.
    pub incoming: Range,
}

/// Allreduce of `count` units by `exchange`, which the ranks of the core carry out and which has to leave the result
/// in the receive buffer; `units` of scratch are for it.
///
/// Only in a core of one rank is there no exchange, and the contribution is copied.
pub fn allreduce(
    comm: &mut dyn Comm,
    folding: Folding,
    count: usize,
    units: usize,
    exchange: impl FnOnce(&mut dyn Comm, Core),
) {
    let (own, result) = (Range::send(0, count), Range::receive(0, count));
    match folding.part(comm.rank()) {
        Part::Extra { proxy } => {
            comm.send(proxy, own);
            comm.recv(proxy, result);
        }
        Part::Proxy { extra, core } => {
            let incoming = comm.scratch(count.max(units));
            let theirs = incoming.part(0, count);
            comm.recv(extra, theirs);
            comm.fold(theirs, own, result);
            if folding.core() > 1 {
                exchange(comm, Core { number: core, held: result, incoming });
            }
            comm.send(extra, result);
        }
        Part::Base { .. } if folding.core() == 1 => comm.copy(own, result),
        Part::Base { core } => {
            let incoming = comm.scratch(units);
            exchange(comm, Core { number: core, held: own, incoming });
        }
    }
}

/// What the folding adds to the cost of an exchange of `bytes` bytes.
pub fn cost(folding: Folding, bytes: f64) -> Cost {
    if folding.extra() == 0 {
        return Cost::default();
    }
    Cost { rounds: 2.0, bytes: 2.0 * bytes, folded: bytes, ..Cost::default() }
}
