//! How messages of single communicators travel, for programs of ours that measure several ways side by side in one job.
//! Elsewhere `COLLIE_TRANSPORT` says it for all.

use crate::call::attachment::{Attachment, Visit};
use crate::call::program;
use crate::call::registry;
use crate::operation::SharedMemory;
use crate::process::runtime::{self, Runtime};
use crate::selection::{Configuration, RawConfiguration, Transport};
use crate::service::lifecycle;
use mpi_sys::MPI_Comm;

/// Says before `MPI_Init` that the program is going to.
pub fn are_chosen() {
    lifecycle::transports_are_chosen();
}

/// Has messages on `comm` travel so. All its ranks choose alike, before their first call on it.
///
/// # Safety
/// This thread is not in a call on the communicator.
pub unsafe fn choose(comm: MPI_Comm, transport: Transport) {
    if let Some(attachment) = attachment(comm) {
        // SAFETY: the caller's promise.
        unsafe { attachment.hold() }.communicator.transport = Some(transport);
    }
}

/// The memory that all ranks of `comm` share since its first calls; nothing where none is wanted, or they are on
/// several nodes.
///
/// # Errors
/// Why there is none though it is wanted.
///
/// # Safety
/// This thread is not in a call on the communicator.
pub unsafe fn shared_memory(comm: MPI_Comm) -> Result<Option<SharedMemory>, &'static str> {
    let Some(attachment) = attachment(comm) else { return Ok(None) };
    // SAFETY: the caller's promise; nothing is cloned.
    let found = unsafe {
        attachment.look(Visit::BetweenCalls, |seen| {
            let communicator = &seen.attached.communicator;
            match communicator.shared.without() {
                Some(why) => Err(why.words()),
                None => Ok(program::shared_memory(communicator, true)),
            }
        })
    };
    found.unwrap_or(Ok(None))
}

/// This process's configuration as `MPI_Init` has left it, with the network that was measured there; as set where there
/// is no MPI.
pub fn configuration() -> RawConfiguration {
    runtime::get().map_or_else(RawConfiguration::from_environment, |runtime| runtime.raw().clone())
}

/// Which messages within a node travel in pieces where they are MPI's, by rank 0's `configuration` and what was found
/// in `MPI_Init`: the word of the limits, 0 for none.
pub fn limits(configuration: &Configuration) -> u64 {
    let found = runtime::get().map(|runtime| (runtime.limits(), runtime.oversubscribed()));
    found.map_or(0, |(limits, oversubscribed)| configuration.limits_within_node(limits, oversubscribed).word())
}

/// Whether ranks outnumber the cores of this node.
pub fn oversubscribed() -> bool {
    runtime::get().is_some_and(Runtime::oversubscribed)
}

fn attachment(comm: MPI_Comm) -> Option<&'static Attachment> {
    let attachment = registry::of(runtime::get()?, comm).ok()?;
    // SAFETY: the programs that ask keep their communicators until MPI ends.
    Some(unsafe { &*attachment })
}
