//! The transport of communicators whose ranks share memory within a node: messages go through it to ranks of the own
//! node, and as PMPI messages to others.
//!
//! Whatever is waited for, all that is under way goes on: through shared memory since a rank that waits looks after all
//! its ports, in MPI since it polls or has MPI make progress now and then. A call that blocks in MPI is made only while
//! nothing is under way through shared memory.

use super::constants;
use super::counts::NOBODYS_TAG;
use super::error::{Error, Result, check};
use super::messages::{Channel, Messages, Units};
use super::packing::Elements;
use super::waiting;
use crate::operation::Shared;
use crate::run::Transport;
use crate::run::shared::{address, pass, take};
use crate::schedule::action;
use crate::shared::ports::Received;
use crate::shared::{Board, Failed, Idle, Ports, Segment};
use mpi_sys::{MPI_Comm, MPI_Request};
use std::cell::{Cell, RefMut};
use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has revoked a communicator (ULFM). What goes through shared memory does not know of it, so that a
/// call asks MPI before it begins.
static REVOKES: AtomicBool = AtomicBool::new(false);

/// This process is about to revoke a communicator.
pub fn about_to_revoke() {
    REVOKES.store(true, Ordering::Relaxed);
}

/// A started message.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// None, or one that is done.
    Nothing,
    /// Through shared memory, by its number.
    Shared(u32),
    /// A send in MPI.
    Send(MPI_Request),
    /// A receive in MPI.
    Receive(MPI_Request),
}

/// Messages of one call on one rank, through shared memory or MPI.
pub struct Mixed<'a> {
    messages: Messages<'a>,
    ports: RefMut<'a, Ports<'static>>,
    board: RefMut<'a, Board>,
    /// The other ranks that share the memory.
    others: &'a [u32],
    crowded: bool,
    /// Messages of non-contiguous elements that are under way through shared memory as the bytes of their signature.
    packed: Vec<Packed>,
}

/// Checks that a call on `channel` may go through `segment`.
///
/// # Errors
/// That of a call before which broke off in the middle of messages; the communicator is revoked.
#[inline(always)]
pub fn check_usable(channel: &Channel, segment: &Segment) -> Result {
    if let Some(why) = segment.ports().borrow().lost() {
        return Err(Error(why));
    }
    if REVOKES.load(Ordering::Relaxed) { check_revoked(channel, segment) } else { Ok(()) }
}

/// Asks MPI whether the communicator is revoked; from then on nothing goes through `segment` if it is.
#[cold]
fn check_revoked(channel: &Channel, segment: &Segment) -> Result {
    let asked = make_progress(channel.comm, segment.others(), &mut 0);
    asked.inspect_err(|error| segment.ports().borrow_mut().abandon(error.0))
}

/// Bytes of a message, and where the elements are that they become.
struct Packed {
    number: u32,
    bytes: Vec<u8>,
    into: Option<Elements>,
}

impl<'a> Mixed<'a> {
    /// Through `segment`, which is [usable](check_usable), where it reaches, else as `messages`, for a call to which each
    /// rank contributes `length` bytes. (It is not made within a result: that would be written to memory and read back
    /// in another width, twice, which takes some 8 ns.)
    #[inline(always)]
    pub fn new(messages: Messages<'a>, segment: &'a Segment, length: u64) -> Self {
        let ports = segment.ports().borrow_mut();
        let mut board = segment.board().borrow_mut();
        board.expect(length);
        let (others, crowded) = (segment.others(), segment.is_crowded());
        Self { messages, ports, board, others, crowded, packed: Vec::new() }
    }

    /// What is done between two looks.
    #[inline(always)]
    fn pause<'e>(&self, failed: &'e Cell<Result>) -> impl FnMut() -> Result + use<'e, 'a> {
        let (comm, others, mut turn) = (self.messages.channel.comm, self.others, 0);
        let mut idle = Idle::new(self.crowded, move || {
            if let Err(error) = make_progress(comm, others, &mut turn) {
                failed.set(Err(error));
            }
        });
        move || {
            idle.pause();
            failed.get()
        }
    }

    /// After an error of MPI's own nobody may come any more: what is under way is given up, with its memory.
    #[cold]
    fn lose(&mut self, error: Error) -> Error {
        self.ports.abandon(error.0);
        self.packed.clear();
        error
    }

    /// So many units at `address`, as elements of a type that is not contiguous; `None` if they are bytes.
    #[inline(always)]
    fn elements(&self, address: *mut u8, units: usize) -> Option<Elements> {
        match self.messages.channel.units() {
            Units::Bytes(_) => None,
            Units::Typed(datatype) => Some(Elements { address, count: units, datatype: *datatype }),
        }
    }

    /// The bytes of their signature.
    ///
    /// # Safety
    /// The elements are there.
    unsafe fn signature(&self, elements: &Elements) -> Result<Vec<u8>> {
        let mut bytes = vec![0; elements.bytes()];
        let channel = self.messages.channel;
        // SAFETY: the caller's promise; there is room for as many bytes.
        unsafe { elements.pack(channel.comm, channel.rank, bytes.as_mut_ptr()) }?;
        Ok(bytes)
    }

    /// A message through shared memory is done.
    fn took(&mut self, number: u32, received: Received) -> Result {
        let packed = self.packed.iter().position(|packed| packed.number == number);
        match packed.map(|place| self.packed.swap_remove(place)) {
            Some(Packed { bytes, into: Some(elements), .. }) => self.set(&elements, &bytes, received),
            Some(_) | None => to_result(received),
        }
    }

    /// Sets the elements that have come.
    fn set(&self, elements: &Elements, bytes: &[u8], received: Received) -> Result {
        let came = received.unwrap_or(bytes.len());
        let elements = elements.part(0, came.checked_div(elements.datatype.size).unwrap_or(0));
        let channel = self.messages.channel;
        // SAFETY: whoever started the receive has promised room for the elements; so many bytes have come.
        unsafe { elements.unpack(channel.comm, channel.rank, bytes.as_ptr().cast_mut()) }.and(to_result(received))
    }

    /// Waits for a message that went through shared memory.
    fn finish(&mut self, number: u32) -> Result {
        let failed = Cell::new(Ok(()));
        let pause = self.pause(&failed);
        match self.ports.finish(number, pause) {
            Ok(received) => self.took(number, received),
            Err(error) => Err(self.lose(error)),
        }
    }

    /// Whether it is over, and how; never waits.
    fn test_one(&mut self, request: &mut Request) -> Option<Result> {
        let over = match request {
            Request::Nothing => Some(Ok(())),
            Request::Shared(number) => {
                let number = *number;
                self.ports.take(number).map(|received| self.took(number, received))
            }
            Request::Send(message) | Request::Receive(message) => match waiting::test(message) {
                Ok(false) => None,
                Ok(true) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            },
        };
        if over.is_some() {
            *request = Request::Nothing;
        }
        over
    }

    /// Looks at each of some requests, without waiting; whether all are over, and the first error.
    fn look(&mut self, requests: &mut [Request]) -> (bool, Result) {
        let (mut all, mut first) = (true, Ok(()));
        for request in requests {
            match self.test_one(request) {
                Some(result) => first = first.and(result),
                None => all = false,
            }
        }
        (all, first)
    }
}

/// What became of a message that was received, as an error of MPI.
#[inline(always)]
fn to_result(received: Received) -> Result {
    match received {
        Ok(_) => Ok(()),
        Err(Failed::Truncated) => Err(Error(mpi_sys::MPI_ERR_TRUNCATE as c_int)),
        Err(Failed::Withdrawn) => Err(Error(mpi_sys::MPI_ERR_OTHER as c_int)),
    }
}

/// Gives up a request of a call that nobody may carry on, whose memory may be gone afterwards: a receive writes nothing
/// to it any more. A send only reads it; who would have received it has met the error as well, or meets it.
#[cold]
fn give_up(request: &mut Request) {
    if let Request::Receive(message) = request {
        waiting::cancel(message);
    }
    *request = Request::Nothing;
}

/// Has MPI make progress, by asking for a message that nobody sends: a probe that finds one returns without progress (Open
/// MPI's ob1, MPICH's ch4), and a message of another node may lie there for as long as this rank waits. The `others`
/// that share memory with this rank are asked for in turns: of a process that has failed MPI tells only whoever asks for
/// it, and what these send does not come by MPI. (Ranks of other nodes are asked for by whoever receives from them.)
fn make_progress(comm: MPI_Comm, others: &[u32], turn: &mut usize) -> Result {
    let from = others[*turn % others.len()];
    *turn += 1;
    let mut there = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Iprobe(from as c_int, NOBODYS_TAG, comm, &mut there, constants::status_ignore()) })
}

// SAFETY: ports touch what they are told to until its number is taken, packed elements are copies of this transport's
// own, and all else is as for messages.
unsafe impl Transport for Mixed<'_> {
    type Request = Request;
    type Error = Error;

    #[inline]
    fn nothing(&self) -> Request {
        Request::Nothing
    }

    #[inline]
    fn stride(&self) -> isize {
        self.messages.stride()
    }

    #[inline(always)]
    unsafe fn send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result {
        // SAFETY: the caller's promise; waited for at once.
        let mut request = unsafe {
            match self.ports.are_idle() && !self.ports.reach(peer) {
                true => return self.messages.send(peer, from, units),
                false => self.start_send(peer, from, units)?,
            }
        };
        self.wait(std::slice::from_mut(&mut request))
    }

    #[inline(always)]
    unsafe fn receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result {
        if !self.ports.reach(peer) {
            // SAFETY: the caller's promise; waited for at once.
            return unsafe {
                match self.ports.are_idle() {
                    true => self.messages.receive(peer, into, units),
                    false => {
                        let mut request = self.start_receive(peer, into, units)?;
                        self.wait(std::slice::from_mut(&mut request))
                    }
                }
            };
        }
        let mut row = self.elements(into, units).map(|elements| (vec![0; elements.bytes()], elements));
        let (room, bytes) = match &mut row {
            None => (into, units * self.messages.channel.size),
            Some((row, _)) => (row.as_mut_ptr(), row.len()),
        };
        let failed = Cell::new(Ok(()));
        let pause = self.pause(&failed);
        // SAFETY: the caller's promise, or the row's room.
        match (unsafe { self.ports.receive(peer, room, bytes, pause) }, row) {
            (Ok(received), None) => to_result(received),
            (Ok(received), Some((row, elements))) => self.set(&elements, &row, received),
            (Err(error), _) => Err(self.lose(error)),
        }
    }

    #[inline(always)]
    unsafe fn start_send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<Request> {
        if !self.ports.reach(peer) {
            // SAFETY: the caller's promise.
            return Ok(Request::Send(unsafe { self.messages.start_send(peer, from, units) }?));
        }
        self.messages.count_message(peer, units);
        let Some(elements) = self.elements(from, units) else {
            // SAFETY: the caller's promise.
            let started = unsafe { self.ports.start_send(peer, from, units * self.messages.channel.size) };
            return Ok(started.map_or(Request::Nothing, Request::Shared));
        };
        // SAFETY: the caller's promise; the bytes stay until the message is done.
        unsafe {
            let bytes = self.signature(&elements)?;
            let started = self.ports.start_send(peer, bytes.as_ptr(), bytes.len());
            Ok(started.map_or(Request::Nothing, |number| {
                self.packed.push(Packed { number, bytes, into: None });
                Request::Shared(number)
            }))
        }
    }

    unsafe fn start_send_last(&mut self, peer: u32, from: *mut u8, units: usize, whole: usize) -> Result<Request> {
        // SAFETY: the caller's promise. Through shared memory there is room for so much and no more.
        unsafe {
            match self.ports.reach(peer) {
                true => self.start_send(peer, from, units),
                false => self.messages.start_send_last(peer, from, units, whole).map(Request::Send),
            }
        }
    }

    #[inline(always)]
    unsafe fn start_receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<Request> {
        if !self.ports.reach(peer) {
            // SAFETY: the caller's promise.
            return Ok(Request::Receive(unsafe { self.messages.start_receive(peer, into, units) }?));
        }
        let Some(elements) = self.elements(into, units) else {
            // SAFETY: the caller's promise.
            let started = unsafe { self.ports.start_receive(peer, into, units * self.messages.channel.size) };
            return Ok(Request::Shared(started));
        };
        let mut bytes = vec![0; elements.bytes()];
        // SAFETY: the bytes stay until the message is done.
        let number = unsafe { self.ports.start_receive(peer, bytes.as_mut_ptr(), bytes.len()) };
        self.packed.push(Packed { number, bytes, into: Some(elements) });
        Ok(Request::Shared(number))
    }

    /// All of them are waited for, also when one fails.
    #[inline]
    fn wait(&mut self, requests: &mut [Request]) -> Result {
        if let [request] = requests {
            match std::mem::replace(request, Request::Nothing) {
                Request::Nothing => return Ok(()),
                Request::Shared(number) => return self.finish(number),
                message => *request = message,
            }
        }
        let mut first = Ok(());
        let failed = Cell::new(Ok(()));
        let mut pause = self.pause(&failed);
        loop {
            self.ports.progress();
            if let Some(why) = self.ports.lost() {
                // A wait before this one was given up.
                requests.iter_mut().for_each(give_up);
                return first.and(Err(Error(why)));
            }
            if self.ports.are_idle() {
                // Nothing but messages in MPI is left, each of which has been started.
                for request in requests {
                    let waited = match request {
                        Request::Send(message) | Request::Receive(message) => {
                            self.messages.wait(std::slice::from_mut(message))
                        }
                        _ => self.test_one(request).unwrap_or(Ok(())),
                    };
                    *request = Request::Nothing;
                    first = first.and(waited);
                }
                return first;
            }
            let (all, result) = self.look(requests);
            first = first.and(result);
            if all {
                return first;
            }
            if let Err(error) = pause() {
                requests.iter_mut().for_each(give_up);
                return first.and(Err(self.lose(error)));
            }
        }
    }

    #[inline]
    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.messages.copy(from, into, units) }
    }

    #[inline]
    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.messages.fold(left, right, into, units) };
    }

    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.messages.reduce_local(input, inout, units) }
    }

    unsafe fn pack(&mut self, from: action::Elements, into: *mut u8) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.messages.pack(from, into) }
    }

    unsafe fn unpack(&mut self, from: *mut u8, into: action::Elements) -> Result {
        // SAFETY: the caller's promise.
        unsafe { self.messages.unpack(from, into) }
    }

    fn shared(&mut self, step: Shared) -> Result {
        let failed = Cell::new(Ok(()));
        let mut pause = self.pause(&failed);
        let Self { board, ports, .. } = self;
        let taken = take(board, step, |is_over| {
            while !is_over() {
                ports.progress();
                pause()?;
            }
            Ok(())
        });
        taken.map_err(|error| self.lose(error))
    }

    fn pass(&mut self, step: Shared) {
        let failed = Cell::new(Ok(()));
        let mut pause = self.pause(&failed);
        let Self { board, ports, .. } = self;
        let passed = pass(board, step, |is_over| {
            while !is_over() {
                ports.progress();
                pause()?;
            }
            Ok(())
        });
        if let Err(error) = passed {
            self.lose(error);
        }
    }

    #[inline]
    fn shared_at(&self, start: usize) -> *mut u8 {
        address(&self.board, start, self.messages.stride())
    }
}
