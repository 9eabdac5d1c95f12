//! The job of a benchmark: its start and end, its clocks and barrier.

use super::cell::{Cell, Datatype};
use super::user_defined::UserDefined;
use crate::algorithm::{Operation, SharedMemory};
use crate::entry::{control, symbols, transports};
use crate::mpi::{Result, bytes, check, communicator, constants, node, operation};
use crate::reduction::Op;
use crate::selection::{Configuration, RawConfiguration, Transport, short_name, variables};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::{CStr, CString, c_char, c_int};
use std::time::Duration;

/// How long a rank keeps away from MPI after a timed call.
const REST: Duration = Duration::from_micros(4);

/// The job and this rank's place in it.
pub struct Job {
    /// Own rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Node of each rank; empty if there is one node.
    pub nodes: Vec<u32>,
    /// Ranks on each node.
    pub ranks_per_node: Vec<u32>,
    /// Whether ranks outnumber the cores of a node.
    pub oversubscribed: bool,
    clock: quanta::Clock,
    world: MPI_Comm,
    /// Where the benchmark's own messages travel.
    own: MPI_Comm,
    strided: MPI_Datatype,
    /// One that does not commute, and one that does.
    user_defined: [UserDefined; 2],
}

impl Job {
    /// Starts MPI with Collie in it, under these variables besides the user's.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn start(more: &[(&str, &str)]) -> Result<Self> {
        transports::are_chosen();
        // SAFETY: nothing has started a thread yet.
        unsafe {
            // The user's variables decide what `auto` means, but for these: Collie is to run, and to keep silent.
            std::env::remove_var(variables::MODE);
            more.iter().for_each(|(variable, value)| std::env::set_var(variable, value));
            if std::env::var_os(variables::REPORT).is_none() {
                std::env::set_var(variables::REPORT, "off");
            }
            check(symbols::MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()))?;
        }
        let world = constants::comm_world();
        let (rank, size) = (communicator::rank(world)?, communicator::size(world)?);
        // Of all ranks of the job, which found it in `MPI_Init`.
        let oversubscribed = transports::oversubscribed();
        let all = communicator::allgather(world, size, [node::identity(), u64::from(oversubscribed)])?;
        let nodes = node::number(all.iter().map(|words| words[0]));
        let number = nodes.iter().max().map_or(1, |last| last + 1);
        let on = |node: u32| nodes.iter().filter(|one| **one == node).count() as u32;
        let ranks_per_node = if nodes.is_empty() { vec![size as u32] } else { (0..number).map(on).collect() };
        let mut strided = constants::datatype_null();
        let extent = Datatype::Strided.extent() as mpi_sys::MPI_Aint;
        // SAFETY: the out-parameter is valid for writes.
        unsafe {
            check(mpi_sys::PMPI_Type_create_resized(constants::double(), 0, extent, &mut strided))?;
            check(mpi_sys::PMPI_Type_commit(&mut strided))?;
        }
        let oversubscribed = all.iter().any(|words| words[1] != 0);
        let clock = quanta::Clock::new();
        let own = duplicate(world)?;
        let user_defined = [UserDefined::new(false)?, UserDefined::new(true)?];
        Ok(Self { rank, size, nodes, ranks_per_node, oversubscribed, clock, world, own, strided, user_defined })
    }

    /// Ends MPI.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn finish(mut self) -> Result {
        let [ordered, commuting] = self.user_defined;
        ordered.free()?;
        commuting.free()?;
        // SAFETY: no call uses the type any more, and nothing of ours uses MPI after this.
        unsafe {
            check(mpi_sys::PMPI_Type_free(&mut self.strided))?;
            check(symbols::MPI_Finalize())
        }
    }

    /// The MPI library's own words on what it is, the first line.
    pub fn library(&self) -> String {
        let mut text = vec![0 as c_char; mpi_sys::MPI_MAX_LIBRARY_VERSION_STRING as usize + 1];
        let mut length = 0;
        // SAFETY: the buffer has the room that MPI asks for and ends in a zero.
        let text = unsafe {
            mpi_sys::PMPI_Get_library_version(text.as_mut_ptr(), &mut length);
            CStr::from_ptr(text.as_ptr())
        };
        short_name(&text.to_string_lossy())
    }

    /// The variables of rank 0 and the files that they name: what all ranks decide by.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn configuration(&self) -> Result<Configuration> {
        let raw: RawConfiguration = self.of_first(&transports::configuration())?;
        // A wrong one has ended the job at its start.
        Ok(raw.parse().unwrap_or_default())
    }

    /// Sets `bytes` on every rank to what they are on rank 0.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn broadcast(&self, bytes: &mut Vec<u8>) -> Result {
        bytes::broadcast(self.own, 0, bytes)
    }

    /// Rank 0's value.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn of_first<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T> {
        bytes::of_first(self.own, (self.rank == 0).then_some(own))
    }

    /// Whether `own` holds on all ranks.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn all(&self, own: bool) -> Result<bool> {
        communicator::all(self.own, own)
    }

    /// Sets every value to the most over ranks.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn most(&self, values: &mut [f64]) -> Result {
        let max = operation::handle(Op::Max);
        let count = values.len() as c_int;
        let address = values.as_mut_ptr().cast();
        // SAFETY: as many doubles as said, in place.
        check(unsafe {
            mpi_sys::PMPI_Allreduce(constants::in_place(), address, count, constants::double(), max, self.own)
        })
    }

    /// A communicator of all ranks, with decisions of its own.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn communicator(&self) -> Result<MPI_Comm> {
        duplicate(self.world)
    }

    /// A communicator of these ranks, in this order; nothing on the others. All ranks take part.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn among(&self, ranks: &[usize]) -> Result<Option<MPI_Comm>> {
        let place = ranks.iter().position(|rank| *rank == self.rank);
        let (colour, key) = place.map_or((mpi_sys::MPI_UNDEFINED as c_int, 0), |place| (0, place as c_int));
        let mut made = constants::comm_null();
        // SAFETY: the out-parameter is valid for writes.
        check(unsafe { mpi_sys::PMPI_Comm_split(self.world, colour, key, &mut made) })?;
        Ok(place.map(|_| made))
    }

    /// Makes Collie run `operation` on `comm` as `choice` says. On all ranks alike.
    ///
    /// # Panics
    /// If there is no such choice; the program was checked before.
    pub fn choose(&self, comm: MPI_Comm, operation: Operation, choice: &str) {
        let [operation, choice] = [operation.name(), choice].map(|text| CString::new(text).expect("no zero bytes"));
        // SAFETY: both end in a zero byte; no collective is under way.
        let code = unsafe { control::collie_choose_on(comm, operation.as_ptr(), choice.as_ptr()) };
        assert_eq!(code, 0, "{operation:?} {choice:?}");
    }

    /// Has the messages of Collie's algorithms on `comm` travel so, from its first call on. On all ranks alike.
    pub fn choose_transport(&self, comm: MPI_Comm, transport: Transport) {
        // SAFETY: no collective is under way.
        unsafe { transports::choose(comm, transport) };
    }

    /// The memory that all ranks share on `comm` since its first calls, where it is wanted and they are on one node.
    ///
    /// # Errors
    /// Why there is none though it is wanted.
    pub fn shared_memory(&self, comm: MPI_Comm) -> std::result::Result<Option<SharedMemory>, &'static str> {
        // SAFETY: no collective is under way.
        unsafe { transports::shared_memory(comm) }
    }

    /// Waits until all ranks have come here: a dissemination barrier of our own, so that native and ours start from
    /// the same skew, whatever the native barrier does.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn synchronise(&self) -> Result {
        let mut distance = 1;
        let (nothing, byte) = (std::ptr::null_mut(), constants::byte());
        while distance < self.size {
            let to = ((self.rank + distance) % self.size) as c_int;
            let from = ((self.rank + self.size - distance) % self.size) as c_int;
            // SAFETY: no elements either way, so that MPI follows neither address; no status is asked for.
            check(unsafe {
                let status = constants::status_ignore();
                mpi_sys::PMPI_Sendrecv(nothing, 0, byte, to, 0, nothing, 0, byte, from, 0, self.own, status)
            })?;
            distance *= 2;
        }
        Ok(())
    }

    /// Keeps away from MPI for a moment, so that no message of the next synchronisation reaches a rank that is still in
    /// the call: MPI libraries handle whatever has arrived before they return.
    ///
    /// Without it a gather of 256 bytes between two ranks of Open MPI 4.1.4 took its root 0.1 µs longer or not, as the
    /// sender's clock reads decided.
    pub fn rest(&self) {
        let start = self.clock.raw();
        while Duration::from_nanos(self.clock.delta_as_nanos(start, self.clock.raw())) < REST {
            std::hint::spin_loop();
        }
    }

    /// Seconds that `call` takes on this rank.
    ///
    /// # Errors
    /// What `call` returned.
    #[inline]
    pub fn seconds(&self, call: impl FnOnce() -> Result) -> Result<f64> {
        let start = self.clock.raw();
        let result = call();
        let end = self.clock.raw();
        result.map(|()| self.clock.delta_as_nanos(start, end) as f64 * 1e-9)
    }

    /// Keeps this rank busy for so many seconds.
    pub fn compute(&self, seconds: f64) {
        let start = self.clock.raw();
        while (self.clock.delta_as_nanos(start, self.clock.raw()) as f64) < seconds * 1e9 {
            std::hint::spin_loop();
        }
    }

    /// The operation of a cell's reduction.
    pub fn op(&self, cell: &Cell) -> MPI_Op {
        match cell.datatype {
            _ if cell.reduces_locally() => self.user_defined[usize::from(cell.commutative)].op(),
            // Sums are not defined on bytes.
            Datatype::Byte => operation::handle(Op::Bor),
            _ => operation::handle(Op::Sum),
        }
    }

    /// The MPI datatype.
    pub fn datatype(&self, datatype: Datatype) -> MPI_Datatype {
        match datatype {
            Datatype::Double => constants::double(),
            Datatype::Float => constants::float(),
            Datatype::Int => constants::int(),
            Datatype::Byte => constants::byte(),
            Datatype::Strided => self.strided,
        }
    }
}

fn duplicate(comm: MPI_Comm) -> Result<MPI_Comm> {
    let mut made = constants::comm_null();
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Comm_dup(comm, &mut made) })?;
    Ok(made)
}
