//! Buffers in memory of a GPU, which are the MPI library's to send.

use super::arguments::Arguments;
use super::attachment::Attached;
use crate::algorithm::Operation;
use crate::communicator::fallback::Fallback;
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::process::device;
use crate::process::runtime::Runtime;

/// Where some rank has a GPU: finds out together whether the call has a buffer in memory of one, on any rank. If it
/// has, this call and all that follow on the communicator are the MPI library's.
///
/// # Errors
/// What PMPI returned.
#[inline]
pub fn ask(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments) -> Result {
    let communicator = &mut attached.communicator;
    if !communicator.asks_for_device_memory() || arguments.operation == Operation::Barrier {
        return Ok(());
    }
    let Some(private) = communicator.private(runtime)? else { return Ok(()) };
    let on_host = !arguments.first_bytes(communicator.facts.rank, communicator.facts.size).any(device::owns);
    if !runtime.uncounted(|| communicator::all(private, on_host))? {
        attached.leave(Fallback::DeviceMemory);
    }
    Ok(())
}
