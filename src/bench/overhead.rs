//! What Collie adds to a call that it hands to the native library: `PMPI_X` against `MPI_X` with the choice `native`.
//!
//! The difference is tens of nanoseconds, less than the spread of any call between ranks, so it is read off short
//! windows of calls in a row: the least of them met no interrupt.

#![forbid(unsafe_code)]

use super::exchange::{Exchange, Library};
use super::job::Job;
use super::program::{NATIVE, Program};
use super::result::OverheadRow;
use super::statistics;
use crate::mpi::Result;
use std::time::Instant;

/// Calls per window: long against the clock's grain, short against the scheduler's.
const CALLS: usize = 100;
/// Windows of each kind between two looks at the clock.
const WINDOWS: usize = 50;

/// Measures every operation of the program.
pub fn measure(job: &Job, program: &Program) -> Result<Vec<OverheadRow>> {
    let communicators = [job.communicator()?, job.communicator()?];
    let mut rows = Vec::new();
    for cell in &program.cells {
        job.choose(communicators[1], cell.operation, NATIVE);
        let exchange = Exchange::new(job, cell, false, false);
        let mut nanoseconds = [Vec::new(), Vec::new()];
        let begun = Instant::now();
        while job.of_first(&(begun.elapsed().as_secs_f64() < program.seconds || nanoseconds[0].is_empty()))? {
            for window in 0..2 * WINDOWS {
                let side = window % 2;
                let library = [Library::Native, Library::Collie][side];
                job.synchronise()?;
                let seconds = job.seconds(|| {
                    (0..CALLS).try_for_each(|_| exchange.call(library, communicators[side], exchange.root()))
                })?;
                nanoseconds[side].push(seconds * 1e9 / CALLS as f64);
            }
        }
        let [native, through_collie] = nanoseconds.map(|mut windows| {
            job.most(&mut windows)?;
            // The first windows decide what is decided once.
            let spread = statistics::spread(&windows[2..]);
            Ok((spread.min, spread.median))
        });
        let (native, through_collie) = (native?, through_collie?);
        rows.push(OverheadRow { operation: cell.operation, ranks: job.size as u32, native, through_collie });
    }
    Ok(rows)
}
