//! Every rank exchanges a block with every other one, directly, a limited number of exchanges under way at a time.

use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Comm, Range, Request, Requests};
use smallvec::SmallVec;

/// Ranks at the distances 1, p−1, 2, p−2, …: each step to whom rank `rank` of `size` sends and from whom it receives.
///
/// All ranks do the same step by step, so that nobody is everybody's target, and limits on what is under way cannot
/// make them wait for one another in a circle. A step whose two partners differ and its reverse stand side by side.
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
    Cost { rounds: others, bytes: others * shape.bytes as f64, ..Cost::default() }
}

/// One step under way.
struct UnderWay {
    messages: SmallVec<[Request; 2]>,
    to: usize,
    from: usize,
    arrives: Range,
}

/// Exchanges blocks of an alltoall or alltoallv with `partners`, to whom a block is sent and from whom one is received
/// in each step, at most `most` steps at a time. The own block is put in its place. Blocks of no units are not sent,
/// which both their ranks know.
///
/// In place, a block that arrives lies where one leaves that may not have left yet. It waits in scratch, of the longest
/// block for each step under way and one more, until it has. That is so when its own step is over, or in steps with two
/// partners the reverse of it, which has to be the next.
pub fn exchange(
    comm: &mut dyn Comm,
    call: &Call,
    partners: impl ExactSizeIterator<Item = (usize, usize)>,
    most: usize,
) {
    let (own, size) = (comm.rank(), comm.size());
    let most = most.min(partners.len());
    let rooms = (most + 1).min(partners.len());
    let others = (0..size).filter(|rank| *rank != own);
    let longest = others.map(|rank| call.incoming(own, rank).len).max().unwrap_or(0);
    let room = call.in_place.then(|| comm.scratch(rooms * longest));
    let mut under_way = SmallVec::<[UnderWay; 32]>::new();
    let mut landing = Landing { call, own, waiting: None };
    for (step, (to, from)) in partners.enumerate() {
        let (leaves, place) = (call.outgoing(own, to), call.incoming(own, from));
        // In place, a step that is empty may be the reverse of one that is not.
        if leaves.len == 0 && place.len == 0 && !call.in_place {
            continue;
        }
        if under_way.len() == most {
            let oldest = under_way.remove(0);
            comm.wait(&oldest.messages);
            landing.land(comm, oldest);
        }
        let arrives = room.map_or(place, |room| room.part(step % rooms * longest, place.len));
        let mut messages = SmallVec::new();
        if arrives.len > 0 {
            messages.push(comm.irecv(from, arrives));
        }
        if leaves.len > 0 {
            messages.push(comm.isend(to, leaves));
        }
        under_way.push(UnderWay { messages, to, from, arrives });
    }
    keep_own(comm, call);
    let messages: Requests = under_way.iter().flat_map(|step| step.messages.iter().copied()).collect();
    comm.wait(&messages);
    under_way.into_iter().for_each(|step| landing.land(comm, step));
}

/// The same one step at a time: with the ranks r xor 1, r xor 2, … among a power of two, else by distance.
pub fn one_by_one(comm: &mut dyn Comm, call: &Call) {
    let (p, r) = (comm.size(), comm.rank());
    if p.is_power_of_two() {
        exchange(comm, call, (0..p - 1).map(|k| (r ^ (k + 1), r ^ (k + 1))), 1);
    } else {
        exchange(comm, call, by_distance(r, p), 1);
    }
}

/// Puts the own block in its place. Only a wrong call gives it two lengths; then what has room there is copied.
fn keep_own(comm: &mut dyn Comm, call: &Call) {
    let own = comm.rank();
    let (block, place) = (call.outgoing(own, own), call.incoming(own, own));
    let len = block.len.min(place.len);
    comm.copy(block.part(0, len), place.part(0, len));
}

/// Puts blocks that arrived elsewhere in their places.
struct Landing<'a> {
    call: &'a Call<'a>,
    own: usize,
    /// What arrived in a step whose reverse is not over.
    waiting: Option<UnderWay>,
}

impl Landing<'_> {
    fn land(&mut self, comm: &mut dyn Comm, step: UnderWay) {
        if !self.call.in_place {
            return;
        }
        if step.to != step.from && self.waiting.is_none() {
            self.waiting = Some(step);
            return;
        }
        for step in self.waiting.take().into_iter().chain([step]) {
            comm.copy(step.arrives, self.call.incoming(self.own, step.from));
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
