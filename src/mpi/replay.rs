//! A call's steps on this rank, written down once and played again.
//!
//! A call that comes back with the same arguments does the same steps, whatever its buffers hold. Walking the algorithm
//! anew costs some 700 instructions for a broadcast between two ranks, as many as Open MPI spends on its message.

use super::constants;
use super::error::{Result, check};
use super::executor::{TAG, wait_for};
use crate::monitor::Traffic;
use crate::reduction::Kernel;
use crate::schedule::compact::{Action, Compact, Message, Place};
use mpi_sys::{MPI_Comm, MPI_Request};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::os::raw::{c_int, c_void};

/// One rank's steps with what they need besides buffers.
#[derive(Debug)]
pub struct Replay {
    program: Compact,
    comm: MPI_Comm,
    kernel: Option<Kernel>,
    yielding: bool,
    /// The table of requests. All are null between calls, as whatever was started is waited for.
    requests: RefCell<Box<[MPI_Request]>>,
}

impl Replay {
    /// A program on the private communicator `comm`; `None` if it folds and there is no kernel.
    ///
    /// With `yielding`, waiting gives the core away, which blocking calls do not on every MPI: the program has none then.
    pub fn new(program: Compact, comm: MPI_Comm, kernel: Option<Kernel>, yielding: bool) -> Option<Self> {
        let requests = RefCell::new(vec![constants::request_null(); program.requests].into());
        (kernel.is_some() || !program.folds()).then_some(Self { program, comm, kernel, yielding, requests })
    }

    /// Bytes of working memory that it needs.
    pub const fn scratch(&self) -> usize {
        self.program.scratch
    }

    /// Carries the steps out with buffers at the given places: to send, to receive, and working memory.
    ///
    /// # Errors
    /// The first error that PMPI returned; as in the executor, nothing is started after it.
    ///
    /// # Safety
    /// The buffers must be valid for the units that the algorithm touches, the working memory for the bytes of
    /// [`Replay::scratch`].
    pub unsafe fn play(&self, bases: [*mut u8; 3], traffic: &mut Traffic) -> Result {
        let requests = &mut **self.requests.borrow_mut();
        let mut player = Player { replay: self, bases, requests, traffic };
        let mut first_error = Ok(());
        for action in &self.program.actions {
            if first_error.is_ok() || matches!(action, Action::Wait { .. }) {
                // SAFETY: the caller's promise; the table of requests was made for the program.
                first_error = first_error.and(unsafe { player.act(action) });
            }
        }
        first_error
    }
}

/// What carries actions out.
struct Player<'a> {
    replay: &'a Replay,
    /// By [`Buffer`](crate::schedule::Buffer).
    bases: [*mut u8; 3],
    requests: &'a mut [MPI_Request],
    traffic: &'a mut Traffic,
}

impl Player<'_> {
    /// # Safety
    /// As for [`Replay::play`]; the table of requests has a place for every request of the program.
    #[inline]
    unsafe fn act(&mut self, action: &Action) -> Result {
        // SAFETY: the caller vouches for the buffers and the table.
        unsafe {
            match *action {
                Action::Send(message) => {
                    let peer = message.peer;
                    let sent = message.pieces().try_for_each(|(at, bytes)| {
                        self.traffic.sent(peer as usize, bytes as u64);
                        let (from, comm) = (self.address(at), self.replay.comm);
                        check(mpi_sys::PMPI_Send(from, bytes, constants::byte(), peer, TAG, comm))
                    });
                    let_stores_out();
                    sent
                }
                Action::Receive(message) => self.receive(message),
                Action::Exchange(out, into) => self.exchange(out, into),
                Action::StartSend(message, slot) => {
                    message.pieces().zip(slot as usize..).try_for_each(|(piece, slot)| {
                        let mut request = constants::request_null();
                        let started = self.start_send(message.peer, piece, &mut request);
                        self.requests[slot] = request;
                        started
                    })
                }
                Action::StartReceive(message, slot) => {
                    message.pieces().zip(slot as usize..).try_for_each(|((at, bytes), slot)| {
                        let (into, comm) = (self.address(at), self.replay.comm);
                        let request = &mut self.requests[slot];
                        check(mpi_sys::PMPI_Irecv(into, bytes, constants::byte(), message.peer, TAG, comm, request))
                    })
                }
                Action::Wait { first, number } => {
                    let run = &mut self.requests[first as usize..(first + number) as usize];
                    wait_for(run, self.replay.yielding)
                }
                Action::Copy { from, into, bytes } => {
                    let (from, into) = (self.address(from), self.address(into));
                    if from != into {
                        std::ptr::copy_nonoverlapping(from.cast::<u8>(), into.cast::<u8>(), bytes);
                    }
                    Ok(())
                }
                Action::Fold { left, right, into, units } => {
                    let kernel = self.replay.kernel.expect("no quick form without a kernel has folds");
                    let [left, right, into] = [left, right, into].map(|place| self.address(place));
                    kernel(left.cast(), right.cast(), into.cast(), units);
                    Ok(())
                }
            }
        }
    }

    #[inline]
    fn address(&self, place: Place) -> *mut c_void {
        self.bases[place.buffer as usize].wrapping_add(place.offset).cast()
    }

    /// # Safety
    /// The message's buffer is valid for its bytes.
    #[inline]
    unsafe fn receive(&self, message: Message) -> Result {
        let (comm, status) = (self.replay.comm, constants::status_ignore());
        message.pieces().try_for_each(|(at, bytes)| {
            // SAFETY: the caller's promise.
            check(unsafe {
                mpi_sys::PMPI_Recv(self.address(at), bytes, constants::byte(), message.peer, TAG, comm, status)
            })
        })
    }

    /// # Safety
    /// The piece's bytes are valid until the request is waited for.
    #[inline]
    unsafe fn start_send(&mut self, peer: c_int, (at, bytes): (Place, c_int), request: &mut MPI_Request) -> Result {
        self.traffic.sent(peer as usize, bytes as u64);
        let (from, comm) = (self.address(at), self.replay.comm);
        // SAFETY: the caller's promise.
        check(unsafe { mpi_sys::PMPI_Isend(from, bytes, constants::byte(), peer, TAG, comm, request) })
    }

    /// Both ways at once. A send that is started and a receive that blocks take 40 to 50 ns less than `PMPI_Sendrecv` for 8 and
    /// 64 bytes, on Open MPI 4.1.4, which then needs no request from its lists, and on MPICH 4.0.2; from 512 bytes on as much.
    ///
    /// # Safety
    /// Both buffers are valid for the messages' bytes.
    #[inline]
    unsafe fn exchange(&mut self, out: Message, into: Message) -> Result {
        let mut requests: SmallVec<[MPI_Request; 2]> = SmallVec::new();
        let started = out.pieces().try_for_each(|piece| {
            let mut request = constants::request_null();
            // SAFETY: the caller's promise; waited for below.
            let started = unsafe { self.start_send(out.peer, piece, &mut request) };
            requests.push(request);
            started
        });
        // SAFETY: the caller's promise.
        let received = started.and_then(|()| unsafe { self.receive(into) });
        received.and(wait_for(&mut requests, false))
    }
}

/// Holds the rank back for some nanoseconds after a send. A short message lies in memory that its receiver reads again and again,
/// and on an Intel Sapphire Rapids the receiver sees all of it sooner if the sender does not rush on: a gather or reduce
/// of 256 bytes between two ranks of Open MPI 4.1.4 ends 0.08 to 0.1 µs earlier, one of 8 bytes as before.
#[inline(always)]
fn let_stores_out() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE2, which every x86-64 processor has.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
}
