//! As recursive doubling, with groups of `radix` ranks instead of pairs: fewer rounds, more messages in each.
//!
//! In round j the ranks that differ only in digit j of their number in base k = `radix` send everything they have to
//! each other, and every one folds the k parts in rank order, so all get the same bits. Where p is below a power of k,
//! the last round has groups of fewer ranks. The core is the largest m·k^e ≤ p with m < k; the even ranks of the
//! first 2·(p − m·k^e) ranks first hand their contribution to their right neighbour, and get the result from it.
//!
//! State at p = 7, k = 3 (core ranks are 1 2 3 4 5 6, in groups of three, then of two; ab = a∘b):
//!
//! ```text
//! rank      0    1        2        3        4        5        6
//! start     0    1        2        3        4        5        6
//! hand in   -    01       2        3        4        5        6
//! round 0   -    0123     0123     0123     456      456      456
//! round 1   -    0..6     0..6     0..6     0..6     0..6     0..6
//! hand out  0..6 0..6     0..6     0..6     0..6     0..6     0..6
//! ```
//!
//! Cost: at most (k−1)⌈log_k p⌉(α + nβ + nγ) with one message at a time; with k−1 at once the α shrink to one per
//! round. Folding adds 2(α + nβ) + nγ, and where k > 3 up to k − 3 messages in each round, since a proxy comes late.
//! Needs: nothing. Memory: (k−1)n bytes of scratch.
//!
//! Source: M. Wilkins et al., "Generalized Collective Algorithms for the Exascale Era", CLUSTER 2023. Departures: 1.
//! the parts are folded in rank order, so the algorithm is ordered and its result identical on all ranks; 2. the core
//! is m·k^e instead of k^e, which leaves fewer ranks aside.

use crate::algorithm::engine::folding::{self, Core};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Requests};
use crate::pattern::groups::{self, Group};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "recursive_multiplying",
    summary: "As recursive doubling, with groups of `radix` ranks instead of pairs.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 2 },
        default: Default::Count(4),
        help: "k: ranks in a group; each sends to k−1 others per round",
    }],
    needs: Needs::NOTHING,
    ordered: true,
    alone: false,
    formula: "at most (k−1)⌈log_k p⌉(α+nβ+nγ); p≠m·k^e: \
              at most ((k−1+max(k−3,0))⌈log_k p⌉+2)(α+nβ)+((k−1)⌈log_k p⌉+1)nγ",
    cost,
    source: "Wilkins et al., CLUSTER 2023",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let radix = parameters.count("radix");
    let fold = groups::folding(shape.ranks, radix);
    let n = shape.bytes as f64;
    let rounds = groups::rounds(fold.core(), 0, radix);
    let folds: usize = rounds.iter().map(|group| group.size - 1).sum();
    // A proxy comes late to its groups, which holds the messages behind its own up in the others' ports.
    let late = rounds.iter().filter(|_| fold.extra() > 0);
    let held_up: usize = late.map(|group| group.size.saturating_sub(3)).sum();
    let (messages, folds) = ((folds + held_up) as f64, folds as f64);
    Cost { rounds: messages, bytes: messages * n, folded: folds * n, ..Cost::default() } + folding::cost(fold, n)
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let radix = parameters.count("radix");
    let fold = groups::folding(comm.size(), radix);
    let result = Range::receive(0, call.count);
    let units = (radix.min(fold.core()) - 1) * call.count;
    folding::allreduce(comm, fold, call.count, units, |comm, Core { number, mut held, incoming }| {
        for group in groups::rounds(fold.core(), number, radix) {
            // The parts of the other members, in their order, the own one left out.
            let part = |place: usize| {
                let index = if place < group.own { place } else { place - 1 };
                incoming.part(index * call.count, call.count)
            };
            let mut messages = Requests::new();
            for distance in 1..group.size {
                let from = (group.own + group.size - distance) % group.size;
                let to = (group.own + distance) % group.size;
                messages.push(comm.irecv(fold.rank(group.member(from)), part(from)));
                messages.push(comm.isend(fold.rank(group.member(to)), held));
            }
            comm.wait(&messages);
            fold_in_order(comm, &group, |place| if place == group.own { held } else { part(place) }, result);
            held = result;
        }
    });
}

/// Folds the members' parts from left to right. The partial fold stays in the first part until the end, since the own
/// one may lie where the result goes.
fn fold_in_order(comm: &mut dyn Comm, group: &Group, part: impl Fn(usize) -> Range, result: Range) {
    let room = if group.own == 0 { result } else { part(0) };
    let mut folded = part(0);
    for place in 1..group.size {
        let into = if place + 1 == group.size { result } else { room };
        comm.fold(folded, part(place), into);
        folded = into;
    }
}
