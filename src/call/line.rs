//! A call as one line of the log for people (`COLLIE_LOG=trace`).

use crate::communicator::state::Communicator;
use crate::monitor::CounterId;
use crate::process::runtime::Runtime;
use std::os::raw::c_int;

/// Writes the line of a call, given by its counter and bytes.
pub fn log_call(
    runtime: &Runtime,
    communicator: &Communicator,
    name: &str,
    root: c_int,
    (counter, bytes): (CounterId, usize),
    ticks: u64,
) {
    let (algorithm, decided_by) = communicator.tally.table.texts(counter);
    log::trace!(
        "{name} communicator={} size={} root={root} bytes={bytes} algorithm={algorithm} \
         decided_by=\"{decided_by}\" seconds={:.9}",
        communicator.identity(),
        communicator.facts.size,
        runtime.nanoseconds(ticks) as f64 * 1e-9,
    );
}
