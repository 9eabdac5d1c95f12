//! Waiting apart from working (`COLLIE_SYNC`): one clock for all ranks, or a barrier before each call; and at the end
//! all ranks' arrivals put together. Time lines of several nodes are on the one clock, too.
//!
//! Which of the two is rank 0's choice, told to all ranks in `MPI_Init`. Everything is per communicator and rests on
//! all its ranks calling its collectives in one order, as MPI demands.

use super::clocks::{Clocks, WallClock};
use super::combine::{self, Arrived, Combined};
use crate::algorithm::{Choice, Operation, parse_choice};
use crate::call::attachment::{Seen, Visit};
use crate::call::hooks::{self, Waited, WaitedCall, Waiting};
use crate::call::local_arguments::LocalArguments;
use crate::call::program::{self, Prepared, seat_and_call};
use crate::call::registry;
use crate::communicator::agreement::Agreed;
use crate::communicator::failures;
use crate::communicator::private::Private;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{Arrival, ClockRecord, Room, Traffic};
use crate::mpi::communicator::{self, Ids};
use crate::mpi::constants;
use crate::mpi::error::Result;
use crate::process::log::{is_new, tell};
use crate::process::runtime::{self, Runtime};
use crate::run::Counts;
use crate::schedule::lower;
use crate::selection::Sync;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Clocks are synchronised again at that many collectives on `MPI_COMM_WORLD`, at twice as many, and so on.
const FIRST_AGAIN: u64 = 1024;

static SYNCHRONISATION: Synchronisation = Synchronisation {
    mode: AtomicU8::new(Sync::Off as u8),
    clocks: Clocks::new(),
    has_clock: AtomicBool::new(false),
    room: Room::new(0),
    retired: Mutex::new(Retired { arrived: Vec::new(), taken: 0 }),
};

/// What the process keeps for telling waiting from working.
struct Synchronisation {
    mode: AtomicU8,
    clocks: Clocks,
    /// Whether there is one clock for all ranks.
    has_clock: AtomicBool,
    room: Room,
    retired: Mutex<Retired>,
}

/// The calls on communicators that are gone.
struct Retired {
    arrived: Vec<Arrived>,
    /// Bytes of the budget for counters that they take.
    taken: u64,
}

impl Retired {
    /// Takes one in, if there is memory for it: there may be as many as a program makes. The ranks leave out those that
    /// some of them have not.
    fn add(&mut self, (runtime, room): (&Runtime, &Room), arrived: Arrived) {
        let bytes = arrived.bytes() as u64;
        if arrived.place != Tally::NOWHERE && runtime.budget.take(bytes) {
            self.taken += bytes;
            self.arrived.push(arrived);
        } else {
            arrived.arrivals.lock().forget(room);
            let words =
                "COLLIE_MEMORY has no room for calls on communicators that are gone: waiting there is not reported";
            if is_new(words) {
                log::warn!("{words}");
            }
        }
    }
}

/// How it is done, the same on all ranks.
pub fn mode() -> Sync {
    SYNCHRONISATION.mode()
}

/// How well the clocks agree, for the report.
pub fn clock() -> Option<ClockRecord> {
    let has_clock = mode() == Sync::Clock || SYNCHRONISATION.has_clock.load(Ordering::Relaxed);
    has_clock.then(|| SYNCHRONISATION.clocks.record())
}

/// One wall clock for the time lines of all ranks, where there is one.
pub fn wall() -> Option<WallClock> {
    SYNCHRONISATION.has_clock.load(Ordering::Relaxed).then(|| SYNCHRONISATION.clocks.wall()).flatten()
}

/// Forgets the calls on communicators that are gone.
pub fn reset(runtime: &Runtime) {
    let mut retired = SYNCHRONISATION.retired.lock();
    retired.arrived.drain(..).for_each(|arrived| arrived.arrivals.lock().forget(&SYNCHRONISATION.room));
    runtime.budget.give(std::mem::take(&mut retired.taken));
}

/// Ends it and frees the communicator.
///
/// # Errors
/// What PMPI returned.
pub fn release() -> Result {
    let mode = SYNCHRONISATION.mode.swap(Sync::Off as u8, Ordering::Relaxed);
    let had_clock = SYNCHRONISATION.has_clock.swap(false, Ordering::Relaxed);
    if mode == Sync::Off as u8 && !had_clock {
        return Ok(());
    }
    SYNCHRONISATION.clocks.comm().map_or(Ok(()), communicator::free)
}

/// Starts what rank 0 has chosen and synchronises the clocks, also where time lines of several nodes want them.
/// Collective over `MPI_COMM_WORLD`.
///
/// # Errors
/// What PMPI returned.
pub fn start(runtime: &Runtime, wanted: Sync, time_lines: bool) -> Result {
    if runtime.world_size == 1 {
        if wanted != Sync::Off {
            SYNCHRONISATION.switch_on(wanted);
        }
        return Ok(());
    }
    let has_clock = wanted == Sync::Clock || time_lines && runtime.uncounted(|| are_several_nodes(runtime))?;
    if wanted == Sync::Off && !has_clock {
        return Ok(());
    }
    if wanted != Sync::Off {
        // Calls that are to be compared with the other ranks' get an eighth: a quarter of a million of 64 MiB.
        let memory = runtime.configuration.as_ref().map_or(0, |configuration| configuration.memory / 8);
        if runtime.budget.take(memory as u64) {
            SYNCHRONISATION.room.add(memory);
        }
    }
    let Some(comm) = communicator::make_private(constants::comm_world(), Ids::Left)? else {
        match wanted {
            Sync::Off => log::warn!("nodes keep their own clocks in the time line: no communicator could be created"),
            _ => log::warn!("waiting is not measured: no communicator could be created for it"),
        }
        return Ok(());
    };
    SYNCHRONISATION.clocks.set_comm(comm);
    SYNCHRONISATION.has_clock.store(has_clock, Ordering::Relaxed);
    if wanted != Sync::Off {
        SYNCHRONISATION.switch_on(wanted);
    }
    runtime.uncounted(|| SYNCHRONISATION.synchronise(runtime))
}

/// Whether the ranks are on several nodes, which have clocks of their own. Collective over `MPI_COMM_WORLD`.
fn are_several_nodes(runtime: &Runtime) -> Result<bool> {
    // Below 2^63, whose order every MPI library knows.
    let node = runtime.node >> 1;
    let [least, without_most] = communicator::least(constants::comm_world(), [node, (u64::MAX >> 1) - node])?;
    Ok(least != (u64::MAX >> 1) - without_most)
}

/// Synchronises the clocks again and puts all ranks' arrivals together. Collective over `MPI_COMM_WORLD`.
///
/// # Errors
/// What PMPI returned.
pub fn combine(runtime: &Runtime, visit: Visit) -> Result<Vec<Combined>> {
    let mode = mode();
    if runtime.world_size == 1 {
        return Ok(Vec::new());
    }
    SYNCHRONISATION.synchronise(runtime)?;
    if mode == Sync::Off {
        return Ok(Vec::new());
    }
    let clocks = &SYNCHRONISATION.clocks;
    // Kept from going while the list is made, so that one that goes meanwhile is there once.
    let mut all = {
        let walk = registry::walk();
        let mut all = SYNCHRONISATION.retired.lock().arrived.clone();
        if let Some(walk) = walk {
            // What a call under way has yet to take back is none of it.
            let add = |seen: Seen| all.extend(arrived(&seen.attached.communicator).filter(|_| !seen.is_outdated));
            // SAFETY: whoever asks says when. What is cloned may be counted by any thread, and is none of the caches'.
            let left_out = unsafe { walk.each(visit, add) };
            if left_out > 0 {
                log::error!("waiting times are wrong: {left_out} communicators have a call under way");
            }
        }
        all
    };
    // One order on all ranks, so that none waits for another that waits for it.
    all.sort_by(|one, other| one.identity.cmp(&other.identity));
    let clock = (mode == Sync::Clock).then(|| clocks.common());
    let comm = clocks.comm().expect("made before the mode is set");
    combine::keep_common(runtime, comm, &mut all)?;
    all.iter().map(|arrived| arrived.combine(runtime, comm, clock.as_ref())).collect()
}

/// The calls on a communicator; `None` if this rank has made no call that counts here.
fn arrived(communicator: &Communicator) -> Option<Arrived> {
    let arrivals = &communicator.tally.arrivals;
    let agreed = communicator.agreed.as_ref().filter(|_| arrivals.lock().calls() > 0)?;
    Some(Arrived {
        place: communicator.tally.place,
        identity: agreed.identity.clone(),
        rank: communicator.facts.rank,
        members: Arc::clone(&agreed.members),
        arrivals: Arc::clone(arrivals),
        times: communicator.tally.table.times(),
    })
}

impl Synchronisation {
    fn mode(&self) -> Sync {
        Sync::ALL[usize::from(self.mode.load(Ordering::Relaxed))]
    }

    fn switch_on(&'static self, mode: Sync) {
        self.mode.store(mode as u8, Ordering::Relaxed);
        hooks::set_waiting(self);
    }

    /// Gives every rank one more point of the common clock, where there is one. Collective over `MPI_COMM_WORLD`.
    fn synchronise(&self, runtime: &Runtime) -> Result {
        if self.has_clock.load(Ordering::Relaxed) { self.clocks.synchronise(runtime) } else { Ok(()) }
    }
}

impl Waiting for Synchronisation {
    /// Says of a communicator with ranks of several worlds that it is left out; once in each world.
    fn agreed(&self, runtime: &Runtime, agreed: &Agreed) {
        if agreed.foreign
            && self.mode() != Sync::Off
            && agreed.members.iter().min() == Some(&(runtime.world_rank as u32))
        {
            tell(&format!(
                "COLLIE_SYNC leaves out communicator {}, which has ranks of another MPI_COMM_WORLD: waiting there counts as \
                 work",
                agreed.identity
            ));
        }
    }

    /// Clocks are common to one `MPI_COMM_WORLD`, and only its ranks meet at the end, so communicators with ranks of
    /// other worlds are left out.
    fn prepare(&self, runtime: &Runtime, communicator: &mut Communicator) -> Result {
        if communicator.agreed.as_ref().is_some_and(|agreed| agreed.foreign) {
            return Ok(());
        }
        match self.mode() {
            Sync::Barrier => communicator.private(runtime).map(drop),
            Sync::Off | Sync::Clock => Ok(()),
        }
    }

    fn before(&self, runtime: &Runtime, communicator: &Communicator, may_be_refused: bool) -> Option<Waited> {
        let mode = self.mode();
        if mode == Sync::Off {
            return None;
        }
        communicator.agreed.as_ref().filter(|agreed| communicator.never().is_none() && !agreed.foreign)?;
        if mode == Sync::Barrier && !matches!(communicator.private, Private::Made(_)) {
            return None;
        }
        // A statement of its own: other threads' calls need the lock while this one waits.
        let (number, (have_met, met)) = {
            let arrivals = communicator.tally.arrivals.lock();
            (arrivals.calls(), arrivals.meeting())
        };
        let waits = mode == Sync::Barrier && !have_met;
        let start = runtime.clock.raw();
        if waits && let Err(error) = barrier(communicator) {
            // Others wait in the same barrier, for what this rank has not sent.
            let error = failures::noticed(communicator.facts.comm, error);
            log::error!("the barrier before a call failed: {error}");
        }
        // In the first call late ranks were waited for where the ranks agreed on their settings.
        let ticks = if waits { met + runtime.clock.raw().saturating_sub(start) } else { 0 };
        let mut arrivals = communicator.tally.arrivals.lock();
        match may_be_refused {
            true => arrivals.met(),
            false => arrivals.count(runtime.recording.load(Ordering::Relaxed)),
        }
        Some(Waited { number, ticks, is_counted: !may_be_refused })
    }

    fn refused(&self, runtime: &Runtime, communicator: &Communicator, waited: Waited) {
        if waited.is_counted {
            communicator.tally.arrivals.lock().take_back(runtime.recording.load(Ordering::Relaxed));
        }
    }

    /// Keeps when this rank came to the call if it succeeded and calls are recorded, and now and then synchronises the
    /// clocks.
    fn after(&self, runtime: &Runtime, communicator: &mut Communicator, waited: Waited, call: Option<WaitedCall>) {
        let Waited { number, ticks: waited, is_counted } = waited;
        let mode = self.mode();
        let recorded = runtime.recording.load(Ordering::Relaxed);
        if !is_counted {
            communicator.tally.arrivals.lock().count(recorded);
        }
        if let Some(call) = call.filter(|_| recorded) {
            let WaitedCall { function, counter, times: (enter, ticks) } = call;
            let ticks = match mode {
                Sync::Barrier => {
                    communicator.tally.table.waited(counter, waited);
                    waited
                }
                Sync::Off | Sync::Clock => ticks,
            };
            let arrival = Arrival { enter, ticks, number, counter, function: function.number() };
            communicator.tally.arrivals.lock().keep(arrival, &self.room);
        }
        let calls = number + 1;
        let in_world = communicator.facts.comm == constants::comm_world();
        let is_due = calls >= FIRST_AGAIN && calls.is_power_of_two() && in_world;
        if mode == Sync::Clock
            && is_due
            && let Err(error) = runtime.uncounted(|| self.synchronise(runtime))
        {
            log::error!("the clocks could not be synchronised: {error}");
        }
    }

    /// Keeps the calls of a communicator that goes away until all ranks put theirs together.
    fn gone(&self, communicator: &Communicator) {
        communicator.tally.arrivals.lock().end(&self.room);
        if let (Some(runtime), Some(arrived)) = (runtime::known(), arrived(communicator)) {
            self.retired.lock().add((runtime, &self.room), arrived);
        }
    }
}

/// All ranks of the communicator, in the private one. What it sends counts as nobody's traffic.
fn barrier(communicator: &Communicator) -> Result {
    static DISSEMINATION: Lazy<Choice> =
        Lazy::new(|| parse_choice(Operation::Barrier, "dissemination").expect("a row of the catalogue"));
    let nothing = LocalArguments::nothing();
    let (seat, call) = seat_and_call(communicator, Operation::Barrier, &nothing);
    let part = lower::Part { choice: &DISSEMINATION, call: &call, rank: seat.rank, size: seat.size };
    let form = program::form(communicator, &seat, part.choice, &call, &nothing);
    let prepared = Prepared::new(seat, (part.choice, &call), &nothing, form, None);
    let nowhere = [std::ptr::null_mut(); 2];
    prepared.play(nowhere, Some(&part), &mut Traffic::default(), &mut Counts::default())
}
