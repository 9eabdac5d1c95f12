//! A link measured between two ranks in a few milliseconds: rank 0, which keeps the time, and another one, which
//! answers.

use super::communicator::{await_message, receive_bytes, receive_words, send_bytes, send_words};
use super::error::{Error, Result};
use crate::schedule::simulate::brief::{self, Echo, SHORT};
use crate::schedule::simulate::estimate::Measured;
use mpi_sys::MPI_Comm;
use std::time::{Duration, Instant};

/// How long a rank that has nothing to do leaves the cores to others between two looks.
pub const NAP: Duration = Duration::from_micros(300);

/// What the other rank is asked for; it ends with 0.
const ECHO: u64 = 1;
const ROW: u64 = 2;

/// Measures the link to `peer`, which calls [`answer`], and begins nothing after `patience`. No message of anybody
/// else's may be under way between the two.
///
/// # Errors
/// What PMPI returned.
pub fn measure(comm: MPI_Comm, peer: usize, patience: Duration) -> Result<Measured> {
    let mut pair = Pair { comm, peer, begun: Instant::now(), bytes: Vec::new() };
    let measured = brief::measure(&mut pair, patience);
    // The other rank goes on, whatever came out.
    send_words(comm, peer, [0; 3])?;
    measured
}

/// Answers rank 0 until it has measured.
///
/// # Errors
/// What PMPI returned.
pub fn answer(comm: MPI_Comm) -> Result {
    let mut bytes = Vec::new();
    // Another link may have its turn first.
    await_message(comm, 0, NAP)?;
    loop {
        let [asked, length, times] = receive_words(comm, 0)?;
        let room = room(&mut bytes, length as usize);
        match asked {
            ECHO => (0..times).try_for_each(|_| {
                receive_bytes(comm, 0, room)?;
                send_bytes(comm, 0, room)
            })?,
            ROW => {
                (0..times).try_for_each(|_| receive_bytes(comm, 0, room))?;
                send_bytes(comm, 0, room)?;
            }
            _ => return Ok(()),
        }
    }
}

/// As many bytes.
fn room(bytes: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if bytes.len() < length {
        bytes.resize(length, 0);
    }
    &mut bytes[..length]
}

/// Rank 0 and the other one.
struct Pair {
    comm: MPI_Comm,
    peer: usize,
    begun: Instant,
    bytes: Vec<u8>,
}

impl Pair {
    fn ask(&self, asked: u64, bytes: usize, times: usize) -> Result {
        send_words(self.comm, self.peer, [asked, bytes as u64, times as u64])
    }
}

impl brief::Pair for Pair {
    type Error = Error;

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn echo(&mut self, bytes: usize, times: usize) -> Result<Vec<Echo>> {
        self.ask(ECHO, bytes, times)?;
        let room = room(&mut self.bytes, bytes);
        let mut echoes = Vec::with_capacity(times);
        for _ in 0..times {
            let begun = Instant::now();
            send_bytes(self.comm, self.peer, room)?;
            let sending = begun.elapsed().as_secs_f64();
            receive_bytes(self.comm, self.peer, room)?;
            echoes.push(Echo { one_way: begun.elapsed().as_secs_f64() / 2.0, sending });
        }
        Ok(echoes)
    }

    fn row(&mut self, times: usize) -> Result<f64> {
        self.ask(ROW, SHORT, times)?;
        let room = room(&mut self.bytes, SHORT);
        let begun = Instant::now();
        for _ in 0..times {
            send_bytes(self.comm, self.peer, room)?;
        }
        receive_bytes(self.comm, self.peer, room)?;
        Ok(begun.elapsed().as_secs_f64() / times as f64)
    }
}
