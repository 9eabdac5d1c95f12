//! A call's steps on this rank, written down once and played again.
//!
//! A call that comes back with the same arguments does the same steps, whatever its buffers hold. Walking the algorithm
//! anew costs some 700 instructions for a broadcast between two ranks, as many as Open MPI spends on its message.

use super::constants;
use super::error::{Result, check};
use super::executor::{TAG, wait_for};
use super::memory::Pool;
use crate::monitor::Traffic;
use crate::reduction::Kernel;
use crate::schedule::compact::{Action, Compact, Message, Place};
use mpi_sys::{MPI_Comm, MPI_Request};
use std::os::raw::c_void;

/// One rank's steps with what they need besides buffers.
#[derive(Debug)]
pub struct Replay {
    program: Compact,
    comm: MPI_Comm,
    kernel: Option<Kernel>,
    yielding: bool,
}

impl Replay {
    /// A program on the private communicator `comm`; `None` if it folds and there is no kernel.
    ///
    /// With `yielding`, waiting gives the core away, which blocking calls do not on every MPI: the program has none then.
    pub fn new(program: Compact, comm: MPI_Comm, kernel: Option<Kernel>, yielding: bool) -> Option<Self> {
        (kernel.is_some() || !program.folds()).then_some(Self { program, comm, kernel, yielding })
    }

    /// Carries the steps out.
    ///
    /// # Errors
    /// The first error that PMPI returned; as in the executor, nothing is started after it.
    ///
    /// # Safety
    /// `send` and `receive` must be valid for the units that the algorithm touches.
    pub unsafe fn play(
        &self,
        (send, receive): (*mut u8, *mut u8),
        pool: &mut Pool,
        requests: &mut Vec<MPI_Request>,
        traffic: &mut Traffic,
    ) -> Result {
        let mut scratch = std::ptr::null_mut();
        if self.program.scratch > 0 {
            pool.clear();
            scratch = pool.take(self.program.scratch);
        }
        requests.clear();
        requests.resize(self.program.requests, constants::request_null());
        let mut player = Player { replay: self, bases: [send, receive, scratch], requests, traffic };
        let mut first_error = Ok(());
        for action in &self.program.actions {
            if first_error.is_ok() || matches!(action, Action::Wait { .. }) {
                // SAFETY: the caller's promise; the scratch holds what the program asked for.
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
    #[inline]
    unsafe fn act(&mut self, action: &Action) -> Result {
        let (comm, byte, status) = (self.replay.comm, constants::byte(), constants::status_ignore());
        let slots = self.requests.as_mut_ptr();
        let bases = self.bases;
        let here = |place: Place| bases[place.buffer as usize].wrapping_add(place.offset).cast::<c_void>();
        // SAFETY: the caller of `play` vouched for the buffers; the table of requests was sized for all slots.
        unsafe {
            match *action {
                Action::Send(Message { peer, bytes, at }) => {
                    let code = mpi_sys::PMPI_Send(here(at), bytes, byte, peer, TAG, comm);
                    self.traffic.sent(peer as usize, bytes as u64);
                    check(code)
                }
                Action::Receive(Message { peer, bytes, at }) => {
                    check(mpi_sys::PMPI_Recv(here(at), bytes, byte, peer, TAG, comm, status))
                }
                Action::Exchange(out, into) => {
                    let (from, to) = (here(out.at), here(into.at));
                    let code = mpi_sys::PMPI_Sendrecv(
                        from, out.bytes, byte, out.peer, TAG, to, into.bytes, byte, into.peer, TAG, comm, status,
                    );
                    self.traffic.sent(out.peer as usize, out.bytes as u64);
                    check(code)
                }
                Action::StartSend(Message { peer, bytes, at }, slot) => {
                    let code = mpi_sys::PMPI_Isend(here(at), bytes, byte, peer, TAG, comm, slots.add(slot as usize));
                    self.traffic.sent(peer as usize, bytes as u64);
                    check(code)
                }
                Action::StartReceive(Message { peer, bytes, at }, slot) => {
                    check(mpi_sys::PMPI_Irecv(here(at), bytes, byte, peer, TAG, comm, slots.add(slot as usize)))
                }
                Action::Wait { first, number } => {
                    let run = std::slice::from_raw_parts_mut(slots.add(first as usize), number as usize);
                    wait_for(run, self.replay.yielding)
                }
                Action::Copy { from, into, bytes } => {
                    let (from, into) = (here(from), here(into));
                    if from != into {
                        std::ptr::copy_nonoverlapping(from.cast::<u8>(), into.cast::<u8>(), bytes);
                    }
                    Ok(())
                }
                Action::Fold { left, right, into, units } => {
                    let kernel = self.replay.kernel.expect("no quick form without a kernel has folds");
                    kernel(here(left).cast(), here(right).cast(), here(into).cast(), units);
                    Ok(())
                }
            }
        }
    }
}
