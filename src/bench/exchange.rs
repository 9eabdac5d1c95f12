//! Buffers and arguments of a cell's call on one rank, and the call itself.
//!
//! `PMPI_X` is the native library's and `MPI_X` Collie's own, which this program links: nothing is preloaded.

use super::cell::{Cell, Datatype};
use super::job::Job;
use crate::entry::symbols;
use crate::mpi::collectives;
use crate::mpi::memory::Pool;
use crate::mpi::passed::Passed;
use crate::mpi::{Result, check};
use crate::schedule::Buffer;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::c_int;

/// Whose collective is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `PMPI_X`.
    Native,
    /// `MPI_X` of Collie.
    Collie,
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
    /// Of `cell` on this rank, which may be the root of some calls if these change it; `cold`: with so many buffers
    /// that none is in a cache.
    pub fn new(job: &Job, cell: &Cell, cold: bool, roots_in_turn: bool) -> Self {
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
        let mut exchange = Self {
            cell: *cell,
            rank: job.rank,
            datatype: job.datatype(cell.datatype),
            op: job.op(cell),
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
