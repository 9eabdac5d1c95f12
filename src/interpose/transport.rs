//! From the program's buffers to an algorithm's and back: what is not in a row is packed before and unpacked after.

use super::arguments::Significant;
use super::attention::{self, WATCHED};
use super::kept::{Kept, Key};
use super::watch;
use crate::algorithm::{Call, Choice, Operation};
use crate::monitor::Traffic;
use crate::mpi::error::Result;
use crate::mpi::executor::{Executor, Setting, Units};
use crate::mpi::memory::Pool;
use crate::mpi::packing::Elements;
use crate::schedule::overlap::Overlap;
use crate::schedule::pieces::Pieces;
use mpi_sys::{MPI_Comm, MPI_Request};

/// What each thread keeps from call to call.
#[derive(Default)]
struct Keep {
    pool: Pool,
    requests: Vec<MPI_Request>,
}

static KEY: Key = Key::new();

thread_local! {
    static KEEP: Kept<Keep> = const { Kept::nothing(&KEY) };
}

/// Lends what the thread keeps: working memory, and a table of requests.
#[inline]
pub fn with_keep<T>(action: impl FnOnce(&mut Pool, &mut Vec<MPI_Request>) -> T) -> T {
    KEEP.with(|keep| keep.lend(|keep| action(&mut keep.pool, &mut keep.requests)))
}

/// Own place among the ranks, and how to wait.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The private communicator.
    pub comm: MPI_Comm,
    /// Own rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Whether waiting gives the core away.
    pub yielding: bool,
    /// Which messages travel in pieces.
    pub pieces: Pieces,
}

/// Runs `choice` on this rank; counts what it sends in `traffic`, by rank of the communicator.
///
/// # Errors
/// The first error that PMPI returned.
pub fn carry_out(
    place: Place,
    call: &Call,
    significant: &Significant,
    choice: &Choice,
    traffic: &mut Traffic,
) -> Result {
    with_keep(|pool, requests| {
        pool.clear();
        let buffers = Buffers::prepare(place, call, significant, pool)?;
        let watched = attention::heeds(WATCHED).then(watch::of_this_thread);
        if let Some(watched) = &watched {
            watched.runs(Some((choice.algorithm.operation, choice.algorithm.name)));
        }
        let setting = Setting {
            comm: place.comm,
            rank: place.rank,
            size: place.size,
            send: buffers.send,
            receive: buffers.receive,
            units: buffers.units,
            operation: significant
                .reduction
                .zip(significant.receive.or(significant.send).map(|side| side.datatype.handle)),
            yielding: place.yielding,
            pieces: place.pieces,
            nodes: call.nodes,
            watched: watched.as_deref(),
        };
        // SAFETY: the buffers are the program's for as long as its call lasts, or pieces of the pool.
        let mut executor = unsafe { Executor::new(&setting, pool, requests, traffic) };
        (choice.algorithm.run)(&mut executor, call, &choice.parameters);
        let finished = executor.finish();
        if let Some(watched) = &watched {
            watched.runs(None);
        }
        finished?;
        match buffers.unpack {
            // SAFETY: the piece holds the bytes of these elements, which the program gave to be written.
            Some((elements, from)) => unsafe { elements.unpack(place.comm, place.rank, from) },
            None => Ok(()),
        }
    })
}

/// The buffers as the algorithm sees them.
struct Buffers {
    send: *mut u8,
    receive: *mut u8,
    units: Units,
    /// Elements to set from a piece when the algorithm is done.
    unpack: Option<(Elements, *mut u8)>,
}

impl Buffers {
    fn prepare(place: Place, call: &Call, significant: &Significant, pool: &mut Pool) -> Result<Self> {
        if call.operation.reduces() {
            return Self::of_reduction(place, significant, pool);
        }
        let mut packer = Packer { place, pool, overlap: significant.overlap };
        let (send, receive) = (significant.send, significant.receive);
        let null = std::ptr::null_mut();
        let own = place.rank * call.count;
        let (send, receive, unpack) = match call.operation {
            Operation::Bcast => {
                let message = receive.expect("every rank has the message");
                let at_root = place.rank == call.root;
                let row = if at_root { packer.packed(&message)? } else { packer.room(&message) };
                (null, row, (!at_root).then_some((message, row)))
            }
            Operation::Gather | Operation::Allgather => match (send, receive) {
                (Some(send), None) => (packer.contribution(&send)?, null, None),
                (Some(send), Some(receive)) => {
                    let row = packer.room(&receive);
                    (packer.contribution(&send)?, row, Some((receive, row)))
                }
                (None, Some(receive)) => {
                    let row = packer.room(&receive);
                    let block = receive.count / place.size;
                    let mine = row.wrapping_add(own);
                    packer.pack_into(&receive.part(place.rank * block, block), mine)?;
                    (mine, row, Some((receive, row)))
                }
                (None, None) => unreachable!("every rank contributes"),
            },
            Operation::Scatter => {
                let all = match send {
                    Some(send) => packer.contribution(&send)?,
                    None => null,
                };
                match receive {
                    Some(receive) => {
                        let row = packer.room(&receive);
                        (all, row, Some((receive, row)))
                    }
                    None => (all, all.wrapping_add(own), None),
                }
            }
            Operation::Barrier => (null, null, None),
            Operation::Reduce | Operation::Allreduce => unreachable!("reductions are not packed"),
        };
        let unpack = unpack.filter(|(elements, row)| *row != elements.address);
        Ok(Self { send, receive, units: Units::Bytes(1), unpack })
    }

    fn of_reduction(place: Place, significant: &Significant, pool: &mut Pool) -> Result<Self> {
        let side = significant.receive.or(significant.send).expect("one of them counts on every rank");
        // Each side may have a layout of its own only where both are rows of the same bytes.
        let units =
            if side.datatype.contiguous { Units::Bytes(side.datatype.size) } else { Units::Typed(side.datatype) };
        let receive = significant.receive.map_or(std::ptr::null_mut(), |receive| receive.address);
        let send = match significant.send {
            Some(send) if significant.overlap == Overlap::Partial => {
                let (lowest, bytes) = (send.datatype.lowest(send.count), send.datatype.span(send.count));
                let copy = pool.take(bytes).wrapping_offset(-lowest);
                // SAFETY: the program gave the elements to be read; the piece has room for all that they span.
                unsafe { send.copy(place.comm, place.rank, copy) }?;
                copy
            }
            Some(send) => send.address,
            None => receive,
        };
        Ok(Self { send, receive, units, unpack: None })
    }
}

/// Makes rows of bytes, in the pool where the program's elements are none.
struct Packer<'a> {
    place: Place,
    pool: &'a mut Pool,
    overlap: Overlap,
}

impl Packer<'_> {
    /// A row for the bytes of `elements`; their own place if they are a row.
    fn room(&mut self, elements: &Elements) -> *mut u8 {
        if elements.datatype.contiguous { elements.address } else { self.pool.take(elements.bytes()) }
    }

    /// A row with the bytes of `elements`.
    fn packed(&mut self, elements: &Elements) -> Result<*mut u8> {
        let row = self.room(elements);
        self.pack_into(elements, row)?;
        Ok(row)
    }

    /// The same for what the rank sends, out of the way of what it receives.
    fn contribution(&mut self, elements: &Elements) -> Result<*mut u8> {
        if self.overlap != Overlap::Partial {
            return self.packed(elements);
        }
        let row = self.pool.take(elements.bytes());
        self.pack_into(elements, row)?;
        Ok(row)
    }

    fn pack_into(&mut self, elements: &Elements, row: *mut u8) -> Result {
        if row == elements.address {
            return Ok(());
        }
        // SAFETY: the program gave the elements to be read; the row is a piece of the pool with room for their bytes.
        unsafe { elements.pack(self.place.comm, self.place.rank, row) }
    }
}
