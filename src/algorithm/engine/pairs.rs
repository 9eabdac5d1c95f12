//! Every rank exchanges a block with every other one, directly, a limited number of exchanges under way at a time.

use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Comm, Range, Request, Requests};
use smallvec::SmallVec;

/// Ranks at the distances 1, p−1, 2, p−2, …: each step to whom rank `rank` of `size` sends and from whom it receives.
///
/// All ranks do the same step by step, so that nobody is everybody's target, and limits on what is under way cannot make
/// them wait for one another in a circle. A step whose two partners differ and its reverse stand side by side.
pub fn by_distance(rank: usize, size: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
    (0..size - 1).map(move |step| {
        let near = 1 + step / 2;
        let distance = if step % 2 == 0 { near } else { size - near };
        ((rank + distance) % size, (rank + size - distance) % size)
    })
}

/// The cost of an exchange with all others.
pub fn cost(shape: &Shape) -> Cost {
    let others = (shape.ranks - 1) as f64;
    Cost { rounds: others, bytes: others * shape.bytes as f64, folded: 0.0 }
}

/// One step under way.
struct UnderWay {
    messages: [Request; 2],
    to: usize,
    from: usize,
    arrives: Range,
}

/// Exchanges blocks of an alltoall with `partners`, to whom a block is sent and from whom one is received in each step, at
/// most `most` steps at a time. The own block is put in its place.
///
/// In place, a block that arrives lies where one leaves that may not have left yet. It waits in scratch, of one block for
/// each step under way and one more, until it has. That is so when its own step is over, or in steps with two partners the
/// reverse of it, which has to be the next.
pub fn exchange(
    comm: &mut dyn Comm,
    call: &Call,
    partners: impl ExactSizeIterator<Item = (usize, usize)>,
    most: usize,
) {
    let (own, block) = (comm.rank(), call.count);
    let outgoing = |rank: usize| Range::send(rank * block, block);
    let incoming = |rank: usize| Range::receive(rank * block, block);
    let most = most.min(partners.len());
    let rooms = (most + 1).min(partners.len());
    let room = call.in_place.then(|| comm.scratch(rooms * block));
    let mut under_way = SmallVec::<[UnderWay; 32]>::new();
    let mut landing = Landing { in_place: call.in_place, block, waiting: None };
    for (step, (to, from)) in partners.enumerate() {
        if under_way.len() == most {
            let oldest = under_way.remove(0);
            comm.wait(&oldest.messages);
            landing.land(comm, oldest);
        }
        let arrives = room.map_or(incoming(from), |room| room.part(step % rooms * block, block));
        let messages = [comm.irecv(from, arrives), comm.isend(to, outgoing(to))];
        under_way.push(UnderWay { messages, to, from, arrives });
    }
    comm.copy(outgoing(own), incoming(own));
    let messages: Requests = under_way.iter().flat_map(|step| step.messages).collect();
    comm.wait(&messages);
    under_way.into_iter().for_each(|step| landing.land(comm, step));
}

/// Puts blocks that arrived elsewhere in their places.
struct Landing {
    in_place: bool,
    block: usize,
    /// What arrived in a step whose reverse is not over.
    waiting: Option<UnderWay>,
}

impl Landing {
    fn land(&mut self, comm: &mut dyn Comm, step: UnderWay) {
        if !self.in_place {
            return;
        }
        if step.to != step.from && self.waiting.is_none() {
            self.waiting = Some(step);
            return;
        }
        for step in self.waiting.take().into_iter().chain([step]) {
            comm.copy(step.arrives, Range::receive(step.from * self.block, self.block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_met_once_and_two_partners_change_places_in_the_next_step() {
        for size in 1..20 {
            for rank in 0..size {
                let steps: Vec<_> = by_distance(rank, size).collect();
                let mut met: Vec<_> = steps.iter().map(|(to, _)| *to).chain([rank]).collect();
                met.sort_unstable();
                assert!(met.into_iter().eq(0..size));
                for pair in steps.chunks(2) {
                    match *pair {
                        [(to, from), next] => assert_eq!((from, to), next),
                        _ => assert_eq!(pair[0].0, pair[0].1),
                    }
                }
            }
        }
    }
}
