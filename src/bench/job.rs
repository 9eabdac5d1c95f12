//! Everything of the benchmark that speaks MPI: the job, its clocks and barrier, and the calls that are measured.
//!
//! `PMPI_X` is the native library's and `MPI_X` Collie's own, which this program links: nothing is preloaded.

use super::cell::{Cell, Datatype};
use crate::algorithm::Operation;
use crate::entry::control;
use crate::entry::symbols;
use crate::mpi::collectives::{self, Passed};
use crate::mpi::memory::Pool;
use crate::mpi::{Result, check, communicator, constants, node};
use crate::schedule::Buffer;
use crate::selection::variables;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::{CStr, CString, c_char, c_int};
use std::time::Duration;

/// How long a rank keeps away from MPI after a timed call.
const REST: Duration = Duration::from_micros(4);

/// Whose collective is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `PMPI_X`.
    Native,
    /// `MPI_X` of Collie.
    Collie,
}

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
}

impl Job {
    /// Starts MPI with Collie in it.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn start() -> Result<Self> {
        // SAFETY: nothing has started a thread yet.
        unsafe {
            // The user's variables decide what `auto` means, but for these: Collie is to run, and to keep silent.
            std::env::remove_var(variables::MODE);
            if std::env::var_os(variables::REPORT).is_none() {
                std::env::set_var(variables::REPORT, "off");
            }
            check(symbols::MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()))?;
        }
        let world = constants::comm_world();
        let (rank, size) = (communicator::rank(world)?, communicator::size(world)?);
        let all = communicator::allgather(world, size, [node::identity(), u64::from(node::oversubscribed())])?;
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
        Ok(Self { rank, size, nodes, ranks_per_node, oversubscribed, clock, world, own, strided })
    }

    /// Ends MPI.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn finish(mut self) -> Result {
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
        let text = text.to_string_lossy();
        text.split(['\n', ',']).next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Sets `bytes` on every rank to what they are on rank 0.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn broadcast(&self, bytes: &mut Vec<u8>) -> Result {
        crate::mpi::bytes::broadcast(self.own, 0, bytes)
    }

    /// Rank 0's word.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn of_first(&self, word: usize) -> Result<usize> {
        let mut bytes = word.to_le_bytes().to_vec();
        self.broadcast(&mut bytes)?;
        Ok(usize::from_le_bytes(bytes.try_into().expect("as many bytes as were sent")))
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
        let max = constants::ops()[3];
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
            // SAFETY: messages of no bytes.
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
    /// Without it a gather of 256 bytes between two ranks of Open MPI 4.1.4 took its root 0.1 µs longer or not, as the sender's
    /// clock reads decided.
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

    /// Buffers and arguments of a cell's call on this rank, which may be the root of some calls if these change it.
    pub fn prepare(&self, cell: &Cell, cold: bool, roots_in_turn: bool) -> Exchange {
        Exchange::new(self, cell, cold, roots_in_turn)
    }

    fn datatype(&self, datatype: Datatype) -> MPI_Datatype {
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

/// Bytes that a rank has to go through so that nothing of before is in a cache: twice the last one, shared by the
/// node's ranks.
fn cold_bytes(ranks_here: u32) -> usize {
    // SAFETY: sysconf has no preconditions.
    let cache = unsafe { libc::sysconf(libc::_SC_LEVEL3_CACHE_SIZE) };
    // Where the system does not tell, more than most have.
    let cache = usize::try_from(cache).ok().filter(|bytes| *bytes > 0).unwrap_or(64 << 20);
    2 * cache / ranks_here.max(1) as usize
}

/// Buffers and arguments of a call on this rank.
pub struct Exchange {
    cell: Cell,
    rank: usize,
    datatype: MPI_Datatype,
    op: MPI_Op,
    /// Counts and displacements by rank, where each rank passes its own: of the send and of the receive side.
    arrays: [[Vec<c_int>; 2]; 2],
    send: Vec<*mut u8>,
    receive: Vec<*mut u8>,
    send_bytes: usize,
    receive_bytes: usize,
    turn: usize,
    expected: Vec<u8>,
    /// Owns what the pointers point to.
    _pool: Pool,
}

impl Exchange {
    fn new(job: &Job, cell: &Cell, cold: bool, roots_in_turn: bool) -> Self {
        let elements = cell.elements();
        let arrays = arrays(job, cell);
        let own = arrays.each_ref().map(|[counts, _]| counts.iter().map(|count| *count as usize).sum());
        let as_root = |is: bool| cell.operation.row().sides().map(|side| side.blocks(job.size, is).unwrap_or(0));
        let mut blocks = as_root(job.rank == cell.root);
        if roots_in_turn {
            let [other, root] = [false, true].map(as_root);
            blocks = [other[0].max(root[0]), other[1].max(root[1])];
        }
        let elements = if cell.operation.has_own_counts() { own } else { blocks.map(|blocks| blocks * elements) };
        let [send_bytes, receive_bytes] = elements.map(|elements| elements * cell.datatype.extent());
        let node = job.nodes.get(job.rank).copied().unwrap_or(0);
        let room = cold_bytes(job.ranks_per_node[node as usize]);
        let copies = if cold { (room / (send_bytes + receive_bytes).max(4096)).max(2) } else { 1 };
        let mut pool = Pool::new();
        // Pages of their own: a buffer must not come into the cache with its neighbour.
        let mut pieces = |bytes: usize| {
            let room = if cold { bytes.next_multiple_of(4096) } else { bytes };
            (0..copies).map(|_| pool.take(room)).collect::<Vec<_>>()
        };
        let ops = constants::ops();
        let mut exchange = Self {
            cell: *cell,
            rank: job.rank,
            datatype: job.datatype(cell.datatype),
            // The first is the sum, the ninth the bitwise or: sums are not defined on bytes.
            op: if cell.datatype == Datatype::Byte { ops[8] } else { ops[0] },
            arrays,
            send: pieces(send_bytes),
            receive: pieces(receive_bytes),
            send_bytes,
            receive_bytes,
            turn: 0,
            expected: Vec::new(),
            _pool: pool,
        };
        for turn in 0..exchange.send.len() {
            exchange.turn = turn;
            exchange.fill(exchange.send[turn], exchange.send_bytes);
            exchange.reset();
        }
        exchange
    }

    /// Small whole numbers that differ between ranks and places: their sums are exact in any order.
    fn fill(&self, address: *mut u8, bytes: usize) {
        let (extent, size) = (self.cell.datatype.extent(), self.cell.datatype.size());
        for element in 0..bytes / extent {
            let value = ((element * 7 + self.rank * 13 + 1) % 251) as u8;
            let bytes = match self.cell.datatype {
                Datatype::Double | Datatype::Strided => f64::from(value).to_ne_bytes(),
                Datatype::Float => widened(f32::from(value).to_ne_bytes()),
                Datatype::Int => widened(i32::from(value).to_ne_bytes()),
                Datatype::Byte => [value; 8],
            };
            // SAFETY: the buffer has that many elements; a value is as long as its element.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address.add(element * extent), size) };
        }
    }

    /// Makes the receive buffer what it is before a call.
    pub fn reset(&mut self) {
        let address = self.receive[self.turn];
        // SAFETY: the buffer is that long.
        unsafe { address.write_bytes(0, self.receive_bytes) };
        let Cell { operation, root, .. } = self.cell;
        let contribution = operation.row().contribution(1, 1, self.rank == root);
        if contribution.is_some_and(|range| range.buffer == Buffer::Receive) {
            self.fill(address, self.receive_bytes);
        }
    }

    fn received(&self) -> &[u8] {
        // SAFETY: `reset` wrote all of it, and no call is under way.
        unsafe { std::slice::from_raw_parts(self.receive[self.turn], self.receive_bytes) }
    }

    /// Takes the present result for right.
    pub fn expect(&mut self) {
        self.expected = self.received().to_vec();
    }

    /// Whether the present result is the one expected.
    pub fn is_expected(&self) -> bool {
        self.received() == self.expected
    }

    /// Goes on to other buffers, if there are others.
    pub fn advance(&mut self) {
        self.turn = (self.turn + 1) % self.send.len();
    }

    /// The root of its cell.
    #[inline]
    pub const fn root(&self) -> usize {
        self.cell.root
    }

    /// Makes the call once, from `root` if it has one.
    ///
    /// # Errors
    /// What MPI returned.
    #[inline]
    pub fn call(&self, library: Library, comm: MPI_Comm, root: usize) -> Result {
        let count = self.cell.elements() as i64;
        let [sent, received] =
            self.arrays.each_ref().map(|arrays| arrays.each_ref().map(|array| array.as_ptr().cast()));
        let passed = Passed {
            send: self.send[self.turn].cast(),
            send_count: count,
            send_type: self.datatype,
            receive: self.receive[self.turn].cast(),
            receive_count: count,
            receive_type: self.datatype,
            op: self.op,
            root: root as c_int,
            send_counts: sent[0],
            send_displacements: sent[1],
            receive_counts: received[0],
            receive_displacements: received[1],
            wide: false,
        };
        // SAFETY: the buffers have room for what the cell's call reads and writes on this rank.
        check(unsafe {
            match library {
                Library::Native => collectives::native(self.cell.operation, &passed, comm),
                Library::Collie => symbols::call(self.cell.operation, &passed, comm),
            }
        })
    }
}

/// Counts and displacements of the blocks that a rank sends and of those that it receives, one behind the other; empty
/// where all blocks are alike.
fn arrays(job: &Job, cell: &Cell) -> [[Vec<c_int>; 2]; 2] {
    if !cell.operation.has_own_counts() {
        return Default::default();
    }
    let (rank, size) = (job.rank, job.size);
    let side = |length: &dyn Fn(usize) -> usize| {
        let counts: Vec<_> = (0..size).map(|other| length(other) as c_int).collect();
        let ends = counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count)));
        let displacements = ends.collect();
        [counts, displacements]
    };
    [side(&|to| cell.block(rank, to, size)), side(&|from| cell.block(from, rank, size))]
}

fn widened(bytes: [u8; 4]) -> [u8; 8] {
    let [a, b, c, d] = bytes;
    [a, b, c, d, 0, 0, 0, 0]
}
