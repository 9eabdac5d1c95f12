//! Calls that are under way while a report is written: what it holds of their communicators.

use crate::communicator::state::Communicator;
use crate::monitor::{CallUnderWayRecord, UnderWayRecord};
use crate::process::runtime::Runtime;

/// A call is under way on the communicator; `is_sending`: in an algorithm of ours, which counts its messages. MPI is
/// asked for the communicator's name unless `is_any_time`.
pub fn add(
    record: &mut UnderWayRecord,
    runtime: &Runtime,
    communicator: &Communicator,
    is_sending: bool,
    is_any_time: bool,
) {
    record.calls.push(CallUnderWayRecord {
        function: communicator.last_function.map_or_else(String::new, |function| function.name().to_owned()),
        communicator: communicator.title(is_any_time),
        ns: runtime.nanoseconds(runtime.clock.raw().saturating_sub(communicator.last_call)),
    });
    record.without_messages += u32::from(is_sending);
}
