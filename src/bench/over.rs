//! A transport with the communicators of its variants: of each its own, so that each has decisions and memory of its
//! own.

use super::cell::{Cell, Datatype};
use super::exchange::{Exchange, Library};
use super::job::Job;
use super::program::{self, NATIVE};
use super::variants::Named;
use crate::algorithm::{Operation, SharedMemory};
use crate::mpi::Result;
use crate::selection::{Configuration, Transport};
use mpi_sys::MPI_Comm;

/// A transport of a job, and what is there to measure it with.
pub struct Over {
    /// As in reports; nothing where nobody has named one.
    named: Option<Transport>,
    /// What it is.
    pub transport: Transport,
    slots: Vec<Slot>,
}

/// The place of a variant.
struct Slot {
    /// One, or those that take turns.
    communicators: Vec<MPI_Comm>,
    /// The memory that the ranks share on them, or why there is none though it was wanted.
    memory: std::result::Result<Option<SharedMemory>, &'static str>,
}

/// Those that `wanted` names, or else what `configured` says, each with `slots` places of `in_turn` communicators.
/// Native has one place: that of the first.
///
/// # Errors
/// What MPI returned.
pub fn all(
    job: &Job,
    (wanted, configured): (&[Transport], Transport),
    slots: usize,
    in_turn: usize,
) -> Result<Vec<Over>> {
    if wanted.is_empty() {
        return Ok(vec![Over::new(job, (None, configured), slots, in_turn)?]);
    }
    let each = wanted.iter().map(|transport| Over::new(job, (Some(*transport), *transport), slots, in_turn));
    each.collect()
}

impl Over {
    fn new(
        job: &Job,
        (named, transport): (Option<Transport>, Transport),
        slots: usize,
        in_turn: usize,
    ) -> Result<Self> {
        let slots = (0..slots).map(|_| Slot::new(job, named, in_turn)).collect::<Result<_>>()?;
        Ok(Self { named, transport, slots })
    }

    /// What a variant is called in reports.
    pub fn name(&self, variant: &str) -> String {
        program::over(self.named, variant)
    }

    /// The memory that all ranks share, where some variant has it.
    pub fn memory(&self) -> Option<SharedMemory> {
        self.slots.iter().find_map(|slot| slot.memory.ok().flatten())
    }

    /// The communicators of a variant.
    ///
    /// # Errors
    /// The memory that the transport would need, and why it cannot be had.
    pub fn communicators(&self, variant: &Named) -> std::result::Result<&[MPI_Comm], String> {
        let Slot { communicators, memory } = &self.slots[variant.slot];
        match memory {
            Err(why) if variant.name != NATIVE => Err(format!("has no shared memory: {why}")),
            _ => Ok(communicators),
        }
    }
}

impl Slot {
    /// Has every communicator through what is done once on each: the ranks agree, and a private communicator is made.
    /// No cell is to pay for that.
    fn new(job: &Job, named: Option<Transport>, in_turn: usize) -> Result<Self> {
        let communicators = (0..in_turn).map(|_| job.communicator()).collect::<Result<Vec<_>>>()?;
        let barrier = Cell::new(Operation::Barrier, Datatype::Byte, 0, 0).expect("a barrier has no datatype");
        let exchange = Exchange::new(job, &barrier, false, false);
        let mut memory = Ok(None);
        for comm in &communicators {
            if let Some(transport) = named {
                job.choose_transport(*comm, transport);
            }
            for _ in 0..=Configuration::REPLACED_FROM {
                exchange.call(Library::Collie, *comm, 0)?;
            }
            memory = memory.and(job.shared_memory(*comm));
        }
        Ok(Self { communicators, memory })
    }
}
