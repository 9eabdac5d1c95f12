//! Messages of the measurement: rank 0 tells another rank what to do and times it.

use crate::mpi::under_way::UnderWay;
use crate::mpi::{Result, check, constants, limits};
use mpi_sys::MPI_Comm;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// What a rank is told to do. It says that it is ready, and then does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// It is over.
    Stop,
    /// Send every message from rank 0 back.
    Echo { bytes: usize, times: usize },
    /// Receive so many messages from a rank and then tell it.
    Sink { from: usize, bytes: usize, times: usize },
    /// Wait so long before receiving a message from rank 0, but let MPI work meanwhile.
    Late { bytes: usize, wait: Duration },
    /// Send to and receive from rank 0 at once.
    Swap { bytes: usize, times: usize },
    /// Once told to go and after so long a wait, send a message to rank 0, and then tell how long that took.
    Knock { bytes: usize, wait: Duration },
    /// Once told to go, send so many messages to a rank and wait until it has them.
    Pour { to: usize, bytes: usize, times: usize },
    /// Answer rank 0, which looks for the limits of the protocol.
    Limits,
}

type Words = [u64; 4];

impl Task {
    fn words(self) -> Words {
        let [kind, a, b, c] = match self {
            Self::Stop => [0; 4],
            Self::Echo { bytes, times } => [1, bytes, times, 0],
            Self::Sink { from, bytes, times } => [2, bytes, times, from],
            Self::Late { bytes, wait } => [3, bytes, wait.as_micros() as usize, 0],
            Self::Swap { bytes, times } => [4, bytes, times, 0],
            Self::Knock { bytes, wait } => [6, bytes, wait.as_micros() as usize, 0],
            Self::Pour { to, bytes, times } => [5, bytes, times, to],
            Self::Limits => [7, 0, 0, 0],
        };
        [kind, a, b, c].map(|word| word as u64)
    }

    fn of(words: Words) -> Self {
        let [kind, bytes, times, rank] = words.map(|word| word as usize);
        match kind {
            0 => Self::Stop,
            1 => Self::Echo { bytes, times },
            2 => Self::Sink { from: rank, bytes, times },
            3 => Self::Late { bytes, wait: Duration::from_micros(times as u64) },
            4 => Self::Swap { bytes, times },
            7 => Self::Limits,
            6 => Self::Knock { bytes, wait: Duration::from_micros(times as u64) },
            _ => Self::Pour { to: rank, bytes, times },
        }
    }
}

const TOLD: c_int = 1;
const DATA: c_int = 2;
/// How long a rank that has nothing to do leaves the cores to others between two looks.
const NAP: Duration = Duration::from_micros(300);

/// A rank's way to the others.
pub struct Line {
    comm: MPI_Comm,
    send: Vec<u8>,
    receive: Vec<u8>,
}

impl Line {
    /// For messages of at most `most` bytes.
    pub fn new(comm: MPI_Comm, most: usize) -> Self {
        // Written, so that no first touch of a page is measured.
        Self { comm, send: vec![1; most], receive: vec![2; 2 * most] }
    }

    /// Tells `rank` what to do, and waits until it is ready.
    pub fn tell(&mut self, rank: usize, task: Task) -> Result {
        let words = task.words().map(u64::to_le_bytes).concat();
        send_bytes(self.comm, rank, &words, TOLD)?;
        if task == Task::Stop { Ok(()) } else { receive_bytes(self.comm, rank, &mut [], TOLD) }
    }

    /// A word of no bytes: go.
    pub fn go(&self, rank: usize) -> Result {
        send_bytes(self.comm, rank, &[], TOLD)
    }

    /// The communicator, for other messages between two tasks.
    pub const fn comm(&self) -> MPI_Comm {
        self.comm
    }

    /// Does what rank 0 tells until it says that it is over.
    pub fn serve(&mut self) -> Result {
        loop {
            self.await_word()?;
            let mut words = [[0u8; 8]; 4];
            receive_bytes(self.comm, 0, words.as_flattened_mut(), TOLD)?;
            let task = Task::of(words.map(u64::from_le_bytes));
            if task == Task::Stop {
                return Ok(());
            }
            send_bytes(self.comm, 0, &[], TOLD)?;
            self.carry_out(task)?;
        }
    }

    fn carry_out(&mut self, task: Task) -> Result {
        match task {
            Task::Stop => Ok(()),
            Task::Echo { bytes, times } => (0..times).try_for_each(|_| {
                self.receive(0, bytes)?;
                self.send(0, bytes)
            }),
            Task::Sink { from, bytes, times } => {
                (0..times).try_for_each(|_| self.receive(from, bytes))?;
                self.send(from, 0)
            }
            Task::Late { bytes, wait } => {
                // What only needs the receiver to look, such as a copy out of shared memory, is no wait for its
                // receive.
                let begun = Instant::now();
                while begun.elapsed() < wait {
                    self.is_word_here()?;
                    std::thread::sleep(NAP);
                }
                self.receive(0, bytes)
            }
            Task::Swap { bytes, times } => (0..times).try_for_each(|_| self.swap(0, bytes)),
            Task::Knock { bytes, wait } => {
                receive_bytes(self.comm, 0, &mut [], TOLD)?;
                std::thread::sleep(wait);
                let begun = Instant::now();
                self.send(0, bytes)?;
                send_bytes(self.comm, 0, &(begun.elapsed().as_nanos() as u64).to_le_bytes(), TOLD)
            }
            Task::Limits => limits::follow(self.comm, 0),
            Task::Pour { to, bytes, times } => {
                receive_bytes(self.comm, 0, &mut [], TOLD)?;
                self.pour(to, bytes, times)
            }
        }
    }

    /// Waits for rank 0's next word without keeping a core from those who measure.
    fn await_word(&self) -> Result {
        while !self.is_word_here()? {
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    fn is_word_here(&self) -> Result<bool> {
        let mut here = 0;
        // SAFETY: the flag is valid for writes.
        check(unsafe { mpi_sys::PMPI_Iprobe(0, TOLD, self.comm, &mut here, constants::status_ignore()) })?;
        Ok(here != 0)
    }

    /// Sends a message.
    pub fn send(&self, to: usize, bytes: usize) -> Result {
        send_bytes(self.comm, to, &self.send[..bytes], DATA)
    }

    /// Receives a message.
    pub fn receive(&mut self, from: usize, bytes: usize) -> Result {
        receive_bytes(self.comm, from, &mut self.receive[..bytes], DATA)
    }

    /// Sends and receives at once, as algorithms do it.
    pub fn swap(&mut self, with: usize, bytes: usize) -> Result {
        let mut messages = UnderWay::nothing(self.comm, DATA);
        messages.receive(with as c_int, &mut self.receive[..bytes])?;
        messages.send(with as c_int, &self.send[..bytes])?;
        messages.wait()
    }

    /// Sends a row of messages and waits until all have come.
    pub fn pour(&mut self, to: usize, bytes: usize, times: usize) -> Result {
        (0..times).try_for_each(|_| self.send(to, bytes))?;
        self.receive(to, 0)
    }

    /// Seconds that a message takes from `from`, told to send it, while `bytes_out` bytes go to `to`; none go if that
    /// is 0.
    pub fn knock(&mut self, from: usize, bytes: usize, to: usize, bytes_out: usize) -> Result<f64> {
        let mut messages = UnderWay::nothing(self.comm, DATA);
        messages.receive(from as c_int, &mut self.receive[..bytes])?;
        send_bytes(self.comm, from, &[], TOLD)?;
        if bytes_out > 0 {
            messages.send(to as c_int, &self.send[..bytes_out])?;
        }
        messages.wait()?;
        let mut told = [0u8; 8];
        receive_bytes(self.comm, from, &mut told, TOLD)?;
        if bytes_out > 0 {
            self.receive(to, 0)?;
        }
        Ok(u64::from_le_bytes(told) as f64 * 1e-9)
    }

    /// Sends a message to each of two ranks at once; calls `arrived` when the first says that it has its own, and when
    /// both have.
    pub fn send_two(&mut self, to: [usize; 2], bytes: usize, mut arrived: impl FnMut()) -> Result {
        let mut messages = UnderWay::nothing(self.comm, DATA);
        for rank in to {
            messages.receive(rank as c_int, &mut [])?;
            messages.send(rank as c_int, &self.send[..bytes])?;
        }
        for _ in to {
            messages.wait_for_any()?;
            arrived();
        }
        messages.wait()
    }
}

fn send_bytes(comm: MPI_Comm, to: usize, bytes: &[u8], tag: c_int) -> Result {
    // The address of an empty slice may be one that means something to MPI.
    let from = if bytes.is_empty() { std::ptr::null() } else { bytes.as_ptr() };
    // SAFETY: so many bytes can be read there.
    check(unsafe { mpi_sys::PMPI_Send(from.cast(), bytes.len() as c_int, constants::byte(), to as c_int, tag, comm) })
}

fn receive_bytes(comm: MPI_Comm, from: usize, into: &mut [u8], tag: c_int) -> Result {
    let first = if into.is_empty() { std::ptr::null_mut() } else { into.as_mut_ptr() };
    let (count, status) = (into.len() as c_int, constants::status_ignore());
    // SAFETY: so many bytes can be written there; no status is asked for.
    check(unsafe { mpi_sys::PMPI_Recv(first.cast(), count, constants::byte(), from as c_int, tag, comm, status) })
}
