//! Interpreter *execute*: an algorithm's messages over PMPI point-to-point, at once, in a private communicator.
//!
//! PMPI's return codes stop nothing in the middle of an algorithm, which has no way back: the first error is kept, no
//! further message is started, and the caller raises it on the program's communicator.

use super::constants;
use super::datatype::Datatype;
use super::error::{Error, Result, check};
use super::memory::Pool;
use super::operation::Operation;
use crate::monitor::{Traffic, Watched};
use crate::schedule::pieces::Pieces;
use crate::schedule::{Buffer, Comm, Range, Request};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Request, MPI_Status};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};

/// All messages of a call travel under one tag: they match in the order in which they were started.
pub(super) const TAG: c_int = 1;
/// Elements per block of the types that carry more than `c_int` can count.
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
    fn stride(&self) -> isize {
        match self {
            Self::Bytes(unit) => *unit as isize,
            Self::Typed(datatype) => datatype.extent,
        }
    }

    /// Signature bytes of a message of `units` units.
    const fn bytes(&self, units: usize) -> u64 {
        match self {
            Self::Bytes(unit) => (units * *unit) as u64,
            Self::Typed(datatype) => (units * datatype.size) as u64,
        }
    }

    /// What to count the elements of a message of `units` units in.
    fn wire(&self, units: usize) -> (usize, MPI_Datatype) {
        match self {
            Self::Bytes(unit) => (units * unit, constants::byte()),
            Self::Typed(datatype) => (units, datatype.handle),
        }
    }
}

/// What one call needs besides the algorithm.
pub struct Setting<'a> {
    /// The private communicator.
    pub comm: MPI_Comm,
    /// Own rank in it.
    pub rank: usize,
    /// Its size.
    pub size: usize,
    /// Address of the first unit to send; may be null where there is none.
    pub send: *mut u8,
    /// Address of the first unit to receive; may be null where there is none.
    pub receive: *mut u8,
    /// Layout of the units.
    pub units: Units,
    /// The operation, in reductions.
    pub operation: Option<(Operation, MPI_Datatype)>,
    /// Whether waiting gives the core away between polls: right when ranks outnumber cores.
    pub yielding: bool,
    /// Which messages travel in pieces.
    pub pieces: Pieces,
    /// Node of each rank; empty if there is one node.
    pub nodes: &'a [u32],
    /// Where to tell which messages are under way, if somebody watches.
    pub watched: Option<&'a Watched>,
}

/// Executes one call on one rank.
pub struct Executor<'a> {
    setting: &'a Setting<'a>,
    stride: isize,
    scratch: SmallVec<[(usize, *mut u8); 4]>,
    scratch_units: usize,
    spare: Option<(usize, *mut u8)>,
    pool: &'a mut Pool,
    requests: &'a mut Vec<MPI_Request>,
    /// Messages in pieces: the request that the algorithm knows, and the number of requests from there on.
    in_pieces: SmallVec<[(Request, usize); 4]>,
    traffic: &'a mut Traffic,
    held: Option<Held>,
    failure: Option<Error>,
}

/// A message that was taken up and not yet started.
#[derive(Clone, Copy)]
struct Held {
    request: Request,
    peer: c_int,
    range: Range,
    outgoing: bool,
}

impl<'a> Executor<'a> {
    /// Ready to run one algorithm.
    ///
    /// # Safety
    /// The addresses in `setting` must be valid for the units that the algorithm touches, as the table of
    /// [`Buffer`] says, until the executor is finished with.
    pub unsafe fn new(
        setting: &'a Setting<'a>,
        pool: &'a mut Pool,
        requests: &'a mut Vec<MPI_Request>,
        traffic: &'a mut Traffic,
    ) -> Self {
        requests.clear();
        Self {
            setting,
            stride: setting.units.stride(),
            scratch: SmallVec::new(),
            scratch_units: 0,
            spare: None,
            pool,
            requests,
            in_pieces: SmallVec::new(),
            traffic,
            held: None,
            failure: None,
        }
    }

    /// The first error, if there was one.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn finish(self) -> Result {
        self.failure.map_or(Ok(()), Err)
    }

    fn address(&self, range: Range) -> *mut u8 {
        let (base, unit) = match range.buffer {
            Buffer::Send => (self.setting.send, range.start),
            Buffer::Receive => (self.setting.receive, range.start),
            Buffer::Scratch => {
                let piece = self.scratch.iter().rev().find(|(start, _)| *start <= range.start);
                let (start, base) = *piece.expect("scratch is asked for before it is used");
                (base, range.start - start)
            }
        };
        base.wrapping_offset(unit as isize * self.stride)
    }

    fn keep(&mut self, result: Result) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Takes a message up. It is held back until the next thing happens: if that is to wait for it, a blocking call
    /// does both, which costs less than starting and waiting: an allreduce of 8 or 64 bytes between two ranks of Open MPI
    /// 4.1.4 takes 0.05 to 0.1 µs less, a broadcast gains nothing.
    fn start(&mut self, peer: usize, range: Range, outgoing: bool) -> Request {
        self.issue();
        if let Some(units) = self.piece_of(peer, range.len) {
            return self.start_in_pieces(peer, range, units, outgoing);
        }
        self.hold(peer, range, outgoing)
    }

    /// Units of each piece of a message to or from that rank, if it is to be cut.
    #[inline]
    fn piece_of(&self, peer: usize, len: usize) -> Option<usize> {
        let Setting { pieces, nodes, rank, units, .. } = self.setting;
        pieces.units(len, units.bytes(1) as usize, nodes.is_empty() || nodes[peer] == nodes[*rank])
    }

    /// Starts a message as several.
    ///
    /// Where two ranks exchange messages above the rendezvous limit over TCP, Open MPI 4.1.4 and MPICH 4.0.2 (UCX) fill
    /// the link in one direction at a time: an allreduce of 1 MiB by the ring takes twice as long on 8 nodes.
    #[cold]
    fn start_in_pieces(&mut self, peer: usize, range: Range, units: usize, outgoing: bool) -> Request {
        let first = Request(self.requests.len() as u32);
        let mut number = 0;
        while number * units < range.len {
            let start = number * units;
            // All of them are waited for under the number of the first.
            let _ = self.hold(peer, range.part(start, units.min(range.len - start)), outgoing);
            self.issue();
            number += 1;
        }
        self.in_pieces.push((first, number));
        first
    }

    fn hold(&mut self, peer: usize, range: Range, outgoing: bool) -> Request {
        let request = Request(self.requests.len() as u32);
        self.requests.push(constants::request_null());
        if outgoing {
            self.traffic.sent(peer, self.setting.units.bytes(range.len));
        }
        if let Some(watched) = self.setting.watched {
            watched.started(request.0, peer, outgoing);
        }
        self.held = Some(Held { request, peer: peer as c_int, range, outgoing });
        request
    }

    /// Starts the message that is held back.
    fn issue(&mut self) {
        let Some(Held { request, peer, range, outgoing }) = self.held.take() else { return };
        if self.failure.is_some() {
            return;
        }
        let (address, comm) = (self.address(range).cast::<c_void>(), self.setting.comm);
        let slot = &mut self.requests[request.0 as usize];
        let result = with_count(self.setting.units.wire(range.len), |count, datatype| {
            // SAFETY: the range lies in memory that the caller of `new` vouched for, and stays there until waited for.
            check(unsafe {
                if outgoing {
                    mpi_sys::PMPI_Isend(address, count, datatype, peer, TAG, comm, slot)
                } else {
                    mpi_sys::PMPI_Irecv(address, count, datatype, peer, TAG, comm, slot)
                }
            })
        });
        self.keep(result);
    }

    /// Carries the message that is held back out at once.
    fn complete(&mut self, held: Held) {
        let Held { peer, range, outgoing, .. } = held;
        if self.failure.is_some() {
            return;
        }
        let (address, comm) = (self.address(range).cast::<c_void>(), self.setting.comm);
        let status = constants::status_ignore();
        let result = with_count(self.setting.units.wire(range.len), |count, datatype| {
            // SAFETY: as in `issue`.
            check(unsafe {
                if outgoing {
                    mpi_sys::PMPI_Send(address, count, datatype, peer, TAG, comm)
                } else {
                    mpi_sys::PMPI_Recv(address, count, datatype, peer, TAG, comm, status)
                }
            })
        });
        self.keep(result);
    }

    /// How many requests stand for this one, which is about to be waited for.
    #[inline]
    fn pieces_of(&mut self, request: Request) -> usize {
        if self.in_pieces.is_empty() {
            return 1;
        }
        let place = self.in_pieces.iter().position(|(first, _)| *first == request);
        place.map_or(1, |place| self.in_pieces.swap_remove(place).1)
    }

    /// Waits for requests that stand one after another in the table.
    fn finish_run(&mut self, first: usize, number: usize) {
        if number == 1 && self.requests[first] == constants::request_null() {
            return;
        }
        let result = wait_for(&mut self.requests[first..first + number], self.setting.yielding);
        self.keep(result);
    }

    /// A piece for `units` units, and the address of its first unit.
    fn piece(&mut self, units: usize) -> *mut u8 {
        match self.setting.units {
            Units::Bytes(unit) => self.pool.take(units * unit),
            Units::Typed(datatype) => {
                // A negative extent puts the first element at the upper end.
                let lowest = (units.max(1) - 1) as isize * datatype.extent.min(0) + datatype.true_lower;
                self.pool.take(datatype.span(units)).wrapping_offset(-lowest)
            }
        }
    }

    fn move_units(&mut self, from: *mut u8, into: *mut u8, units: usize) {
        match self.setting.units {
            Units::Bytes(unit) => {
                // SAFETY: both lie in memory vouched for; the trait promises that they do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(from, into, units * unit) }
            }
            Units::Typed(datatype) => {
                let result = move_typed(self.setting.comm, self.setting.rank, from, into, units, datatype.handle);
                self.keep(result);
            }
        }
    }

    /// `into = left ∘ right` by `PMPI_Reduce_local`, which computes `inout = in ∘ inout`.
    fn fold_locally(&mut self, operation: Operation, datatype: MPI_Datatype, addresses: [*mut u8; 3], units: usize) {
        let [left, right, into] = addresses;
        let (first, second) = if into == left && operation.commutative { (right, left) } else { (left, right) };
        let target = if into == left && !operation.commutative { self.spare(units) } else { into };
        if target != second {
            self.move_units(second, target, units);
        }
        let mut done = 0;
        while done < units && self.failure.is_none() {
            let part = (units - done).min(BLOCK);
            let offset = done as isize * self.stride;
            let (input, inout) = (first.wrapping_offset(offset), target.wrapping_offset(offset));
            // SAFETY: both hold `part` elements of the type; they do not overlap.
            let code = unsafe {
                mpi_sys::PMPI_Reduce_local(input.cast(), inout.cast(), part as c_int, datatype, operation.handle)
            };
            self.keep(check(code));
            done += part;
        }
        if target != into {
            self.move_units(target, into, units);
        }
    }

    /// Room for `units` units that no algorithm knows of.
    fn spare(&mut self, units: usize) -> *mut u8 {
        match self.spare {
            Some((room, piece)) if room >= units => piece,
            _ => {
                let piece = self.piece(units);
                self.spare = Some((units, piece));
                piece
            }
        }
    }
}

impl Comm for Executor<'_> {
    fn rank(&self) -> usize {
        self.setting.rank
    }

    fn size(&self) -> usize {
        self.setting.size
    }

    fn scratch(&mut self, units: usize) -> Range {
        let range = Range { buffer: Buffer::Scratch, start: self.scratch_units, len: units };
        let piece = self.piece(units);
        self.scratch.push((range.start, piece));
        self.scratch_units += units;
        range
    }

    fn isend(&mut self, to: usize, from: Range) -> Request {
        self.start(to, from, true)
    }

    fn irecv(&mut self, from: usize, into: Range) -> Request {
        self.start(from, into, false)
    }

    fn wait(&mut self, requests: &[Request]) {
        let waited = self.held.filter(|held| requests.contains(&held.request));
        match waited {
            // Blocking calls do not give the core away on every MPI.
            Some(held) if !self.setting.yielding => {
                self.held = None;
                self.complete(held);
            }
            _ => self.issue(),
        }
        let mut place = 0;
        while place < requests.len() {
            let first = requests[place].0;
            let mut number = 0;
            while place < requests.len() && requests[place].0 as usize == first as usize + number {
                number += self.pieces_of(requests[place]);
                place += 1;
            }
            self.finish_run(first as usize, number);
        }
        if let Some(watched) = self.setting.watched {
            watched.ended(|number| requests.contains(&Request(number)));
        }
        // Finished requests at the end of the table make room, so that long pipelines do not make it grow. After an
        // error a null request may be one that was never started and is still to be waited for.
        if self.failure.is_none() && !requests.is_empty() {
            let null = constants::request_null();
            while self.requests.last().is_some_and(|request| *request == null) {
                self.requests.pop();
            }
        }
    }

    fn copy(&mut self, from: Range, into: Range) {
        self.issue();
        debug_assert_eq!(from.len, into.len);
        let (source, target) = (self.address(from), self.address(into));
        if from.len > 0 && source != target {
            self.move_units(source, target, from.len);
        }
    }

    fn fold(&mut self, left: Range, right: Range, into: Range) {
        self.issue();
        if into.len == 0 || self.failure.is_some() {
            return;
        }
        let addresses = [left, right, into].map(|range| self.address(range));
        let (operation, datatype) = self.setting.operation.expect("only reductions fold");
        match operation.kernel {
            // SAFETY: the ranges hold that many elements of the kernel's type; `into` is one of them or apart.
            Some(kernel) => unsafe { kernel(addresses[0], addresses[1], addresses[2], into.len) },
            None => self.fold_locally(operation, datatype, addresses, into.len),
        }
    }
}

/// Requests that are waited for at once: as many statuses lie on the stack.
const AT_ONCE: usize = 16;

/// Waits for all of some requests, also when one of them fails. Gives the first error that a message met.
pub(super) fn wait_for(requests: &mut [MPI_Request], yielding: bool) -> Result {
    match requests {
        [request] => wait_for_one(request, yielding),
        _ => requests.chunks_mut(AT_ONCE).map(|some| wait_for_some(some, yielding)).fold(Ok(()), Result::and),
    }
}

fn wait_for_one(request: &mut MPI_Request, yielding: bool) -> Result {
    let status = constants::status_ignore();
    if yielding {
        // SAFETY: one request.
        poll(|done| check(unsafe { mpi_sys::PMPI_Test(request, done, status) }))
    } else {
        // SAFETY: one request.
        check(unsafe { mpi_sys::PMPI_Wait(request, status) })
    }
}

/// The same for up to [`AT_ONCE`]. Of several, MPI says only in their statuses what went wrong; they are written in any case
/// and looked at after an error.
fn wait_for_some(requests: &mut [MPI_Request], yielding: bool) -> Result {
    let mut statuses = [const { MaybeUninit::<MPI_Status>::uninit() }; AT_ONCE];
    for status in &mut statuses[..requests.len()] {
        // SAFETY: the field lies in the status. MPI writes it only where some message fails.
        unsafe { (&raw mut (*status.as_mut_ptr()).MPI_ERROR).write(mpi_sys::MPI_SUCCESS as c_int) };
    }
    let (into, count) = (statuses.as_mut_ptr().cast::<MPI_Status>(), requests.len() as c_int);
    let waited = if yielding {
        // SAFETY: the slice holds `count` requests, for which there are as many statuses.
        poll(|done| check(unsafe { mpi_sys::PMPI_Testall(count, requests.as_mut_ptr(), done, into) }))
    } else {
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Waitall(count, requests.as_mut_ptr(), into) })
    };
    if waited != Err(Error(mpi_sys::MPI_ERR_IN_STATUS as c_int)) {
        return waited;
    }
    let errors = statuses[..requests.len()].iter().map(|status| {
        // SAFETY: written above if not by MPI.
        unsafe { (&raw const (*status.as_ptr()).MPI_ERROR).read() }
    });
    let (first, others) = (first_error(errors), waited_alone(requests, yielding));
    first.and(others).and(waited)
}

/// The first of the codes of several messages that says what went wrong with one.
fn first_error(codes: impl Iterator<Item = c_int>) -> Result {
    let says_nothing = [mpi_sys::MPI_SUCCESS as c_int, mpi_sys::MPI_ERR_PENDING as c_int];
    codes.filter(|code| !says_nothing.contains(code)).try_for_each(check)
}

/// After an error MPI may leave the others under way, which would write into memory that is used for something else later.
fn waited_alone(requests: &mut [MPI_Request], yielding: bool) -> Result {
    let null = constants::request_null();
    let under_way = requests.iter_mut().filter(|request| **request != null);
    under_way.map(|request| wait_for_one(request, yielding)).fold(Ok(()), Result::and)
}

/// Polls until `test` sets its flag, giving the core to another rank in between.
fn poll(mut test: impl FnMut(*mut c_int) -> Result) -> Result {
    loop {
        let mut done = 0;
        test(&mut done)?;
        if done != 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
}

/// Calls `call` with a count that fits `c_int`: beyond it, one element of a type made for the purpose.
pub(super) fn with_count(
    (count, datatype): (usize, MPI_Datatype),
    call: impl FnOnce(c_int, MPI_Datatype) -> Result,
) -> Result {
    if let Ok(count) = c_int::try_from(count) {
        return call(count, datatype);
    }
    let mut large = large_type(count, datatype)?;
    let result = call(1, large);
    // SAFETY: ours; a message under way keeps what it needs of it.
    result.and(check(unsafe { mpi_sys::PMPI_Type_free(&mut large) }))
}

/// A committed type of `count` elements of `datatype`.
fn large_type(count: usize, datatype: MPI_Datatype) -> Result<MPI_Datatype> {
    let null = constants::datatype_null();
    let (mut block, mut blocks, mut rest, mut whole) = (null, null, null, null);
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: out-parameters are valid for writes; the parts are freed once, after the whole is made of them.
    unsafe {
        check(mpi_sys::PMPI_Type_get_extent(datatype, &mut lower, &mut extent))?;
        check(mpi_sys::PMPI_Type_contiguous(BLOCK as c_int, datatype, &mut block))?;
        check(mpi_sys::PMPI_Type_contiguous((count / BLOCK) as c_int, block, &mut blocks))?;
        check(mpi_sys::PMPI_Type_contiguous((count % BLOCK) as c_int, datatype, &mut rest))?;
        let displacement = (count / BLOCK * BLOCK) as mpi_sys::MPI_Aint * extent;
        check(mpi_sys::PMPI_Type_create_struct(
            2,
            [1, 1].as_ptr(),
            [0, displacement].as_ptr(),
            [blocks, rest].as_ptr(),
            &mut whole,
        ))?;
        check(mpi_sys::PMPI_Type_commit(&mut whole))?;
        for part in [&mut block, &mut blocks, &mut rest] {
            check(mpi_sys::PMPI_Type_free(part))?;
        }
    }
    Ok(whole)
}

/// Copies elements of a type without touching its gaps: a message to oneself.
fn move_typed(
    comm: MPI_Comm,
    rank: usize,
    from: *mut u8,
    into: *mut u8,
    units: usize,
    datatype: MPI_Datatype,
) -> Result {
    exchange_with_self(comm, rank, (from, units, datatype), (into, units, datatype))
}

/// A message from a rank to itself, which turns one layout into another, of any size.
pub(super) fn exchange_with_self(
    comm: MPI_Comm,
    rank: usize,
    from: (*mut u8, usize, MPI_Datatype),
    into: (*mut u8, usize, MPI_Datatype),
) -> Result {
    let (me, status) = (rank as c_int, constants::status_ignore());
    with_count((from.1, from.2), |send_count, send_type| {
        with_count((into.1, into.2), |receive_count, receive_type| {
            // SAFETY: both sides hold what their counts and types say; they do not overlap.
            check(unsafe {
                mpi_sys::PMPI_Sendrecv(
                    from.0.cast(),
                    send_count,
                    send_type,
                    me,
                    TAG,
                    into.0.cast(),
                    receive_count,
                    receive_type,
                    me,
                    TAG,
                    comm,
                    status,
                )
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_status_with_an_error_of_its_own_counts() {
        let (success, pending) = (mpi_sys::MPI_SUCCESS as c_int, mpi_sys::MPI_ERR_PENDING as c_int);
        let truncated = mpi_sys::MPI_ERR_TRUNCATE as c_int;
        assert_eq!(first_error([success, pending, truncated, pending, 1].into_iter()), Err(Error(truncated)));
        assert_eq!(first_error([success, pending].into_iter()), Ok(()));
    }
}
