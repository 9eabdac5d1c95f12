//! The limits of the MPI library's protocol: [`known`] by name, or measured between two ranks, in `MPI_Init` those
//! within a node, by `collie fit` also those between nodes.

mod known;
mod search;

pub use crate::schedule::limits::ProtocolLimits;
pub use known::known;

use super::communicator::{TAG, receive_bytes, receive_words, send_bytes, send_words};
use super::constants;
use super::error::{Result, check};
use mpi_sys::{MPI_Comm, MPI_Request};
use search::Times;
use smallvec::SmallVec;
use std::os::raw::c_int;
use std::time::{Duration, Instant};

/// Batches of each kind, the fastest of which counts.
const BATCHES: usize = 6;
/// How often each repeats an exchange and a message there and back, and then how many messages in a row come to the
/// rank that measures.
const ROUNDS: usize = 4;
const IN_A_ROW: usize = 8;
/// Bytes of the shortest message that is measured.
pub const SHORT: usize = search::TRIED[0];
/// After so long nothing is measured any more: these two ranks do not get the cores to themselves.
const PATIENCE: Duration = Duration::from_millis(30);
/// After so long, nothing more is begun to find out into how many pieces messages may be cut.
const LONG_PATIENCE: Duration = Duration::from_millis(50);

/// What one of the two ranks found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Where messages are cut.
    pub limits: ProtocolLimits,
    /// Nanoseconds of a message of [`SHORT`] bytes, alone or in a row.
    pub message_ns: u64,
    /// What finding out took.
    pub seconds: f64,
}

/// Measures with `peer` on the same node, which calls [`follow`]; `None` if there was no time. No message of anybody
/// else's may be under way between the two.
///
/// # Errors
/// What PMPI returned.
pub fn measure(comm: MPI_Comm, peer: usize) -> Result<Option<Measured>> {
    let begun = Instant::now();
    let (limits, short) = within(comm, peer, [PATIENCE, LONG_PATIENCE])?;
    // Where there are limits that message was timed: it is no number else, whose conversion programs may have trapped.
    Ok(limits.map(|limits| {
        let message_ns = if short.is_finite() { (short * 1e9) as u64 } else { 0 };
        Measured { limits, message_ns, seconds: begun.elapsed().as_secs_f64() }
    }))
}

/// Finds out with `peer`, which calls [`follow`], which messages within a node travel in pieces; `None` after
/// `patience`.
///
/// # Errors
/// What PMPI returned.
pub fn within_node(comm: MPI_Comm, peer: usize, patience: Duration) -> Result<Option<ProtocolLimits>> {
    Ok(within(comm, peer, [patience, 2 * patience])?.0)
}

/// The same, with the seconds of a message of [`SHORT`] bytes. After the second of two times it is no longer looked
/// into how many pieces messages may be cut.
fn within(comm: MPI_Comm, peer: usize, [patience, long]: [Duration; 2]) -> Result<(Option<ProtocolLimits>, f64)> {
    let (begun, mut short) = (Instant::now(), f64::INFINITY);
    let found = lead(comm, peer, long, |time| {
        let found = search::search(known(), |bytes, pieces| {
            if begun.elapsed() > patience {
                return Err(Stopped::OutOfTime);
            }
            let times = time(bytes, pieces)?;
            if (bytes, pieces) == (SHORT, 1) {
                short = short.min(times.one_way).min(times.in_a_row);
            }
            Ok(times)
        })?;
        search::reach(found, |bytes, pieces| match time(bytes, pieces) {
            Ok(times) => Ok(Some(times)),
            Err(Stopped::OutOfTime) => Ok(None),
            Err(failed) => Err(failed),
        })
    })?;
    Ok((found, short))
}

/// Finds out with `peer` on another node, which calls [`follow`], the longest message that had better travel whole, in
/// it `None` if all had; `None` after `patience`.
///
/// # Errors
/// What PMPI returned.
pub fn between_nodes(comm: MPI_Comm, peer: usize, patience: Duration) -> Result<Option<Option<usize>>> {
    lead(comm, peer, patience, |time| search::pieces(time))
}

type Time<'a> = &'a mut dyn FnMut(usize, usize) -> std::result::Result<Times, Stopped>;

/// Searches with times of messages to `peer`.
fn lead<T>(
    comm: MPI_Comm,
    peer: usize,
    patience: Duration,
    search: impl FnOnce(Time) -> std::result::Result<T, Stopped>,
) -> Result<Option<T>> {
    let mut pair = Pair::new(comm, peer);
    let begun = Instant::now();
    let found = search(&mut |bytes, pieces| {
        if begun.elapsed() > patience {
            return Err(Stopped::OutOfTime);
        }
        pair.time(bytes, pieces).map_err(Stopped::Failed)
    });
    // Nothing more is measured: the other rank goes on, whatever came out.
    let told = send_words(comm, peer, [0u64; 2]);
    match found {
        Ok(found) => told.map(|()| Some(found)),
        Err(Stopped::OutOfTime) => told.map(|()| None),
        Err(Stopped::Failed(error)) => Err(error),
    }
}

/// Answers `peer`, which searches, until it has found what it looks for.
///
/// # Errors
/// What PMPI returned.
pub fn follow(comm: MPI_Comm, peer: usize) -> Result {
    let mut pair = Pair::new(comm, peer);
    loop {
        let [bytes, pieces] = receive_words(comm, peer)?;
        if bytes == 0 {
            return Ok(());
        }
        (0..=BATCHES).try_for_each(|_| pair.batch(bytes as usize, pieces as usize, false).map(|_| ()))?;
    }
}

/// Why the search ended early.
enum Stopped {
    OutOfTime,
    Failed(super::error::Error),
}

/// One of the two ranks.
struct Pair {
    comm: MPI_Comm,
    peer: c_int,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Pair {
    fn new(comm: MPI_Comm, peer: usize) -> Self {
        Self { comm, peer: peer as c_int, out: Vec::new(), into: Vec::new() }
    }

    /// What messages of `bytes` in so many pieces take.
    fn time(&mut self, bytes: usize, pieces: usize) -> Result<Times> {
        send_words(self.comm, self.peer as usize, [bytes, pieces].map(|word| word as u64))?;
        // The first batch brings the pages and queues in.
        self.batch(bytes, pieces, true)?;
        let mut least = self.batch(bytes, pieces, true)?;
        for _ in 1..BATCHES {
            least = least.least(self.batch(bytes, pieces, true)?);
        }
        Ok(least)
    }

    fn batch(&mut self, bytes: usize, pieces: usize, first: bool) -> Result<Times> {
        if self.out.len() < bytes {
            self.out.resize(bytes, 0);
            self.into.resize(bytes, 0);
        }
        let each = |begun: Instant, number: usize| begun.elapsed().as_secs_f64() / number as f64;
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            self.exchange(bytes, pieces)?;
        }
        let exchange = each(begun, ROUNDS);
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            if first {
                self.send(bytes, pieces)?;
                self.receive(bytes, pieces)?;
            } else {
                self.receive(bytes, pieces)?;
                self.send(bytes, pieces)?;
            }
        }
        let one_way = each(begun, 2 * ROUNDS);
        self.synchronise()?;
        let begun = Instant::now();
        for _ in 0..IN_A_ROW {
            if first { self.receive(bytes, pieces)? } else { self.send(bytes, pieces)? }
        }
        Ok(Times { one_way, in_a_row: each(begun, IN_A_ROW), exchange })
    }

    /// Waits for the other rank.
    fn synchronise(&self) -> Result {
        let (nothing, byte, status) = (std::ptr::null_mut(), constants::byte(), constants::status_ignore());
        let (comm, peer) = (self.comm, self.peer);
        // SAFETY: no elements either way, so that MPI follows neither address; no status is asked for.
        check(unsafe { mpi_sys::PMPI_Sendrecv(nothing, 0, byte, peer, TAG, nothing, 0, byte, peer, TAG, comm, status) })
    }

    /// Both ways at once, as the player does it.
    fn exchange(&mut self, bytes: usize, pieces: usize) -> Result {
        let mut requests = Requests::new();
        if pieces > 1 {
            self.start_receives(bytes, pieces, &mut requests)?;
        }
        self.start_sends(bytes, pieces, &mut requests)?;
        if pieces == 1 {
            self.receive(bytes, 1)?;
        }
        wait(&mut requests)
    }

    /// As the player does it: of a message in pieces all are started before the first one is waited for.
    fn send(&self, bytes: usize, pieces: usize) -> Result {
        if pieces > 1 {
            let mut requests = Requests::new();
            self.start_sends(bytes, pieces, &mut requests)?;
            return wait(&mut requests);
        }
        send_bytes(self.comm, self.peer as usize, &self.out[..bytes])
    }

    fn start_sends(&self, bytes: usize, pieces: usize, requests: &mut Requests) -> Result {
        for piece in self.out[..bytes].chunks(bytes.div_ceil(pieces)) {
            let (first, number) = (piece.as_ptr().cast(), piece.len() as c_int);
            let mut request = constants::request_null();
            // SAFETY: the piece lives as long as this rank's buffers, which outlive the wait; the out-parameter is
            // valid for writes.
            check(unsafe {
                mpi_sys::PMPI_Isend(first, number, constants::byte(), self.peer, TAG, self.comm, &mut request)
            })?;
            requests.push(request);
        }
        Ok(())
    }

    /// As [`send`](Self::send).
    fn receive(&mut self, bytes: usize, pieces: usize) -> Result {
        if pieces > 1 {
            let mut requests = Requests::new();
            self.start_receives(bytes, pieces, &mut requests)?;
            return wait(&mut requests);
        }
        receive_bytes(self.comm, self.peer as usize, &mut self.into[..bytes])
    }

    fn start_receives(&mut self, bytes: usize, pieces: usize, requests: &mut Requests) -> Result {
        for piece in self.into[..bytes].chunks_mut(bytes.div_ceil(pieces)) {
            let (first, number) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
            let mut request = constants::request_null();
            // SAFETY: room for so many bytes, which lives as long as this rank's buffers; the out-parameter is valid
            // for writes.
            check(unsafe {
                mpi_sys::PMPI_Irecv(first, number, constants::byte(), self.peer, TAG, self.comm, &mut request)
            })?;
            requests.push(request);
        }
        Ok(())
    }
}

/// Messages that are under way.
type Requests = SmallVec<[MPI_Request; 8]>;

fn wait(requests: &mut [MPI_Request]) -> Result {
    let (number, first) = (requests.len() as c_int, requests.as_mut_ptr());
    // SAFETY: so many requests, which are under way.
    check(unsafe { mpi_sys::PMPI_Waitall(number, first, constants::statuses_ignore()) })
}
