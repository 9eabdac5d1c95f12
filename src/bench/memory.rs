//! What memory costs that ranks of a node share, measured by the algorithms that live there: between rank 0 and another one of its
//! node, each what its formula says, solved for one number.

use super::cell::{Cell, Datatype};
use super::exchange::{Exchange, Library};
use super::job::Job;
use super::statistics;
use crate::algorithm::{Operation, SharedMemory};
use crate::mpi::Result;
use crate::schedule::simulate::Memory;
use crate::selection::{Configuration, Transport};
use mpi_sys::MPI_Comm;

/// Rows of calls, and calls in a row.
const ROWS: usize = 41;
const IN_A_ROW: usize = 50;
/// Number of the two ranks.
const RANKS: f64 = 2.0;

/// Nothing where no rank is on rank 0's node, or they cannot share memory; nor on other ranks. All ranks take part.
///
/// # Errors
/// What MPI returned.
pub fn measure(job: &Job) -> Result<Option<Memory>> {
    let node = |rank: usize| job.nodes.get(rank).copied().unwrap_or(0);
    let Some(other) = (1..job.size).find(|rank| node(*rank) == node(0)) else { return Ok(None) };
    let Some(comm) = job.among(&[0, other])? else { return Ok(None) };
    job.choose_transport(comm, Transport::Shared);
    let two = Two { job, comm };
    for _ in 0..=Configuration::REPLACED_FROM {
        two.seconds(Operation::Barrier, "tournament", 0)?;
    }
    match job.shared_memory(comm) {
        Ok(Some(shared)) => two.memory(shared).map(Some),
        _ => Ok(None),
    }
}

/// The two ranks.
struct Two<'a> {
    job: &'a Job,
    comm: MPI_Comm,
}

impl Two<'_> {
    fn memory(&self, SharedMemory { window, .. }: SharedMemory) -> Result<Memory> {
        // One rank sees the other's flag, and then the other one this one's.
        let notification = self.seconds(Operation::Barrier, "tournament", 0)? / RANKS;
        // p·t_A + t_W.
        let counter = self.seconds(Operation::Barrier, "central_counter", 0)?;
        // (p−1)t_W + pbt, of which the bytes are what two lengths differ in.
        let (short, long) = (window / 8, window);
        let [few, many] = [short, long].map(|bytes| self.seconds(Operation::Allgather, "shared_copy", bytes));
        let per_byte = (many? - few?) / (RANKS * (long - short) as f64);
        Ok(Memory {
            per_byte: per_byte.max(Memory::LEAST),
            notification: notification.max(Memory::LEAST),
            arrival: ((counter - notification) / RANKS).max(0.0),
            window,
        })
    }

    /// Seconds of a call, in rows of them.
    fn seconds(&self, operation: Operation, algorithm: &str, bytes: usize) -> Result<f64> {
        let cell = Cell::new(operation, Datatype::Byte, 0, bytes).expect("what moves data moves bytes");
        let exchange = Exchange::new(self.job, &cell, false, false);
        self.job.choose(self.comm, operation, algorithm);
        let mut times = Vec::new();
        for _ in 0..ROWS {
            let row = || (0..IN_A_ROW).try_for_each(|_| exchange.call(Library::Collie, self.comm, 0));
            times.push(self.job.seconds(row)? / IN_A_ROW as f64);
        }
        Ok(statistics::median(&times))
    }
}
