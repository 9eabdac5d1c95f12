//! Messages of the measurement: rank 0 tells another rank what to do and times it.

use crate::mpi::{Result, check, constants, limits};
use mpi_sys::{MPI_Comm, MPI_Request};
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
        self.send_bytes(rank, &words, TOLD)?;
        if task == Task::Stop { Ok(()) } else { self.receive_tagged(rank, 0, TOLD) }
    }

    /// A word of no bytes: go.
    pub fn go(&self, rank: usize) -> Result {
        self.send_bytes(rank, &[0; 0], TOLD)
    }

    /// The communicator, for other messages between two tasks.
    pub const fn comm(&self) -> MPI_Comm {
        self.comm
    }

    /// Does what rank 0 tells until it says that it is over.
    pub fn serve(&mut self) -> Result {
        loop {
            self.await_word()?;
            let mut words: Words = [0; 4];
            // SAFETY: four words of eight bytes each.
            check(unsafe {
                let (to, byte, status) = (words.as_mut_ptr().cast(), constants::byte(), constants::status_ignore());
                mpi_sys::PMPI_Recv(to, 32, byte, 0, TOLD, self.comm, status)
            })?;
            let task = Task::of(words.map(u64::from_le));
            if task == Task::Stop {
                return Ok(());
            }
            self.send_bytes(0, &[0; 0], TOLD)?;
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
                self.receive_tagged(0, 0, TOLD)?;
                std::thread::sleep(wait);
                let begun = Instant::now();
                self.send(0, bytes)?;
                self.send_bytes(0, &(begun.elapsed().as_nanos() as u64).to_le_bytes(), TOLD)
            }
            Task::Limits => limits::follow(self.comm, 0),
            Task::Pour { to, bytes, times } => {
                self.receive_tagged(0, 0, TOLD)?;
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

    fn send_bytes(&self, to: usize, bytes: &[u8], tag: c_int) -> Result {
        let (count, byte) = (bytes.len() as c_int, constants::byte());
        // The address of an empty slice may be one that means something to MPI.
        let from = if bytes.is_empty() { self.send.as_ptr() } else { bytes.as_ptr() };
        // SAFETY: so many bytes can be read there.
        check(unsafe { mpi_sys::PMPI_Send(from.cast(), count, byte, to as c_int, tag, self.comm) })
    }

    /// Sends a message.
    pub fn send(&self, to: usize, bytes: usize) -> Result {
        self.send_bytes(to, &self.send[..bytes], DATA)
    }

    /// Receives a message.
    pub fn receive(&mut self, from: usize, bytes: usize) -> Result {
        self.receive_tagged(from, bytes, DATA)
    }

    fn receive_tagged(&mut self, from: usize, bytes: usize, tag: c_int) -> Result {
        let into = &mut self.receive[..bytes.max(1)];
        // SAFETY: so many bytes can be written there.
        check(unsafe {
            let (byte, status) = (constants::byte(), constants::status_ignore());
            let (into, count, from) = (into.as_mut_ptr().cast(), bytes as c_int, from as c_int);
            mpi_sys::PMPI_Recv(into, count, byte, from, tag, self.comm, status)
        })
    }

    /// Sends and receives at once, as algorithms do it.
    pub fn swap(&mut self, with: usize, bytes: usize) -> Result {
        let mut requests = [constants::request_null(); 2];
        let (byte, count, with) = (constants::byte(), bytes as c_int, with as c_int);
        // SAFETY: so many bytes can be read and written; both requests are waited for before the buffers are used
        // again.
        unsafe {
            let (into, from) = (self.receive.as_mut_ptr().cast(), self.send.as_ptr().cast());
            check(mpi_sys::PMPI_Irecv(into, count, byte, with, DATA, self.comm, &mut requests[0]))?;
            check(mpi_sys::PMPI_Isend(from, count, byte, with, DATA, self.comm, &mut requests[1]))?;
            check(mpi_sys::PMPI_Waitall(2, requests.as_mut_ptr(), constants::statuses_ignore()))
        }
    }

    /// Sends a row of messages and waits until all have come.
    pub fn pour(&mut self, to: usize, bytes: usize, times: usize) -> Result {
        (0..times).try_for_each(|_| self.send(to, bytes))?;
        self.receive(to, 0)
    }

    /// Seconds that a message takes from `from`, told to send it, while `bytes_out` bytes go to `to`; none go if that
    /// is 0.
    pub fn knock(&mut self, from: usize, bytes: usize, to: usize, bytes_out: usize) -> Result<f64> {
        let mut requests = [constants::request_null(); 2];
        let byte = constants::byte();
        let mut told = [0u8; 8];
        // SAFETY: the buffers are as long as said, and both requests are waited for before they are used again.
        unsafe {
            let (into, status) = (self.receive.as_mut_ptr().cast(), constants::status_ignore());
            let own = &mut requests[0];
            check(mpi_sys::PMPI_Irecv(into, bytes as c_int, byte, from as c_int, DATA, self.comm, own))?;
            self.go(from)?;
            if bytes_out > 0 {
                let (out, other) = (self.send.as_ptr().cast(), &mut requests[1]);
                check(mpi_sys::PMPI_Isend(out, bytes_out as c_int, byte, to as c_int, DATA, self.comm, other))?;
            }
            check(mpi_sys::PMPI_Waitall(2, requests.as_mut_ptr(), constants::statuses_ignore()))?;
            let words = told.as_mut_ptr().cast();
            check(mpi_sys::PMPI_Recv(words, 8, byte, from as c_int, TOLD, self.comm, status))?;
        }
        if bytes_out > 0 {
            self.receive(to, 0)?;
        }
        Ok(u64::from_le_bytes(told) as f64 * 1e-9)
    }

    /// Sends a message to each of two ranks at once; calls `arrived` when the first says that it has its own, and when
    /// both have.
    pub fn send_two(&mut self, to: [usize; 2], bytes: usize, mut arrived: impl FnMut()) -> Result {
        let null = constants::request_null();
        let (mut sends, mut answers): ([MPI_Request; 2], [MPI_Request; 2]) = ([null; 2], [null; 2]);
        let byte = constants::byte();
        // SAFETY: the buffers are as long as said, and all requests are waited for before they are used again.
        unsafe {
            for (place, rank) in to.into_iter().enumerate() {
                let (rank, answer) = (rank as c_int, self.receive.as_mut_ptr().add(place).cast());
                check(mpi_sys::PMPI_Irecv(answer, 0, byte, rank, DATA, self.comm, &mut answers[place]))?;
                let from = self.send.as_ptr().cast();
                let send = &mut sends[place];
                check(mpi_sys::PMPI_Isend(from, bytes as c_int, byte, rank, DATA, self.comm, send))?;
            }
            let mut first = 0;
            for _ in to {
                let status = constants::status_ignore();
                check(mpi_sys::PMPI_Waitany(2, answers.as_mut_ptr(), &mut first, status))?;
                arrived();
            }
            check(mpi_sys::PMPI_Waitall(2, sends.as_mut_ptr(), constants::statuses_ignore()))
        }
    }
}
