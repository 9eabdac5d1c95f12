//! The transport of everything that Collie runs: PMPI point-to-point messages in a private communicator.

use super::constants;
use super::counts::{TAG, exchange_with_self, with_count};
use super::datatype::Datatype;
use super::error::{Error, Result, check, throwing};
use super::packing::Elements;
use super::waiting::wait_for;
use crate::monitor::Traffic;
use crate::operation::Shared;
use crate::reduction::Kernel;
use crate::run::Transport;
use crate::schedule::action::{self, Side};
use crate::schedule::fragments::ends_synchronously;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request};
use std::cell::Cell;
use std::os::raw::{c_int, c_void};

/// Elements that one call of `PMPI_Reduce_local` can count.
const BLOCK: usize = 1 << 30;

/// How the units of a call lie in memory and travel.
#[derive(Clone, Copy, Debug)]
pub enum Units {
    /// So many bytes each, in a row.
    Bytes(usize),
    /// Elements of a datatype with gaps or an order of its own.
    Typed(Datatype),
}

impl Units {
    /// Signature bytes of one unit.
    const fn size(&self) -> usize {
        match self {
            Self::Bytes(unit) => *unit,
            Self::Typed(datatype) => datatype.size,
        }
    }

    /// Bytes from one unit to the next.
    const fn stride(&self) -> isize {
        match self {
            Self::Bytes(unit) => *unit as isize,
            Self::Typed(datatype) => datatype.extent,
        }
    }

    /// Bytes of memory for so many units, and where the first of them lies in it.
    pub fn room(&self, units: usize) -> (usize, isize) {
        match self {
            Self::Bytes(unit) => (units * unit, 0),
            Self::Typed(_) if units == 0 => (0, 0),
            // A negative extent puts the first element at the upper end.
            Self::Typed(datatype) => {
                let (below, past) = datatype.margins();
                (below + datatype.span(units) + past, below as isize - datatype.lowest(units))
            }
        }
    }

    /// What a message is counted in: elements per unit, and their type.
    fn wire(&self) -> (usize, MPI_Datatype) {
        match self {
            Self::Bytes(unit) => (*unit, constants::byte()),
            Self::Typed(datatype) => (1, datatype.handle),
        }
    }
}

/// What all messages of one kind of call on one rank have in common, worked out once.
#[derive(Debug)]
pub struct Channel {
    /// The private communicator.
    pub(super) comm: MPI_Comm,
    /// Own rank in it.
    pub(super) rank: usize,
    /// Whether waiting gives the core away between polls: right when ranks outnumber cores.
    yielding: bool,
    units: Units,
    stride: isize,
    /// Signature bytes of a unit.
    pub(super) size: usize,
    /// What messages are counted in, so many of them per unit.
    wire: MPI_Datatype,
    per_unit: usize,
    /// What folds.
    kernel: Option<Kernel>,
    /// What folds without a kernel: operation and type.
    operation: Cell<Option<(MPI_Op, MPI_Datatype)>>,
    /// The program's send and receive buffers, where they are packed.
    sides: Cell<[Option<Elements>; 2]>,
}

impl Channel {
    /// Of rank `rank` of the private communicator `comm`. `kernel` folds, or else `operation`; `sides` are the
    /// program's send and receive buffers, wherever they lie in a call.
    pub fn new(
        (comm, rank, yielding): (MPI_Comm, usize, bool),
        units: Units,
        kernel: Option<Kernel>,
        operation: Option<(MPI_Op, MPI_Datatype)>,
        sides: [Option<Elements>; 2],
    ) -> Self {
        let (per_unit, wire) = units.wire();
        let (stride, size) = (units.stride(), units.size());
        let (operation, sides) = (Cell::new(operation), Cell::new(sides));
        Self { comm, rank, yielding, units, stride, size, wire, per_unit, kernel, operation, sides }
    }

    /// Has the program's elements packed and combined by other handles from now on, of what is like what there was.
    pub fn set_handles(&self, types: [Option<MPI_Datatype>; 2], operation: Option<MPI_Op>) {
        let mut sides = self.sides.get();
        for (side, handle) in sides.iter_mut().zip(types) {
            if let (Some(side), Some(handle)) = (side, handle) {
                side.datatype.handle = handle;
            }
        }
        self.sides.set(sides);
        if let (Some((_, datatype)), Some(operation)) = (self.operation.get(), operation) {
            self.operation.set(Some((operation, datatype)));
        }
    }

    /// Layout of the units.
    pub const fn units(&self) -> &Units {
        &self.units
    }
}

/// Messages of one call on one rank.
pub struct Messages<'a> {
    /// What they have in common with those of other calls.
    pub channel: &'a Channel,
    /// Where the program's two buffers lie in this call.
    pub addresses: (*mut u8, *mut u8),
    /// What was sent to whom.
    pub traffic: &'a mut Traffic,
}

impl Messages<'_> {
    #[inline(always)]
    pub(super) fn count_message(&mut self, peer: u32, units: usize) {
        self.traffic.sent(peer as usize, (units * self.channel.size) as u64);
    }

    /// Whether a message of `whole` units ends synchronously; `units` of them are yet to be sent. Whoever is not
    /// counted always ends so.
    fn ends_synchronously(&self, peer: u32, units: usize, whole: usize) -> bool {
        let size = self.channel.size;
        let Some(sent) = self.traffic.bytes_to(peer as usize) else { return true };
        ends_synchronously(sent + (units * size) as u64, (whole * size) as u64)
    }

    #[inline(always)]
    fn wire(&self, units: usize) -> (usize, MPI_Datatype) {
        (units * self.channel.per_unit, self.channel.wire)
    }

    /// The program's elements.
    fn elements(&self, named: action::Elements) -> Elements {
        let given = self.channel.sides.get()[named.side as usize].expect("what is packed was given");
        let address = match named.side {
            Side::Send => self.addresses.0,
            Side::Receive => self.addresses.1,
        };
        Elements { address, ..given }.part(named.first, named.number)
    }
}

// SAFETY: PMPI touches what its arguments say, until the request is complete.
unsafe impl Transport for Messages<'_> {
    type Request = MPI_Request;
    type Error = Error;

    #[inline]
    fn nothing(&self) -> MPI_Request {
        constants::request_null()
    }

    #[inline]
    fn stride(&self) -> isize {
        self.channel.stride
    }

    #[inline(always)]
    unsafe fn send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result {
        self.count_message(peer, units);
        let comm = self.channel.comm;
        with_count(self.wire(units), |count, datatype| {
            // SAFETY: the caller's promise.
            check(unsafe { mpi_sys::PMPI_Send(from.cast(), count, datatype, peer as c_int, TAG, comm) })
        })
    }

    #[inline(always)]
    unsafe fn receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result {
        let (comm, status) = (self.channel.comm, constants::status_ignore());
        with_count(self.wire(units), |count, datatype| {
            // SAFETY: the caller's promise.
            check(unsafe { mpi_sys::PMPI_Recv(into.cast(), count, datatype, peer as c_int, TAG, comm, status) })
        })
    }

    #[inline(always)]
    unsafe fn start_send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<MPI_Request> {
        self.count_message(peer, units);
        let (comm, mut request) = (self.channel.comm, constants::request_null());
        with_count(self.wire(units), |count, datatype| {
            let request = &mut request;
            // SAFETY: the caller's promise.
            check(unsafe { mpi_sys::PMPI_Isend(from.cast(), count, datatype, peer as c_int, TAG, comm, request) })
        })?;
        Ok(request)
    }

    unsafe fn start_send_last(&mut self, peer: u32, from: *mut u8, units: usize, whole: usize) -> Result<MPI_Request> {
        if !self.ends_synchronously(peer, units, whole) {
            // SAFETY: the caller's promise.
            return unsafe { self.start_send(peer, from, units) };
        }
        self.count_message(peer, units);
        let (comm, mut request) = (self.channel.comm, constants::request_null());
        with_count(self.wire(units), |count, datatype| {
            let request = &mut request;
            // SAFETY: the caller's promise.
            check(unsafe { mpi_sys::PMPI_Issend(from.cast(), count, datatype, peer as c_int, TAG, comm, request) })
        })?;
        Ok(request)
    }

    #[inline(always)]
    unsafe fn start_receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<MPI_Request> {
        let (comm, mut request) = (self.channel.comm, constants::request_null());
        with_count(self.wire(units), |count, datatype| {
            let request = &mut request;
            // SAFETY: the caller's promise.
            check(unsafe { mpi_sys::PMPI_Irecv(into.cast(), count, datatype, peer as c_int, TAG, comm, request) })
        })?;
        Ok(request)
    }

    #[inline]
    fn wait(&mut self, requests: &mut [MPI_Request]) -> Result {
        wait_for(requests, self.channel.yielding)
    }

    #[inline]
    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Result {
        match self.channel.units {
            Units::Bytes(unit) => {
                // SAFETY: the caller's promise.
                unsafe { std::ptr::copy_nonoverlapping(from, into, units * unit) };
                Ok(())
            }
            // The gaps stay as they are.
            Units::Typed(Datatype { handle, .. }) => {
                let Channel { comm, rank, .. } = *self.channel;
                exchange_with_self(comm, rank, (from, units, handle), (into, units, handle))
            }
        }
    }

    #[inline]
    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        let kernel = self.channel.kernel.expect("calls without a kernel are lowered to local reductions");
        // SAFETY: the caller's promise; the kernel is that of the units' type.
        unsafe { kernel(left, right, into, units) };
    }

    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Result {
        let (operation, datatype) = self.channel.operation.get().expect("only reductions reduce");
        let stride = self.stride();
        let mut done = 0;
        while done < units {
            let part = (units - done).min(BLOCK);
            let offset = done as isize * stride;
            let (input, inout) = (input.wrapping_offset(offset), inout.wrapping_offset(offset));
            let native = throwing!(PMPI_Reduce_local(*const c_void, *mut c_void, c_int, MPI_Datatype, MPI_Op));
            // SAFETY: the caller's promise. The program's function may throw, which ends the job in an orderly way.
            check(unsafe { native(input.cast(), inout.cast(), part as c_int, datatype, operation) })?;
            done += part;
        }
        Ok(())
    }

    unsafe fn pack(&mut self, from: action::Elements, into: *mut u8) -> Result {
        let (elements, Channel { comm, rank, units, .. }) = (self.elements(from), self.channel);
        // SAFETY: the caller's promise.
        unsafe {
            match units {
                Units::Bytes(_) => elements.pack(*comm, *rank, into),
                Units::Typed(_) => elements.copy(*comm, *rank, into),
            }
        }
    }

    unsafe fn unpack(&mut self, from: *mut u8, into: action::Elements) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.elements(into).unpack(self.channel.comm, self.channel.rank, from) }
    }

    /// Where messages are all there is, no call has shared memory, and nothing that needs it is chosen.
    fn shared(&mut self, _: Shared) -> Result {
        Err(Error(mpi_sys::MPI_ERR_INTERN as c_int))
    }

    fn pass(&mut self, _: Shared) {}

    fn shared_at(&self, _: usize) -> *mut u8 {
        std::ptr::null_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_in_working_memory_have_all_of_their_extent() {
        let room = |(lower, extent), true_lower, true_extent, units| {
            let datatype = Datatype {
                handle: constants::byte(),
                size: 8,
                extent,
                lower,
                true_lower,
                true_extent,
                contiguous: false,
                kind: None,
                extended: false,
                element: None,
            };
            Units::Typed(datatype).room(units)
        };
        assert_eq!(room((0, 4096), 0, 8, 3), (3 * 4096, 0));
        assert_eq!(room((0, 4096), 16, 8, 1), (4096, 0), "from the structure's own begin on");
        assert_eq!(room((-8, 32), -8, 16, 2), (64, 8));
        assert_eq!(room((-8, 4), -8, 16, 3), (24, 8), "longer than its extent");
        assert_eq!(room((0, -16), 0, 8, 3), (40, 32), "the first at the upper end");
        assert_eq!(room((1 << 46, 64), 1 << 46, 24, 1), (64, -(1 << 46)), "addresses");
        assert_eq!(room((0, 1 << 40), 1 << 20, 8, 1), (8 + (1 << 20), 0), "part of an array");
        assert_eq!(room((0, 4096), 0, 8, 0), (0, 0));
    }
}
