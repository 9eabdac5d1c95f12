//! Times of what lives in memory that ranks of a node share: between rank 0 and another one of its node.

use super::cell::{Cell, Datatype};
use super::exchange::{Exchange, Library};
use super::job::Job;
use super::memory::{COPY, Times};
use super::statistics;
use crate::algorithm::{Operation, SharedMemory};
use crate::mpi::Result;
use crate::selection::{Configuration, Transport};
use mpi_sys::MPI_Comm;

/// Rows of calls, and calls in a row.
const ROWS: usize = 41;
const IN_A_ROW: usize = 50;

/// Nothing where no rank is on rank 0's node, or they cannot share memory; nor on other ranks. All ranks take part.
///
/// # Errors
/// What MPI returned.
pub fn measure(job: &Job) -> Result<Option<Times>> {
    let node = |rank: usize| job.nodes.get(rank).copied().unwrap_or(0);
    let Some(other) = (1..job.size).find(|rank| node(*rank) == node(0)) else { return Ok(None) };
    let Some(comm) = job.among(&[0, other])? else { return Ok(None) };
    job.choose_transport(comm, Transport::Shared);
    let two = Two { job, comm };
    for _ in 0..=Configuration::REPLACED_FROM {
        two.seconds(Operation::Barrier, "tournament", [0])?;
    }
    match job.shared_memory(comm) {
        Ok(Some(shared)) => two.times(shared).map(Some),
        _ => Ok(None),
    }
}

/// The two ranks.
struct Two<'a> {
    job: &'a Job,
    comm: MPI_Comm,
}

impl Two<'_> {
    fn times(&self, SharedMemory { window, .. }: SharedMemory) -> Result<Times> {
        let lengths = [window / 8, window];
        let [short, long] = self.seconds(Operation::Allgather, COPY, lengths)?;
        let [tournament] = self.seconds(Operation::Barrier, "tournament", [0])?;
        let [counter] = self.seconds(Operation::Barrier, "central_counter", [0])?;
        Ok(Times { tournament, counter, copies: [(lengths[0], short), (lengths[1], long)], window })
    }

    /// Seconds of a call of each length, rows of them in turns, so that what disturbs one disturbs the other.
    fn seconds<const N: usize>(&self, operation: Operation, algorithm: &str, bytes: [usize; N]) -> Result<[f64; N]> {
        self.job.choose(self.comm, operation, algorithm);
        let exchanges = bytes.map(|bytes| {
            let cell = Cell::new(operation, Datatype::Byte, 0, bytes).expect("what moves data moves bytes");
            Exchange::new(self.job, &cell, false, false)
        });
        let mut times = [const { Vec::new() }; N];
        for _ in 0..ROWS {
            for (exchange, times) in exchanges.iter().zip(&mut times) {
                let row = || (0..IN_A_ROW).try_for_each(|_| exchange.call(Library::Collie, self.comm, 0));
                times.push(self.job.seconds(row)? / IN_A_ROW as f64);
            }
        }
        Ok(times.map(|times| statistics::median(&times)))
    }
}
