//! Rabenseifner's reduction: recursive halving folds the blocks in parallel, a binomial gather brings them to the root.
//!
//! For p ≠ 2^k the extra ranks first hand their contribution to their neighbour. In round k (distance d = 2^k) core
//! rank c and c ⊕ d cut what they share in two halves; the lower rank keeps the first one, the other the second, and
//! each folds what it gets for its half. Going back, with d falling, the one of each pair that does not lie on the
//! root's side sends all it has to the other.
//!
//! State at p = 7, root 0 (core ranks are 0 3 5 6, blocks A B C D; A01 = block A of 0∘1):
//!
//! ```text
//! rank      0          1       3          5          6
//! hand in   ABCD01     .       ABCD23     ABCD45     ABCD6       (2 and 4 are out, too)
//! round 0   AB0123     .       CD0123     AB456      CD456
//! round 1   A0..6      .       C0..6      B0..6      D0..6
//! gather 0  AB0..6     .       CD0..6     .          .
//! gather 1  ABCD0..6   .       .          .          .
//! ```
//!
//! Cost: 2qα + 2((p−1)/p)nβ + ((p−1)/p)nγ; for p ≠ 2^k that of the core and one more α + nβ + nγ.
//! Needs: nothing. Memory: n/2 bytes of scratch, n more where the root is not.
//!
//! Source: R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004. Departures: 1. the distance
//! doubles while the vector halves, so neighbours meet first and everything is folded in rank order; 2. where the root
//! would stand aside it changes places with its neighbour.

use crate::algorithm::engine::butterfly;
use crate::algorithm::{Algorithm, Call, Cost, Needs, Operation, Parameters, Shape};
use crate::operation::{Comm, Range};
use crate::pattern::blocks::Blocks;
use crate::pattern::butterfly::hypercube;
use crate::pattern::hypercube::{Folding, Part};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Reduce,
    name: "reduce_scatter_gather",
    summary: "Recursive halving reduces the blocks in parallel, a binomial gather brings them to the root.",
    parameters: &[],
    needs: Needs::NOTHING,
    ordered: true,
    alone: true,
    formula: "2qα+2((p−1)/p)nβ+((p−1)/p)nγ; p≠2^k, c=2^⌊log2 p⌋: (2log2 c+1)α+(2(c−1)/c+1)nβ+((c−1)/c+1)nγ",
    cost,
    source: "Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004",
    run,
};

fn cost(shape: &Shape, _: &Parameters) -> Cost {
    let folding = Folding::power_of_two(shape.ranks);
    let blocks = Blocks::new(shape.bytes / shape.unit, folding.core());
    let halvings = folding.core().ilog2();
    let moved: usize = (0..halvings).map(|k| blocks.span(0..1 << k).len() * shape.unit).sum();
    let hand_in = if folding.extra() > 0 { 1.0 } else { 0.0 };
    Cost {
        rounds: 2.0 * f64::from(halvings) + hand_in,
        bytes: 2.0 * moved as f64 + hand_in * shape.bytes as f64,
        folded: moved as f64 + hand_in * shape.bytes as f64,
        ..Cost::default()
    }
}

/// Who stands for whom: as in [`Folding`], but the root never stands aside.
#[derive(Clone, Copy)]
struct Places {
    folding: Folding,
    root: usize,
}

impl Places {
    fn rank(self, core: usize) -> usize {
        match self.folding.part(self.root) {
            Part::Extra { proxy } if self.folding.rank(core) == proxy => self.root,
            _ => self.folding.rank(core),
        }
    }

    /// Own core number and the extra rank worked for, or the rank that works for `rank`.
    fn place(self, rank: usize) -> Result<(usize, Option<usize>), usize> {
        match self.folding.part(rank) {
            Part::Base { core } => Ok((core, None)),
            Part::Proxy { extra, .. } if extra == self.root => Err(extra),
            Part::Proxy { extra, core } => Ok((core, Some(extra))),
            Part::Extra { proxy } if rank == self.root => Ok((rank / 2, Some(proxy))),
            Part::Extra { proxy } => Err(proxy),
        }
    }
}

fn run(comm: &mut dyn Comm, call: &Call, _: &Parameters) {
    let places = Places { folding: Folding::power_of_two(comm.size()), root: call.root };
    let own = Range::send(0, call.count);
    let (core, extra) = match places.place(comm.rank()) {
        Ok(place) => place,
        Err(proxy) => return comm.send(proxy, own),
    };
    let result = if comm.rank() == call.root { Range::receive(0, call.count) } else { comm.scratch(call.count) };
    let mut held = own;
    if let Some(extra) = extra {
        let incoming = comm.scratch(call.count);
        comm.recv(extra, incoming);
        let (left, right) = if extra < comm.rank() { (incoming, own) } else { (own, incoming) };
        comm.fold(left, right, result);
        held = result;
    }
    if places.folding.core() == 1 {
        return comm.copy(held, result);
    }
    let blocks = Blocks::new(call.count, places.folding.core());
    let mut steps = hypercube(blocks.ranks(), core);
    for step in &mut steps {
        step.partner = places.rank(step.partner);
    }
    let incoming = comm.scratch(blocks.span(0..blocks.ranks() / 2).len());
    butterfly::halve(comm, &steps, &blocks, held, result, incoming);
    gather(comm, places, core, result);
}

/// The blocks that core rank `core` holds after the rounds of distances below `distance`.
fn share(core_ranks: usize, core: usize, distance: usize) -> std::ops::Range<usize> {
    let (mut start, mut width) = (0, core_ranks);
    let mut d = 1;
    while d < distance {
        width /= 2;
        start += if core & d == 0 { 0 } else { width };
        d <<= 1;
    }
    start..start + width
}

/// The way back: pairs in the reverse order, the one on the root's side receives.
fn gather(comm: &mut dyn Comm, places: Places, core: usize, result: Range) {
    let ranks = places.folding.core();
    let blocks = Blocks::new(result.len, ranks);
    let (root, _) = places.place(places.root).expect("the root does not stand aside");
    let mut distance = ranks / 2;
    while distance > 0 {
        let partner = core ^ distance;
        if (core ^ root) & distance != 0 {
            let held = blocks.span(share(ranks, core, 2 * distance));
            return comm.send(places.rank(partner), result.slice(&held));
        }
        let missing = blocks.span(share(ranks, partner, 2 * distance));
        comm.recv(places.rank(partner), result.slice(&missing));
        distance /= 2;
    }
}
