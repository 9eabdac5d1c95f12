//! Buffers in memory of a GPU, which messages of ours cannot come from or go to. A rank that has one plays its part with a
//! copy on the host, so that nobody has to know of it beforehand; and as the MPI library may do better, the ranks tell
//! each other now and again, and leave the communicator to it once one of them had such a buffer.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::local_arguments::LocalArguments;
use super::own_arguments;
use super::plan::Plan;
use crate::algorithm::Operation;
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::mpi::memory::Pool;
use crate::mpi::packing::Elements;
use crate::operation::Holds;
use crate::process::device::{self, NotCopied};
use crate::process::runtime::Runtime;
use crate::schedule::overlap::Reach;
use crate::selection::Mode;

/// What decides about calls of which this rank had a copy on the host.
pub const COPIED: &str = "device memory, copied to the host";

/// Whether calls by the plan have to be looked at on a communicator where some rank uses a GPU.
pub fn concerns(communicator: &Communicator, operation: Operation, plan: &Plan) -> bool {
    communicator.asks_for_device_memory() && operation != Operation::Barrier && plan.may_be_ours()
}

/// Before a call by the plan: where it is time to, finds out together whether any rank has had a buffer in memory of a
/// GPU, in this call or an earlier one. If one has, leaves this call and all that follow on the communicator to the MPI
/// library.
///
/// # Errors
/// What PMPI returned.
#[inline]
pub fn leaves(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments, plan: &Plan) -> Result<bool> {
    let communicator = &mut attached.communicator;
    if !concerns(communicator, arguments.operation, plan) {
        return Ok(false);
    }
    // Results that are compared have to be on the host, and what cannot be copied is not ours to send.
    let mode = communicator.agreed.as_ref().map(|agreed| agreed.configuration.mode);
    let each_time = mode == Some(Mode::Verify) || communicator.has_foreign_memory();
    if !communicator.device.is_due() && !each_time {
        return Ok(false);
    }
    let Some(private) = communicator.private(runtime)? else { return Ok(false) };
    let (rank, size) = (communicator.facts.rank, communicator.facts.size);
    let on_host = !communicator.device.has_found() && !arguments.first_bytes(rank, size).any(device::owns);
    let leaves = !runtime.uncounted(|| communicator::all(private, on_host))?;
    if leaves {
        attached.leave(Fallback::DeviceMemory);
    }
    Ok(leaves)
}

/// Copies on the host of those buffers of a call that a GPU owns.
pub struct OnHost {
    /// Where the two buffers are, as the program would have passed them: the copies, or the program's own.
    pub sides: [*mut u8; 2],
    /// What the call writes: the copy, the program's, and their bytes.
    written: Option<(*const u8, *mut u8, usize)>,
    /// What the copies lie in.
    _memory: Pool,
}

impl OnHost {
    /// Of the call with these buffers; nothing where both are on the host.
    ///
    /// # Errors
    /// What the GPU's runtime said.
    pub fn of(
        communicator: &Communicator,
        arguments: &Arguments,
        local: &LocalArguments,
        mut sides: [*mut u8; 2],
    ) -> std::result::Result<Option<Self>, NotCopied> {
        let (mut memory, mut written, mut any) = (Pool::new(), None, false);
        let row = arguments.operation.row();
        let elements = [&local.send, &local.receive];
        for (place, side) in [own_arguments::Side::Send, own_arguments::Side::Receive].into_iter().enumerate() {
            let Some(elements) = elements[place] else { continue };
            let reach = reach(local, side, elements);
            let owned = sides[place].wrapping_offset(reach.first());
            if reach.bytes() == 0 || !device::owns(owned.cast()) {
                continue;
            }
            any = true;
            let (copy, bytes) = (memory.take(reach.bytes()), reach.bytes());
            // What is in the receive buffer counts where it is the send buffer as well, and between its elements.
            let is_received = place == 1;
            let is_overwritten =
                is_received && local.send.is_some() && local.own.is_none() && elements.datatype.contiguous;
            if !is_overwritten {
                // SAFETY: the GPU owns the buffer, which is of so many bytes, and there is room for them.
                unsafe { device::fetch(copy, owned, bytes)? };
            }
            let is_only_read = row.send.holds == Holds::Nothing && communicator.facts.rank == local.root;
            if is_received && !is_only_read {
                written = Some((copy.cast_const(), owned, bytes));
            }
            sides[place] = copy.wrapping_offset(reach.first().wrapping_neg());
        }
        Ok(any.then_some(Self { sides, written, _memory: memory }))
    }

    /// After the call: has its result where the program wants it.
    ///
    /// # Errors
    /// What the GPU's runtime said.
    pub fn bring_back(self) -> std::result::Result<(), NotCopied> {
        let Some((copy, owned, bytes)) = self.written else { return Ok(()) };
        // SAFETY: the copy is this one's; the GPU owned the program's buffer, and does until the call has ended.
        unsafe { device::deliver(owned, copy, bytes) }
    }
}

/// From the first byte in use of a buffer to the last.
fn reach(local: &LocalArguments, side: own_arguments::Side, elements: &Elements) -> Reach {
    let datatype = &elements.datatype;
    match &local.own {
        None => Reach::of(elements.count, datatype.true_lower, datatype.true_extent, datatype.extent),
        Some(own) => own.reach(side, datatype),
    }
}
