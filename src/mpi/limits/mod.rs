//! The limits of the MPI library's protocol: [`known`] by name, or measured between two ranks, in `MPI_Init` those
//! within a node, by `collie fit` also those between nodes.

mod known;
mod search;

pub use crate::schedule::limits::ProtocolLimits;
pub use known::known;

use super::communicator::{TAG, receive_bytes, receive_words, send_bytes, send_words};
use super::constants;
use super::error::{Result, check};
use super::under_way::UnderWay;
use mpi_sys::MPI_Comm;
use search::Times;
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
    let end = Instant::now() + patience;
    let found = search(&mut |bytes, pieces| pair.time(bytes, pieces, end));
    // Nothing more is measured: the other rank goes on, whatever came out.
    let told = send_words(comm, peer, [0u64; 3]);
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
        let [bytes, pieces, kind] = receive_words(comm, peer)?.map(|word: u64| word as usize);
        if bytes == 0 {
            return Ok(());
        }
        pair.batch(Kind::ALL[kind], bytes, pieces, false)?;
    }
}

/// Why the search ended early.
enum Stopped {
    OutOfTime,
    Failed(super::error::Error),
}

impl From<super::error::Error> for Stopped {
    fn from(error: super::error::Error) -> Self {
        Self::Failed(error)
    }
}

/// What is measured.
#[derive(Clone, Copy)]
enum Kind {
    Exchange,
    OneWay,
    InARow,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Exchange, Self::OneWay, Self::InARow];
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

    /// What messages of `bytes` in so many pieces take, if there is time until `end`. Looked at before each batch: where
    /// others keep the cores busy, each message may take a slice of the scheduler's.
    fn time(&mut self, bytes: usize, pieces: usize, end: Instant) -> std::result::Result<Times, Stopped> {
        let mut least = [f64::INFINITY; 3];
        for batch in 0..=BATCHES {
            for (kind, least) in Kind::ALL.into_iter().zip(&mut least) {
                if Instant::now() > end {
                    return Err(Stopped::OutOfTime);
                }
                send_words(self.comm, self.peer as usize, [bytes, pieces, kind as usize].map(|word| word as u64))?;
                let seconds = self.batch(kind, bytes, pieces, true)?;
                // The first one brings the pages and queues in.
                *least = if batch > 0 { least.min(seconds) } else { *least };
            }
        }
        let [exchange, one_way, in_a_row] = least;
        Ok(Times { one_way, in_a_row, exchange })
    }

    /// Seconds of a message.
    fn batch(&mut self, kind: Kind, bytes: usize, pieces: usize, first: bool) -> Result<f64> {
        if self.out.len() < bytes {
            self.out.resize(bytes, 0);
            self.into.resize(bytes, 0);
        }
        self.synchronise()?;
        let begun = Instant::now();
        let messages = match kind {
            Kind::Exchange => {
                for _ in 0..ROUNDS {
                    self.exchange(bytes, pieces)?;
                }
                ROUNDS
            }
            Kind::OneWay => {
                for place in 0..2 * ROUNDS {
                    let sends = (place % 2 == 0) == first;
                    if sends { self.send(bytes, pieces)? } else { self.receive(bytes, pieces)? }
                }
                2 * ROUNDS
            }
            Kind::InARow => {
                for _ in 0..IN_A_ROW {
                    if first { self.receive(bytes, pieces)? } else { self.send(bytes, pieces)? }
                }
                IN_A_ROW
            }
        };
        Ok(begun.elapsed().as_secs_f64() / messages as f64)
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
        let mut messages = UnderWay::nothing(self.comm, TAG);
        let into = &mut self.into[..bytes];
        if pieces > 1 {
            start_receives(&mut messages, self.peer, into, pieces)?;
            start_sends(&mut messages, self.peer, &self.out[..bytes], pieces)?;
        } else {
            start_sends(&mut messages, self.peer, &self.out[..bytes], 1)?;
            receive_bytes(self.comm, self.peer as usize, into)?;
        }
        messages.wait()
    }

    /// As the player does it: of a message in pieces all are started before the first one is waited for.
    fn send(&self, bytes: usize, pieces: usize) -> Result {
        if pieces > 1 {
            let mut messages = UnderWay::nothing(self.comm, TAG);
            start_sends(&mut messages, self.peer, &self.out[..bytes], pieces)?;
            return messages.wait();
        }
        send_bytes(self.comm, self.peer as usize, &self.out[..bytes])
    }

    /// As [`send`](Self::send).
    fn receive(&mut self, bytes: usize, pieces: usize) -> Result {
        if pieces > 1 {
            let mut messages = UnderWay::nothing(self.comm, TAG);
            start_receives(&mut messages, self.peer, &mut self.into[..bytes], pieces)?;
            return messages.wait();
        }
        receive_bytes(self.comm, self.peer as usize, &mut self.into[..bytes])
    }
}

fn start_sends<'a>(messages: &mut UnderWay<'a>, peer: c_int, out: &'a [u8], pieces: usize) -> Result {
    out.chunks(out.len().div_ceil(pieces)).try_for_each(|piece| messages.send(peer, piece))
}

fn start_receives<'a>(messages: &mut UnderWay<'a>, peer: c_int, into: &'a mut [u8], pieces: usize) -> Result {
    into.chunks_mut(into.len().div_ceil(pieces)).try_for_each(|piece| messages.receive(peer, piece))
}
