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
    let is_due = is_due(communicator);
    communicator.device.count();
    if !is_due {
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

/// Whether the ranks tell each other before the next call. All ranks see it alike.
fn is_due(communicator: &Communicator) -> bool {
    // Results that are compared have to be on the host, and what cannot be copied is not ours to send.
    let mode = communicator.agreed.as_ref().map(|agreed| agreed.configuration.mode);
    communicator.device.is_due() || mode == Some(Mode::Verify) || communicator.has_foreign_memory()
}

/// Whether calls that came before have to be looked at: those that an algorithm of ours may carry out.
#[inline(always)]
pub fn is_watched(communicator: &Communicator, operation: Operation) -> bool {
    communicator.device.is_watched() && operation != Operation::Barrier
}

/// Whether a call like an earlier one can be carried out as that was: the ranks have nothing to tell each other before
/// it, and its buffers are on the host, where `local` is what counts of them. Then it has yet to be counted.
#[inline(never)]
pub fn passes(communicator: &Communicator, arguments: &Arguments, local: Option<&LocalArguments>) -> bool {
    let sides = || [arguments.send.address, arguments.receive.address].map(|address| address.cast_mut().cast());
    let on_host = |local| Places::of(local, sides()).owned() == [false; 2];
    !communicator.asks_for_device_memory() || !is_due(communicator) && local.is_none_or(on_host)
}

/// Where the bytes of a call's buffers lie that are in use.
struct Places {
    reaches: [Reach; 2],
    firsts: [*mut u8; 2],
}

impl Places {
    fn of(local: &LocalArguments, sides: [*mut u8; 2]) -> Self {
        let reaches = [
            reach(local, own_arguments::Side::Send, local.send.as_ref()),
            reach(local, own_arguments::Side::Receive, local.receive.as_ref()),
        ];
        Self { reaches, firsts: std::array::from_fn(|place| sides[place].wrapping_offset(reaches[place].first())) }
    }

    /// Whether a GPU owns them.
    fn owned(&self) -> [bool; 2] {
        device::owned(std::array::from_fn(|place| match self.reaches[place].bytes() {
            0 => std::ptr::null(),
            _ => self.firsts[place].cast_const().cast(),
        }))
    }
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
        let places = Places::of(local, sides);
        let owned = places.owned();
        let Places { reaches, firsts } = places;
        let (mut memory, mut written, mut any) = (Pool::new(), None, false);
        let row = arguments.operation.row();
        for place in 0..2 {
            let Some(elements) = [&local.send, &local.receive][place].filter(|_| owned[place]) else { continue };
            let (bytes, first) = (reaches[place].bytes(), firsts[place]);
            any = true;
            let copy = memory.take(bytes);
            // What is in the receive buffer counts where it is the send buffer as well, and between its elements.
            let is_received = place == 1;
            let is_overwritten =
                is_received && local.send.is_some() && local.own.is_none() && elements.datatype.contiguous;
            if !is_overwritten {
                // SAFETY: a GPU owns the buffer, which is of so many bytes, and there is room for them.
                unsafe { device::fetch(copy, first, bytes)? };
            }
            let is_only_read = row.send.holds == Holds::Nothing && communicator.facts.rank == local.root;
            if is_received && !is_only_read {
                written = Some((copy.cast_const(), first, bytes));
            }
            sides[place] = copy.wrapping_offset(reaches[place].first().wrapping_neg());
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

/// From the first byte in use of a buffer to the last; nothing of one that does not count.
fn reach(local: &LocalArguments, side: own_arguments::Side, elements: Option<&Elements>) -> Reach {
    let Some(Elements { count, datatype, .. }) = elements else { return Reach::default() };
    match &local.own {
        None => Reach::of(*count, datatype.true_lower, datatype.true_extent, datatype.extent),
        Some(own) => own.reach(side, datatype),
    }
}
