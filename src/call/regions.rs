//! Regions that the program names (`collie.h`, `MPI_Pcontrol`): how long they took, and how much of it collectives and
//! messages did.

use super::messages;
use crate::monitor::RegionRecord;
use crate::mpi::text::printable;
use crate::process::guard::{self, THREAD};
use crate::process::kept::{Kept, Key};
use crate::process::runtime::Runtime;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most names of a rank; time in further ones is told together, under [`OTHERS`].
const MOST: usize = 1000;
const OTHERS: &str = "(further regions)";

/// Most regions that a thread has begun and not ended: of a program that only begins them the last ones.
const DEEPEST: usize = 256;

static REGIONS: Mutex<Regions> = Mutex::new(Regions { ended: BTreeMap::new(), open: Vec::new() });

/// Threads that have had to do with regions so far.
static THREADS: AtomicU64 = AtomicU64::new(0);

static KEY: Key = Key::new();

thread_local! {
    static OWN: Kept<Own> = const { Kept::nothing(&KEY) };
}

/// A thread's number, which no later one has, wherever that lies in memory: regions that a thread has begun are its
/// own. Those that it has not ended go with it.
struct Own(u64);

impl Default for Own {
    fn default() -> Self {
        Self(THREADS.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        REGIONS.lock().open.retain(|open| open.thread != self.0);
    }
}

fn this_thread() -> u64 {
    OWN.with(|own| own.lend(|own| own.0))
}

struct Regions {
    ended: BTreeMap<String, Sum>,
    open: Vec<Open>,
}

/// Who says that a region begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// A function of `collie.h`.
    ByName,
    /// `MPI_Pcontrol(1, ...)`, whose further arguments may be none: what seems to be a name counts when it is also
    /// ended.
    ByPcontrol,
}

/// A region that has begun.
struct Open {
    thread: u64,
    name: String,
    said: Said,
    at: Moment,
}

/// Ticks of the clock, and what this thread had counted then.
#[derive(Clone, Copy)]
struct Moment {
    ticks: u64,
    calls: u64,
    collective: u64,
    message: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    entries: u64,
    ticks: u64,
    calls: u64,
    collective: u64,
    message: u64,
}

impl Moment {
    fn now(runtime: &Runtime) -> Self {
        let (calls, collective) = THREAD.with(guard::Thread::collectives);
        Self { ticks: runtime.clock.raw(), calls, collective, message: messages::ticks_of_this_thread() }
    }
}

impl Sum {
    /// An entry, and the time from its begin to its end unless it lies within another one of the same name, which has
    /// that time.
    fn add(&mut self, from: Moment, to: Moment, is_within_itself: bool) {
        self.entries += 1;
        if is_within_itself {
            return;
        }
        self.ticks += to.ticks.saturating_sub(from.ticks);
        self.calls += to.calls.saturating_sub(from.calls);
        self.collective += to.collective.saturating_sub(from.collective);
        self.message += to.message.saturating_sub(from.message);
    }
}

impl Regions {
    /// The sum of that name, or of those that there is no room for.
    fn sum(&mut self, name: &str) -> &mut Sum {
        let name = if self.ended.len() < MOST || self.ended.contains_key(name) { name } else { OTHERS };
        self.ended.entry(name.to_owned()).or_default()
    }

    /// Whether one of the first so many that have begun is the thread's of that name; what only `MPI_Pcontrol` has
    /// begun may be none.
    fn is_open(&self, thread: u64, name: &str, first: usize) -> bool {
        let is_it = |open: &Open| open.thread == thread && open.said == Said::ByName && open.name == name;
        self.open[..first].iter().any(is_it)
    }
}

/// A region begins on this thread.
pub fn begin(runtime: &Runtime, name: &str, said: Said) {
    let name = &*printable(name);
    let thread = this_thread();
    let mut regions = REGIONS.lock();
    if said == Said::ByPcontrol {
        // One that is never ended and begun again and again was no name, or begins anew.
        regions.open.retain(|open| (open.thread, open.said, open.name.as_str()) != (thread, said, name));
    }
    if regions.open.iter().filter(|open| open.thread == thread).count() >= DEEPEST
        && let Some(first) = regions.open.iter().position(|open| open.thread == thread)
    {
        regions.open.remove(first);
    }
    regions.open.push(Open { thread, name: name.to_owned(), said, at: Moment::now(runtime) });
}

/// The region that this thread has begun last under that name ends; whether there is one.
pub fn end(runtime: &Runtime, name: &str) -> bool {
    let name = &*printable(name);
    let (thread, now) = (this_thread(), Moment::now(runtime));
    let mut regions = REGIONS.lock();
    let Some(place) = regions.open.iter().rposition(|open| open.thread == thread && open.name == name) else {
        return false;
    };
    let Open { at, .. } = regions.open.remove(place);
    let is_within_itself = regions.is_open(thread, name, place);
    regions.sum(name).add(at, now, is_within_itself);
    true
}

/// Forgets what was counted; regions that have begun count from now on.
pub fn reset(runtime: &Runtime) {
    let (thread, now) = (this_thread(), Moment::now(runtime));
    let mut regions = REGIONS.lock();
    regions.ended.clear();
    regions.open.iter_mut().filter(|open| open.thread == thread).for_each(|open| open.at = now);
}

/// What was counted, for this rank's record; with the regions that this thread is in.
pub fn records(runtime: &Runtime) -> Vec<RegionRecord> {
    let (thread, now) = (this_thread(), Moment::now(runtime));
    let regions = REGIONS.lock();
    let mut all = Regions { ended: regions.ended.clone(), open: Vec::new() };
    for (place, open) in regions.open.iter().enumerate() {
        if open.thread == thread && open.said == Said::ByName {
            all.sum(&open.name).add(open.at, now, regions.is_open(thread, &open.name, place));
        }
    }
    let record = |(name, sum): (String, Sum)| RegionRecord {
        name,
        entries: sum.entries,
        total_ns: runtime.nanoseconds(sum.ticks),
        calls: sum.calls,
        collective_ns: runtime.nanoseconds(sum.collective),
        message_ns: runtime.nanoseconds(sum.message),
    };
    all.ended.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_within_themselves_take_no_more_time_than_the_outermost() {
        let at = |ticks: u64| Moment { ticks, calls: ticks, collective: ticks, message: ticks };
        let open = |thread: u64, name: &str, said| Open { thread, name: name.into(), said, at: at(0) };
        let mut regions = Regions {
            ended: BTreeMap::new(),
            open: vec![
                open(1, "other", Said::ByName),
                open(2, "own", Said::ByName),
                open(1, "own", Said::ByPcontrol),
                open(1, "own", Said::ByName),
                open(1, "own", Said::ByName),
            ],
        };
        let within: Vec<bool> = (0..5).map(|place| regions.is_open(1, "own", place)).collect();
        assert_eq!(within, [false, false, false, false, true]);
        regions.sum("own").add(at(10), at(40), true);
        regions.sum("own").add(at(0), at(50), false);
        let Sum { entries, ticks, calls, collective, message } = regions.ended["own"];
        assert_eq!((entries, ticks, calls, collective, message), (2, 50, 50, 50, 50));
    }
}
