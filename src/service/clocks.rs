//! One clock for all ranks: the fastest of some ping-pongs tells how far apart two ranks' clocks are. Nodes' wall clocks
//! may differ by more than a run takes, so the wall time is rank 0's everywhere.

use crate::monitor::{ClockRecord, CommonClock, PingPong};
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::process::runtime::Runtime;
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Ping-pongs of a pair of ranks: the fastest counts, and of a hundred some are undisturbed.
const PING_PONGS: u32 = 100;
/// At least so many, however long they take.
const FEWEST_PING_PONGS: u32 = 4;
/// Then no more than fit this time: where ranks share cores each may take milliseconds.
const PING_PONGS_NS: i64 = 5_000_000;

/// The common clock, and how the ranks ask each other for it.
pub struct Clocks {
    /// The communicator of all ranks that is used for it.
    comm: OnceCell<All>,
    clock: Mutex<(CommonClock, ClockRecord)>,
    /// What to add to the common time to get rank 0's wall time, nanoseconds since 1970.
    wall: AtomicI64,
}

struct All(MPI_Comm);

// SAFETY: communicator handles are plain values, valid on every thread.
unsafe impl Send for All {}
// SAFETY: as above.
unsafe impl Sync for All {}

impl Clocks {
    /// Of which nothing is known.
    pub const fn new() -> Self {
        let record = ClockRecord { points: 0, error_ns: 0, round_trip_ns: 0 };
        Self { comm: OnceCell::new(), clock: Mutex::new((CommonClock::new(), record)), wall: AtomicI64::new(0) }
    }

    /// The communicator of all ranks, once it is set.
    pub fn comm(&self) -> Option<MPI_Comm> {
        self.comm.get().map(|All(comm)| *comm)
    }

    /// Has the ranks talk in this communicator of all of them.
    pub fn set_comm(&self, comm: MPI_Comm) {
        self.comm.get_or_init(|| All(comm));
    }

    /// For the report.
    pub fn record(&self) -> ClockRecord {
        self.clock.lock().1
    }

    /// The common clock as of now.
    pub fn common(&self) -> CommonClock {
        self.clock.lock().0.clone()
    }

    /// Rank 0's wall time as a function of this rank's clock, once the clocks have been synchronised.
    pub fn wall(&self) -> Option<WallClock> {
        let common = self.common();
        (common.points() > 0).then(|| WallClock { common, ahead: self.wall.load(Ordering::Relaxed) })
    }

    /// Gives every rank one more point of the common clock, that of rank 0. Collective over `MPI_COMM_WORLD`, of
    /// several ranks: down a binomial tree, each rank asks the one that it differs from in its lowest bit, which has
    /// been told before.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn synchronise(&self, runtime: &Runtime) -> Result {
        let comm = self.comm().expect("made before clocks are synchronised");
        let (rank, size) = (runtime.world_rank, runtime.world_size);
        let mut known = ClockEstimate { offset: 0, error: 0, round_trip: 0, wall: wall_time() - system_clock() };
        if rank > 0 {
            known = ask(runtime, comm, rank & (rank - 1))?;
        }
        let lowest = if rank == 0 { size.next_power_of_two() } else { rank & rank.wrapping_neg() };
        let mut distance = lowest / 2;
        while distance > 0 {
            if rank + distance < size {
                answer(runtime, comm, rank + distance, &known)?;
            }
            distance /= 2;
        }
        self.wall.store(known.wall, Ordering::Relaxed);
        let (own, system) = both_clocks(runtime);
        let mut clock = self.clock.lock();
        // Twice what it is where speeds change steadily. Clocks of one node change together.
        let drift = if known.error > 0 { clock.0.drift(own, system + known.offset) / 4 } else { 0 };
        clock.0.add(own, system + known.offset);
        let record = &mut clock.1;
        record.points += 1;
        record.error_ns = record.error_ns.max(known.error as u64 + drift);
        record.round_trip_ns = record.round_trip_ns.max(known.round_trip as u64);
        Ok(())
    }
}

/// What a rank knows of the common time, nanoseconds.
struct ClockEstimate {
    /// What to add to the system's clock.
    offset: i64,
    /// How far off that may be.
    error: i64,
    /// The fastest ping-pong.
    round_trip: i64,
    /// How far rank 0's wall clock is ahead of the common time.
    wall: i64,
}

/// Rank 0's wall time.
#[derive(Clone, Debug)]
pub struct WallClock {
    common: CommonClock,
    ahead: i64,
}

impl WallClock {
    /// Nanoseconds since 1970 when this rank's clock showed `own` nanoseconds since the start, which took `stretch` times
    /// as long by the system's: with two points the clock knows that itself.
    pub fn at(&self, own: u64, stretch: f64) -> u64 {
        let own = if self.common.points() > 1 { own } else { (own as f64 * stretch) as u64 };
        (self.common.common(own) + self.ahead).max(0) as u64
    }
}

/// Asks `reference` for the common time.
fn ask(runtime: &Runtime, comm: MPI_Comm, reference: usize) -> Result<ClockEstimate> {
    let begin = system_clock();
    let (mut fastest, mut theirs) = (None::<PingPong>, [0u64; 5]);
    for asked in 1..=PING_PONGS {
        let sent = system_clock();
        let enough = asked > FEWEST_PING_PONGS && sent - begin > PING_PONGS_NS;
        let last = asked == PING_PONGS || enough;
        communicator::send_words(comm, reference, [u64::from(last)])?;
        theirs = communicator::receive_words(comm, reference)?;
        let ping_pong = PingPong { sent, answer: theirs[0] as i64, received: system_clock() };
        fastest = Some(fastest.map_or(ping_pong, |known| known.or_faster(ping_pong)));
        if last {
            break;
        }
    }
    let [_, offset, error, node, wall] = theirs;
    let fastest = fastest.expect("asked at least once");
    let (offset, error, round_trip, wall) = (offset as i64, error as i64, fastest.round_trip(), wall as i64);
    // One node, one clock; unless containers have been given clocks of their own.
    Ok(if node == runtime.node && fastest.allows(offset) {
        ClockEstimate { offset, error, round_trip, wall }
    } else {
        ClockEstimate { offset: fastest.offset(), error: error + round_trip / 2, round_trip, wall }
    })
}

/// Answers `asking` until it has asked enough.
fn answer(runtime: &Runtime, comm: MPI_Comm, asking: usize, known: &ClockEstimate) -> Result {
    loop {
        let [last] = communicator::receive_words(comm, asking)?;
        let common = system_clock() + known.offset;
        let words = [common as u64, known.offset as u64, known.error as u64, runtime.node, known.wall as u64];
        communicator::send_words(comm, asking, words)?;
        if last != 0 {
            return Ok(());
        }
    }
}

/// The clock that the ranks of a node share, nanoseconds.
fn system_clock() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the out-parameter is valid for writes; every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The time of day, nanoseconds since 1970.
fn wall_time() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// Nanoseconds since the start by the clock that times the calls, and the system's clock at that moment.
fn both_clocks(runtime: &Runtime) -> (u64, i64) {
    let read = |_| {
        let (before, system, after) = (runtime.clock.raw(), system_clock(), runtime.clock.raw());
        (after - before, before + (after - before) / 2, system)
    };
    // The reading that was interrupted least.
    let (_, ticks, system) = (0..5).map(read).min().expect("five readings");
    (runtime.nanoseconds(ticks - runtime.started.0), system)
}
