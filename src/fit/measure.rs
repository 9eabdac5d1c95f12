//! The program `collie-bench fit`: what is timed, and in which order.

use super::Settings;
use super::estimate;
use super::talk::{Line, Task};
use crate::bench::{self, Job, entry};
use crate::mpi::{Result, limits};
use crate::reduction::{Element, Op, kernel};
use crate::schedule::simulate::Network;
use crate::schedule::simulate::estimate::{EMPTY, Measured, median};
use clap::Parser;
use mpi_sys::MPI_Comm;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Least and most samples of one kind of message and size.
const SAMPLES: (usize, usize) = (7, 400);
/// A message that takes longer is the longest measured.
const LONGEST: f64 = 0.3;
/// After so long the limits of the protocol are looked for no more.
const PATIENCE: Duration = Duration::from_secs(10);
/// Messages in a row of which the period is measured.
const ROW: usize = 200;
/// Bytes of the vectors that are folded and copied: too long for the first caches, as messages are that take time.
const FOLDED: usize = 1 << 20;

#[derive(Parser)]
#[command(
    name = "collie-bench fit",
    version,
    about = "Measures the parameters of a network and prints them as a network file",
    after_help = "Examples:\n  mpirun -n 4 collie-bench fit > net.json\n  collie fit -n 4 -o net.json      the same"
)]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
}

/// Carries out the command line (the words behind `fit`), on every rank.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    entry::main(
        arguments,
        |_: &CommandLine| Vec::new(),
        |job, parsed| match parsed {
            Ok(CommandLine { settings }) => fit(job, &settings),
            Err(error) => {
                if job.rank == 0 {
                    eprintln!("{error}");
                }
                Ok(2)
            }
        },
    )
}

/// Measures and prints; the exit code.
fn fit(job: &Job, settings: &Settings) -> Result<u8> {
    let memory = bench::in_memory::measure(job)?;
    let mut line = Line::new(job.communicator()?, settings.most);
    if job.rank > 0 {
        return line.serve().map(|()| 0);
    }
    let measured = estimate::Job { memory, ..Fit { job, line: &mut line, settings }.all()? };
    for rank in 1..job.size {
        line.tell(rank, Task::Stop)?;
    }
    let shared = Network::presets().next().expect("shared memory comes first");
    let told = estimate::network(&settings.name, &measured, &shared).and_then(|network| {
        let text = serde_json::to_string(&network).expect("a network can be written") + "\n";
        let mut out = std::io::stdout();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| format!("cannot write to standard output: {error}"))
    });
    Ok(match told {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("collie-bench: {message}");
            1
        }
    })
}

/// Rank 0, which measures.
struct Fit<'a> {
    job: &'a Job,
    line: &'a mut Line,
    settings: &'a Settings,
}

impl Fit<'_> {
    fn all(mut self) -> Result<estimate::Job> {
        let job = self.job;
        let node = |rank: usize| job.nodes.get(rank).copied().unwrap_or(0);
        let near: Vec<_> = (1..job.size).filter(|rank| node(*rank) == node(0)).collect();
        // One of each other node.
        let mut far: Vec<usize> = Vec::new();
        for rank in (1..job.size).filter(|rank| node(*rank) != node(0)) {
            if far.iter().all(|other| node(*other) != node(rank)) {
                far.push(rank);
            }
        }
        let on_node = if near.is_empty() { None } else { Some(self.between(&near)?) };
        let off_node = if far.is_empty() { None } else { Some(self.between(&far)?) };
        let within_node = self.limits(near.first().copied(), limits::within_node)?;
        let between_nodes = self.limits(far.first().copied(), limits::between_nodes)?;
        let pairs = match far.first() {
            Some(first) => {
                let there: Vec<_> = (1..job.size).filter(|rank| node(*rank) == node(*first)).collect();
                self.pairs(&near, &there)?
            }
            None => None,
        };
        let (per_folded_byte, per_copied_byte) = memory();
        let nodes = match job.ranks_per_node.len() {
            1 => "1 node".to_owned(),
            number => format!("{number} nodes"),
        };
        Ok(estimate::Job {
            told: format!("{}, {} ranks on {nodes}", job.library(), job.size),
            ranks_per_node: job.ranks_per_node.clone(),
            on_node,
            off_node,
            per_folded_byte,
            per_copied_byte,
            pairs,
            within_node,
            between_nodes,
            fast_network: crate::mpi::node::fast_network(),
            memory: None,
        })
    }

    /// How many samples of what takes `seconds` fit into the time for them.
    fn samples(&self, seconds: f64) -> usize {
        ((self.settings.seconds / seconds.max(1e-9)) as usize).clamp(SAMPLES.0, SAMPLES.1)
    }

    /// Everything between rank 0 and the first of `others`; two of them for what takes two.
    fn between(&mut self, others: &[usize]) -> Result<Measured> {
        let other = others[0];
        let mut measured = Measured::default();
        let (mut bytes, mut last) = (1, 0.0);
        while bytes <= self.settings.most && last < LONGEST {
            let (one_way, sending) = self.one_way(other, bytes)?;
            if bytes == EMPTY as usize {
                measured.sending = sending;
            }
            measured.one_way.push((bytes as u64, one_way));
            last = one_way;
            bytes *= if bytes < 1 << 14 { 4 } else { 2 };
        }
        self.line.tell(other, Task::Sink { from: 0, bytes: EMPTY as usize, times: ROW })?;
        let begun = Instant::now();
        self.line.pour(other, EMPTY as usize, ROW)?;
        measured.period = begun.elapsed().as_secs_f64() / ROW as f64;
        measured.eager_limit = self.eager_limit(other, &measured)?;
        let Some(limit) = measured.eager_limit else { return Ok(measured) };
        // Long enough that bytes take the time, short enough to be measured several times.
        let long = measured.one_way.iter().rev().find(|(bytes, time)| *bytes >= 4 * limit && *time < LONGEST / 3.0);
        if let Some((bytes, one)) = long.copied() {
            measured.swap = Some([self.swap(other, bytes as usize, one)?, one]);
            if let [first, second, ..] = *others {
                measured.two = Some(self.two([first, second], bytes as usize, one)?);
                measured.behind = Some(self.behind([first, second], limit, bytes as usize, one)?);
            }
        }
        Ok(measured)
    }

    /// What `find` finds out about the protocol with the other rank, if there is one.
    fn limits<T>(
        &mut self,
        other: Option<usize>,
        find: impl FnOnce(MPI_Comm, usize, Duration) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let Some(other) = other else { return Ok(None) };
        self.line.tell(other, Task::Limits)?;
        find(self.line.comm(), other, PATIENCE)
    }

    /// Time of a message one way, and of the call that sends it.
    fn one_way(&mut self, other: usize, bytes: usize) -> Result<(f64, f64)> {
        self.line.tell(other, Task::Echo { bytes, times: 2 })?;
        let begun = Instant::now();
        for _ in 0..2 {
            self.line.send(other, bytes)?;
            self.line.receive(other, bytes)?;
        }
        let times = self.samples(begun.elapsed().as_secs_f64() / 2.0);
        self.line.tell(other, Task::Echo { bytes, times })?;
        let (mut there_and_back, mut sending) = (Vec::new(), Vec::new());
        for _ in 0..times {
            let begun = Instant::now();
            self.line.send(other, bytes)?;
            sending.push(begun.elapsed().as_secs_f64());
            self.line.receive(other, bytes)?;
            there_and_back.push(begun.elapsed().as_secs_f64());
        }
        Ok((median(there_and_back) / 2.0, median(sending)))
    }

    /// Fewest bytes of which a send waits for its receive.
    fn eager_limit(&mut self, other: usize, measured: &Measured) -> Result<Option<u64>> {
        let (mut leaves, mut waits) = (0, None);
        for (bytes, time) in &measured.one_way {
            if self.waits(other, *bytes as usize, *time)? {
                waits = Some((*bytes, *time));
                break;
            }
            leaves = *bytes;
        }
        let Some((mut waits, time)) = waits else { return Ok(None) };
        while waits - leaves > 1 {
            let middle = leaves + (waits - leaves) / 2;
            if self.waits(other, middle as usize, time)? {
                waits = middle;
            } else {
                leaves = middle;
            }
        }
        Ok(Some(waits))
    }

    /// Whether a send that takes `time` with a receive waits for one that comes late. What two of at most three samples
    /// say: one may be of a rank that waited for its core, before its send or in it.
    fn waits(&mut self, other: usize, bytes: usize, time: f64) -> Result<bool> {
        let [one, another] = [self.seems_to_wait(other, bytes, time)?, self.seems_to_wait(other, bytes, time)?];
        if one == another { Ok(one) } else { self.seems_to_wait(other, bytes, time) }
    }

    fn seems_to_wait(&mut self, other: usize, bytes: usize, time: f64) -> Result<bool> {
        // Longer than a rank waits for its core where ranks outnumber cores.
        let wait = Duration::from_millis(20) + Duration::from_secs_f64(4.0 * time);
        self.line.tell(other, Task::Late { bytes, wait })?;
        let begun = Instant::now();
        self.line.send(other, bytes)?;
        Ok(begun.elapsed().as_secs_f64() > 0.7 * wait.as_secs_f64())
    }

    fn swap(&mut self, other: usize, bytes: usize, one: f64) -> Result<f64> {
        let times = self.samples(2.0 * one);
        self.line.tell(other, Task::Swap { bytes, times })?;
        let mut taken = Vec::new();
        for _ in 0..times {
            let begun = Instant::now();
            self.line.swap(other, bytes)?;
            taken.push(begun.elapsed().as_secs_f64());
        }
        Ok(median(taken))
    }

    fn two(&mut self, others: [usize; 2], bytes: usize, one: f64) -> Result<[f64; 2]> {
        let mut arrivals = [Vec::new(), Vec::new()];
        for _ in 0..self.samples(2.0 * one).min(20) {
            for other in others {
                self.line.tell(other, Task::Sink { from: 0, bytes, times: 1 })?;
            }
            let begun = Instant::now();
            let mut arrived = Vec::new();
            self.line.send_two(others, bytes, || arrived.push(begun.elapsed().as_secs_f64()))?;
            arrivals.iter_mut().zip(arrived).for_each(|(all, one)| all.push(one));
        }
        Ok(arrivals.map(median))
    }

    /// How much longer a message of the second takes, told to send it, while `bytes` go to the first.
    fn behind(&mut self, [first, second]: [usize; 2], limit: u64, bytes: usize, one: f64) -> Result<f64> {
        let short = 2 * limit as usize;
        // In the middle of the long message.
        let wait = Duration::from_secs_f64(one / 3.0);
        let mut taken = [Vec::new(), Vec::new()];
        for _ in 0..self.samples(2.0 * one).min(20) {
            for (out, taken) in [0, bytes].into_iter().zip(&mut taken) {
                if out > 0 {
                    self.line.tell(first, Task::Sink { from: 0, bytes: out, times: 1 })?;
                }
                self.line.tell(second, Task::Knock { bytes: short, wait })?;
                taken.push(self.line.knock(second, short, first, out)?);
            }
        }
        let [alone, behind] = taken.map(median);
        Ok(behind - alone)
    }

    /// How many times as long it takes if the other ranks here pour to the other ranks there at the same time.
    fn pairs(&mut self, here: &[usize], there: &[usize]) -> Result<Option<(usize, f64)>> {
        let partners: Vec<_> = here.iter().copied().zip(there[1..].iter().copied()).collect();
        if partners.is_empty() {
            return Ok(None);
        }
        let bytes = self.settings.most.min(1 << 18);
        let first = there[0];
        let pour = |line: &mut Line, partners: &[(usize, usize)], times: usize| {
            line.tell(first, Task::Sink { from: 0, bytes, times })?;
            for (from, to) in partners {
                line.tell(*to, Task::Sink { from: *from, bytes, times })?;
                line.tell(*from, Task::Pour { to: *to, bytes, times })?;
            }
            partners.iter().try_for_each(|(from, _)| line.go(*from))?;
            let begun = Instant::now();
            line.pour(first, bytes, times)?;
            Ok(begun.elapsed().as_secs_f64())
        };
        let few = pour(self.line, &[], 4)?;
        let times = self.samples(few / 4.0);
        let alone = pour(self.line, &[], times)?;
        let together = pour(self.line, &partners, times)?;
        Ok(Some((partners.len() + 1, together / alone)))
    }
}

/// Seconds per byte reduced and per byte copied.
fn memory() -> (f64, f64) {
    let sum = kernel(Op::Sum, Element::F64).expect("doubles can be added");
    let (left, right, mut into) = (vec![1.0f64; FOLDED / 8], vec![2.0f64; FOLDED / 8], vec![0.0f64; FOLDED / 8]);
    let per_byte = |mut work: Box<dyn FnMut() + '_>| {
        let one = |_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64() / FOLDED as f64
        };
        median((0..51).map(one))
    };
    let folded = per_byte(Box::new(|| {
        // SAFETY: three vectors of so many doubles that do not overlap.
        unsafe { sum(left.as_ptr().cast(), right.as_ptr().cast(), into.as_mut_ptr().cast(), FOLDED / 8) };
        std::hint::black_box(&into);
    }));
    let copied = per_byte(Box::new(|| {
        into.copy_from_slice(&left);
        std::hint::black_box(&into);
    }));
    (folded, copied)
}
