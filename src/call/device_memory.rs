//! Buffers in memory of a GPU, which messages of ours cannot come from or go to. A rank that has one plays its part with a
//! copy on the host, so that nobody has to know of it beforehand; and as the MPI library may do better, the ranks tell
//! each other now and again, and leave the communicator to it once one of them had such a buffer.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::local_arguments::LocalArguments;
use super::own_arguments;
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::mpi::communicator;
use crate::mpi::datatype::Datatype;
use crate::mpi::error::Result;
use crate::mpi::memory::Pool;
use crate::mpi::packing::Elements;
use crate::operation::Holds;
use crate::operation::Operation;
use crate::process::device::{self, NotCopied};
use crate::process::runtime::Runtime;
use crate::schedule::overlap::Reach;
use crate::selection::Mode;

const SIDES: [own_arguments::Side; 2] = [own_arguments::Side::Send, own_arguments::Side::Receive];
/// Of cache lines.
const ALIGNMENT: usize = 64;

/// What decides about calls of which this rank had a copy on the host.
pub const COPIED: &str = "device memory, copied to the host";

/// Before a call is looked at: where it is time to, finds out together whether any rank has had a buffer in memory of a
/// GPU, in this call or an earlier one. If one has, leaves this call and all that follow on the communicator to the MPI
/// library. Says whether the ranks told each other.
///
/// Every call [counts](count), whoever carries it out: what all ranks do alike is making calls. Of one that the MPI
/// library refuses on a rank, that rank has told the others once it makes the right one.
///
/// # Errors
/// What PMPI returned.
#[inline]
pub fn tell(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments) -> Result<bool> {
    let communicator = &attached.communicator;
    if !communicator.asks_for_device_memory() || !arguments.operation.has_data() {
        return Ok(false);
    }
    if !is_due(communicator) {
        return Ok(false);
    }
    communicator.device.tell();
    let (rank, size) = (communicator.facts.rank, communicator.facts.size);
    let on_host = !communicator.device.has_found() && !arguments.first_bytes(rank, size).any(device::owns);
    // Calls that only the MPI library carries out want no communicator of ours.
    let comm = communicator.private.made().unwrap_or(communicator.facts.comm);
    if !runtime.uncounted(|| communicator::all(comm, on_host))? {
        attached.leave(Fallback::DeviceMemory);
    }
    Ok(true)
}

/// Counts a call before which the ranks have told each other what they had to: when it begins; or, where it may be one
/// that the MPI library refuses on this rank alone, when it has ended otherwise.
#[inline]
pub fn count(communicator: &Communicator, operation: Operation) {
    if communicator.asks_for_device_memory() && operation.has_data() {
        communicator.device.count();
    }
}

/// Takes a call back that was counted and then refused.
#[cold]
pub fn take_back(communicator: &Communicator, operation: Operation) {
    if communicator.asks_for_device_memory() && operation.has_data() {
        communicator.device.take_back();
    }
}

/// Whether the ranks tell each other before the next call. All ranks see it alike.
fn is_due(communicator: &Communicator) -> bool {
    // Results that are compared have to be on the host, and what cannot be copied is not ours to send.
    let mode = communicator.agreed.as_ref().map(|agreed| agreed.configuration.mode);
    let is_due = communicator.device.is_due() || mode == Some(Mode::Verify) || communicator.has_foreign_memory();
    is_due && !communicator.device.have_told()
}

/// Whether calls that came before have to be counted, and those that an algorithm of ours carries out looked at.
#[inline(always)]
pub fn is_watched(communicator: &Communicator, operation: Operation) -> bool {
    communicator.device.is_watched() && operation.has_data()
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
        let elements = [local.send.as_ref(), local.receive.as_ref()];
        let reaches = std::array::from_fn(|place| reach(local, SIDES[place], elements[place]));
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
    /// What the call writes, by parts: the copy, the program's, and their bytes.
    written: Vec<(*const u8, *mut u8, usize)>,
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
        if owned == [false; 2] {
            return Ok(None);
        }
        communicator.device.find();
        let (mut memory, mut written) = (Pool::new(), Vec::new());
        let row = arguments.operation.row();
        for place in 0..2 {
            let Some(elements) = [&local.send, &local.receive][place].filter(|_| owned[place]) else { continue };
            let (bytes, first, of) = (reaches[place].bytes(), firsts[place], SIDES[place]);
            // With the same place in its cache line, since operations of the program's may rest on that.
            let phase = first.addr() % ALIGNMENT;
            let copy = memory.take(bytes + phase).wrapping_add(phase);
            let parts = parts(local, of, &elements);
            // What is in the receive buffer counts where it is the send buffer as well, and between its elements.
            let is_received = of == own_arguments::Side::Receive;
            let is_overwritten = is_received && local.send.is_some() && elements.datatype.contiguous;
            let moved = |part: &Reach| part.first().wrapping_sub(reaches[place].first());
            if !is_overwritten {
                for part in &parts {
                    // SAFETY: a GPU owns the buffer, of which this is a part, and there is room for all of it.
                    unsafe {
                        device::fetch(
                            copy.wrapping_offset(moved(part)),
                            first.wrapping_offset(moved(part)),
                            part.bytes(),
                        )?;
                    }
                }
            }
            let is_only_read = row.send.holds == Holds::Nothing && communicator.facts.rank == local.root;
            if is_received && !is_only_read {
                let at = |part: &Reach| (copy.wrapping_offset(moved(part)), first.wrapping_offset(moved(part)));
                written = parts.iter().map(|part| (at(part).0.cast_const(), at(part).1, part.bytes())).collect();
            }
            sides[place] = copy.wrapping_offset(reaches[place].first().wrapping_neg());
        }
        Ok(Some(Self { sides, written, _memory: memory }))
    }

    /// After the call: has its result where the program wants it.
    ///
    /// # Errors
    /// What the GPU's runtime said.
    pub fn bring_back(self) -> std::result::Result<(), NotCopied> {
        for (copy, owned, bytes) in &self.written {
            // SAFETY: the copy is this one's; the GPU owned the program's buffer, and does until the call has ended.
            unsafe { device::deliver(*owned, *copy, *bytes)? };
        }
        Ok(())
    }
}

/// The parts of a buffer that are copied: where each rank passes its own blocks, these, as what lies between is not the
/// call's; otherwise from the first byte in use to the last.
fn parts(local: &LocalArguments, side: own_arguments::Side, elements: &Elements) -> Vec<Reach> {
    let Datatype { true_lower, true_extent, extent, .. } = elements.datatype;
    match &local.own {
        None => vec![reach(local, side, Some(elements))],
        Some(own) => {
            let blocks = own.filled(side).map(|(_, at)| {
                Reach::of(at.number, true_lower, true_extent, extent).moved(at.first.wrapping_mul(extent))
            });
            blocks.collect()
        }
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
