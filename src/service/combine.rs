//! All ranks' arrivals at the calls on a communicator, put together.

use crate::monitor::{Arrival, Arrivals, CommonClock, CommunicatorRecord, LateRecord, Meeting, SharedList};
use crate::monitor::{gathering, meetings};
use crate::mpi::bytes;
use crate::mpi::error::{Error, Result};
use crate::process::runtime::Runtime;
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;
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
                counter.waiting_ns = (counter.total_ns as f64 * part).round() as u64;
            }
        }
        (record.late, record.compared_calls) = (self.late, self.compared_calls);
        record.comparable_calls = self.comparable_calls;
    }
}

impl Arrived {
    /// Puts all its ranks' arrivals together, by the common clock or else by how long each waited in the barrier before the
    /// call. Collective over its ranks, which talk in `comm`, a communicator of the whole world.
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
        Ok(Combined {
            place: self.place,
            waiting: match clock {
                Some(_) => self.arrivals.lock().waiting(&met, moment, runtime.nanoseconds_per_tick),
                None => Vec::new(),
            },
            late: if tells { meetings::late(&met, &self.members) } else { Vec::new() },
            compared_calls: if tells { met.len() as u64 } else { 0 },
            comparable_calls: if tells { self.arrivals.lock().recorded() } else { 0 },
        })
    }

    /// What all ranks know: up a binomial tree to the communicator's rank 0, and down again.
    fn on_all_ranks(&self, comm: MPI_Comm, mut met: Vec<Meeting>) -> Result<Vec<Meeting>> {
        let (rank, size) = (self.rank, self.members.len());
        let world = |rank: usize| self.members[rank] as usize;
        for child in gathering::children(rank, size) {
            let theirs = bytes::receive(comm, world(child))?;
            met = meetings::meet(&met, &decode(&theirs)?);
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

fn encode(met: &[Meeting]) -> Vec<u8> {
    postcard::to_stdvec(met).expect("numbers can be written to memory")
}

fn decode(bytes: &[u8]) -> Result<Vec<Meeting>> {
    postcard::from_bytes(bytes).map_err(|_| Error(mpi_sys::MPI_ERR_OTHER as c_int))
}
