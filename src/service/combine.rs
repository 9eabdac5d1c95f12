//! All ranks' arrivals at the calls on a communicator, put together.

use crate::monitor::{Arrival, Arrivals, CommonClock, CommunicatorRecord, LateRecord, Meeting, SharedList};
use crate::monitor::{gathering, meetings};
use crate::mpi::bytes;
use crate::mpi::error::{Error, Result};
use crate::process::runtime::Runtime;
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::raw::c_int;
use std::sync::Arc;

/// The calls on a communicator, which may be gone. No reference into its state: another thread may be in a call on it.
#[derive(Clone)]
pub struct Arrived {
    /// Place among the communicators of this rank's record.
    pub place: usize,
    /// The same on all its ranks.
    pub identity: String,
    /// Own rank in it.
    pub rank: usize,
    /// World ranks of its ranks.
    pub members: Arc<SharedList>,
    /// When this rank came to them.
    pub arrivals: Arc<Mutex<Arrivals>>,
    /// By counter, the ticks of its calls, and those of them that were waiting as far as the calls themselves measured
    /// that: of all calls, while memory may have had room for the arrivals of some.
    pub times: Vec<(u64, u64)>,
}

/// Keeps those of `all` that every member has among its own, so that nobody waits for a rank that does not come: one
/// may have made no call on a communicator that others have, or have one under way there that cannot be looked at.
/// Collective over the world.
///
/// # Errors
/// What PMPI returned.
pub fn keep_common(runtime: &Runtime, comm: MPI_Comm, all: &mut Vec<Arrived>) -> Result {
    let (rank, size) = (runtime.world_rank, runtime.world_size);
    let mut listed = Listed::default();
    all.iter().for_each(|arrived| listed.add(arrived.key(), Members { listing: 1, all: arrived.members.len() as u32 }));
    for child in gathering::children(rank, size) {
        let theirs: Listed = decode(&bytes::receive(comm, child)?)?;
        theirs.0.into_iter().for_each(|(key, members)| listed.add(key, members));
    }
    if let Some(parent) = gathering::parent(rank) {
        bytes::send(comm, parent, &encode(&listed))?;
        listed = decode(&bytes::receive(comm, parent)?)?;
    }
    // What is left at rank 0 is not complete anywhere.
    let incomplete = encode(&listed);
    for child in gathering::children(rank, size).rev() {
        bytes::send(comm, child, &incomplete)?;
    }
    let before = all.len();
    all.retain(|arrived| !listed.0.contains_key(&arrived.key()));
    if all.len() < before {
        let left_out = before - all.len();
        log::warn!(
            "waiting is not reported for {left_out} communicators: other ranks recorded no calls on them, or had no memory left for these"
        );
    }
    Ok(())
}

/// The communicators that some ranks have among their own and other members may not, by key: one that all its members
/// have is let go, so mostly those with members in other parts of the tree.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Listed(BTreeMap<u64, Members>);

/// How many members have the communicator among their own, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Members {
    listing: u32,
    all: u32,
}

impl Listed {
    fn add(&mut self, key: u64, members: Members) {
        let known = self.0.entry(key).or_insert(Members { listing: 0, ..members });
        known.listing += members.listing;
        if known.listing == known.all {
            self.0.remove(&key);
        }
    }
}

/// What all ranks of a communicator together say of the calls on it.
pub struct Combined {
    place: usize,
    /// By counter, the part of the time that was waiting; empty where the calls themselves measured it.
    waiting: Vec<(u32, f64)>,
    late: Vec<LateRecord>,
    compared_calls: u64,
    comparable_calls: u64,
}

impl Combined {
    /// Completes this rank's record of the communicator.
    pub fn complete(self, communicators: &mut [CommunicatorRecord]) {
        // One that there was no room for has no record.
        let Some(record) = communicators.get_mut(self.place) else { return };
        for (counter, part) in self.waiting {
            if let Some(counter) = record.counters.get_mut(counter as usize) {
                counter.waiting_ns = Some((counter.total_ns as f64 * part).round() as u64);
            }
        }
        (record.late, record.compared_calls) = (self.late, self.compared_calls);
        record.comparable_calls = self.comparable_calls;
    }
}

impl Arrived {
    /// Bytes that it takes, its members left out, which communicators share.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<Mutex<Arrivals>>() + self.identity.len() + size_of_val(&*self.times)
    }

    /// A number that its members alone share.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.identity, &self.members[..]).hash(&mut hasher);
        hasher.finish()
    }

    /// Puts all its ranks' arrivals together, by the common clock or else by how long each waited in the barrier before
    /// the call. Collective over its ranks, which talk in `comm`, a communicator of the whole world.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn combine(&self, runtime: &Runtime, comm: MPI_Comm, clock: Option<&CommonClock>) -> Result<Combined> {
        let moment = |arrival: &Arrival| {
            match clock {
                Some(clock) => clock.common(runtime.nanoseconds(arrival.enter.saturating_sub(runtime.started.0))),
                // All leave the barrier at once, as well as that can be, so who waited least came last.
                None => -(runtime.nanoseconds(arrival.ticks) as i64),
            }
        };
        // A statement of its own: other threads' calls need the lock while the ranks exchange this.
        let own = self.arrivals.lock().meetings(self.rank as u32, moment);
        let met = self.on_all_ranks(comm, own)?;
        let tells = self.rank == 0;
        let tick = runtime.nanoseconds_per_tick;
        let (waiting, waited, in_all, in_these) = match clock {
            Some(_) => {
                let arrivals = self.arrivals.lock();
                let (waiting, waited) = (arrivals.waiting(&met, moment, tick), arrivals.waited(&met, moment, tick));
                let ticks = |counter: u32| self.times.get(counter as usize).map_or(0, |times| times.0);
                let in_all = waiting.iter().map(|(counter, part)| ticks(*counter) as f64 * tick * part).sum::<f64>();
                let in_these = waited.iter().sum::<f64>();
                (waiting, waited, in_all, in_these)
            }
            // In the barrier nobody leaves before all have come.
            None => {
                let in_all = self.times.iter().map(|times| times.1 as f64 * tick).sum::<f64>();
                (Vec::new(), Vec::new(), in_all, self.arrivals.lock().stayed(&met, tick))
            }
        };
        // A statement of its own, as above.
        let sums = self.sum_at_first(comm, [&[in_all, in_these], &waited[..]].concat())?;
        let (waited, scale) =
            (clock.map(|_| &sums[2..]), if sums[1] > 0.0 { f64::max(sums[0] / sums[1], 1.0) } else { 1.0 });
        Ok(Combined {
            place: self.place,
            waiting,
            late: if tells { meetings::late(&met, waited, &self.members, scale) } else { Vec::new() },
            compared_calls: if tells { met.len() as u64 } else { 0 },
            comparable_calls: if tells { self.arrivals.lock().recorded() } else { 0 },
        })
    }

    /// The sum over all ranks of each number, at the communicator's rank 0; of fewer of them at the others.
    fn sum_at_first(&self, comm: MPI_Comm, mut sums: Vec<f64>) -> Result<Vec<f64>> {
        let (rank, size) = (self.rank, self.members.len());
        for child in gathering::children(rank, size) {
            let theirs: Vec<f64> = decode(&bytes::receive(comm, self.members[child] as usize)?)?;
            sums.iter_mut().zip(theirs).for_each(|(sum, their)| *sum += their);
        }
        if let Some(parent) = gathering::parent(rank) {
            bytes::send(comm, self.members[parent] as usize, &encode(&sums))?;
        }
        Ok(sums)
    }

    /// What all ranks know: up a binomial tree to the communicator's rank 0, and down again.
    fn on_all_ranks(&self, comm: MPI_Comm, mut met: Vec<Meeting>) -> Result<Vec<Meeting>> {
        let (rank, size) = (self.rank, self.members.len());
        let world = |rank: usize| self.members[rank] as usize;
        for child in gathering::children(rank, size) {
            let theirs = bytes::receive(comm, world(child))?;
            met = meetings::meet(&met, &decode::<Vec<Meeting>>(&theirs)?);
        }
        if let Some(parent) = gathering::parent(rank).map(world) {
            bytes::send(comm, parent, &encode(&met))?;
            met = decode(&bytes::receive(comm, parent)?)?;
        }
        let all = encode(&met);
        for child in gathering::children(rank, size).rev() {
            bytes::send(comm, world(child), &all)?;
        }
        Ok(met)
    }
}

fn encode<T: Serialize + ?Sized>(told: &T) -> Vec<u8> {
    postcard::to_stdvec(told).expect("numbers can be written to memory")
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|_| Error(mpi_sys::MPI_ERR_OTHER as c_int))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What rank 0 of `size` is left with where each rank lists the communicators that `lists` gives: key and size.
    fn left(size: usize, lists: impl Fn(usize) -> Vec<(u64, u32)>) -> Vec<u64> {
        let mut known: Vec<Listed> = (0..size).map(|_| Listed::default()).collect();
        for rank in (0..size).rev() {
            lists(rank).into_iter().for_each(|(key, all)| known[rank].add(key, Members { listing: 1, all }));
            for child in gathering::children(rank, size) {
                let theirs: Listed = decode(&encode(&known[child])).unwrap();
                theirs.0.into_iter().for_each(|(key, members)| known[rank].add(key, members));
            }
        }
        known[0].0.keys().copied().collect()
    }

    #[test]
    fn communicators_that_every_member_lists_leave_nothing_to_tell() {
        for size in 1..20usize {
            // The world, pairs of neighbours, and ranks of one remainder by three.
            let members = |rank: usize| (0..size).filter(|other| other % 3 == rank % 3).count() as u32;
            let pair = |rank: usize| if rank ^ 1 < size { 2 } else { 1 };
            let lists = |rank: usize| {
                vec![(1, size as u32), (100 + rank as u64 / 2, pair(rank)), (200 + rank as u64 % 3, members(rank))]
            };
            assert!(left(size, lists).is_empty(), "{size} ranks");
        }
    }

    #[test]
    fn a_communicator_that_one_member_does_not_list_is_told_to_all() {
        for size in 2..20usize {
            for missing in 0..size {
                let lists = |rank: usize| {
                    let all = [(1, size as u32), (2, size as u32)];
                    if rank == missing { all[..1].to_vec() } else { all.to_vec() }
                };
                assert_eq!(left(size, lists), [2], "{size} ranks without {missing}");
            }
        }
    }
}
