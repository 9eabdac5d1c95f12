//! Regions that the program names (`collie.h`, `MPI_Pcontrol`): how long they took, and how much of it collectives and
//! messages did.

use super::messages;
use crate::monitor::{MessageCounts, RegionRecord};
use crate::mpi::text::printable;
use crate::process::guard::{self, Collectives};
use crate::process::kept::{Kept, Key};
use crate::process::recorded;
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

/// A thread that has to do with regions: those that it has begun are its own. Those that it has not ended go with it.
struct Own {
    /// Which no later thread has, wherever that lies in memory.
    number: u64,
    /// Where it tells what it counts, so that any thread can say what its regions hold.
    collectives: &'static Collectives,
}

/// Places of threads that have ended.
static FREE: Mutex<Vec<&'static Collectives>> = Mutex::new(Vec::new());

impl Default for Own {
    fn default() -> Self {
        let free = FREE.lock().pop();
        let collectives = free.unwrap_or_else(|| Box::leak(Box::default()));
        guard::thread().tell(Some(collectives));
        Self { number: THREADS.fetch_add(1, Ordering::Relaxed), collectives }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        guard::thread().tell(None);
        // No open region has its place any more when another thread takes that.
        REGIONS.lock().leave(self.number);
        FREE.lock().push(self.collectives);
    }
}

/// This thread's number, and where it tells what it counts.
fn this_thread() -> (u64, &'static Collectives) {
    OWN.with(|own| own.lend(|own| (own.number, own.collectives)))
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
#[derive(Clone)]
struct Open {
    thread: u64,
    counts: Counts,
    name: String,
    said: Said,
    at: Moment,
    /// How often it has begun again, deeper than regions are kept, and not ended there.
    again: u64,
    /// Regions of the same name within it that have ended. They have its time, unless it never ends.
    within: Sum,
}

/// Where a thread counts.
#[derive(Clone, Copy)]
struct Counts {
    collectives: &'static Collectives,
    messages: Option<&'static MessageCounts>,
}

/// Ticks of the clock without those in which nothing was recorded, and what a thread had counted then.
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

impl Counts {
    fn now(self, runtime: &Runtime) -> Moment {
        let (calls, collective) = self.collectives.get();
        let message = self.messages.map_or(0, MessageCounts::message_ticks);
        let now = runtime.clock.raw();
        Moment { ticks: now - recorded::ever_paused(now), calls, collective, message }
    }
}

impl Sum {
    /// An entry from begin to end. Those of the same name within it are entries without a time of their own.
    fn of(from: Moment, to: Moment, within: Self) -> Self {
        Self {
            entries: 1 + within.entries,
            ticks: to.ticks.saturating_sub(from.ticks),
            calls: to.calls.saturating_sub(from.calls),
            collective: to.collective.saturating_sub(from.collective),
            message: to.message.saturating_sub(from.message),
        }
    }

    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.ticks += other.ticks;
        self.calls += other.calls;
        self.collective += other.collective;
        self.message += other.message;
    }
}

impl Regions {
    /// Whether there is no room for a sum of that name.
    fn is_one_of_others(&self, name: &str) -> bool {
        self.ended.len() >= MOST && !self.ended.contains_key(name)
    }

    /// The sum of that name, or of those that there is no room for.
    fn sum(&mut self, name: &str) -> &mut Sum {
        let name = if self.is_one_of_others(name) { OTHERS } else { name };
        self.ended.entry(name.to_owned()).or_default()
    }

    /// Adds what the thread's region of that name was, to the one that is told under the same name and that it lies within,
    /// among the first so many that have begun, if there is one.
    fn add(&mut self, thread: u64, name: &str, first: usize, sum: Sum) {
        let is_other = self.is_one_of_others(name);
        let is_like = |open: &Open| open.name == name || is_other && self.is_one_of_others(&open.name);
        let around = self.open[..first].iter().rposition(|open| open.thread == thread && is_like(open));
        match around {
            Some(around) => self.open[around].within.add(sum),
            None if sum.entries > 0 => self.sum(name).add(sum),
            None => {}
        }
    }

    /// A region begins.
    fn begin(&mut self, open: Open) {
        if open.said == Said::ByName && self.begins_again(open.thread, &open.name) {
            return;
        }
        self.make_room(open.thread);
        self.open.push(open);
    }

    /// Ends a region at that moment.
    fn end(&mut self, place: usize, now: Moment) {
        let Open { thread, name, at, within, .. } = self.open.remove(place);
        self.add(thread, &name, place, Sum::of(at, now, within));
    }

    /// Forgets a region that will not be ended. Later ones of its name stay.
    fn forget(&mut self, place: usize) {
        let Open { thread, name, within, .. } = self.open.remove(place);
        self.add(thread, &name, place, within);
    }

    /// Forgets those that the thread has not ended.
    fn leave(&mut self, thread: u64) {
        for place in (0..self.open.len()).rev() {
            if self.open[place].thread == thread {
                self.forget(place);
            }
        }
    }

    /// Whether the thread has so many open regions, one of that name among them, that it is counted there that this one has
    /// begun: it has no time of its own.
    fn begins_again(&mut self, thread: u64, name: &str) -> bool {
        if self.depth(thread) < DEEPEST {
            return false;
        }
        let last = self.open.iter_mut().rev().find(|open| open.thread == thread && open.name == name);
        match last.filter(|open| open.said == Said::ByName) {
            Some(open) => {
                open.again += 1;
                true
            }
            None => false,
        }
    }

    /// Whether it is one counted there that ends.
    fn ends_again(&mut self, place: usize) -> bool {
        let open = &mut self.open[place];
        let is_again = open.again > 0;
        if is_again {
            open.again -= 1;
            open.within.entries += 1;
        }
        is_again
    }

    /// How many open regions the thread has.
    fn depth(&self, thread: u64) -> usize {
        self.open.iter().filter(|open| open.thread == thread).count()
    }

    /// Makes room for one more region of that thread. What only `MPI_Pcontrol` has begun goes first: where it is begun
    /// again and again and never ended, it was no name.
    fn make_room(&mut self, thread: u64) {
        if self.depth(thread) < DEEPEST {
            return;
        }
        let of_thread = |open: &Open| open.thread == thread;
        let doubtful = self.open.iter().position(|open| of_thread(open) && open.said == Said::ByPcontrol);
        if let Some(first) = doubtful.or_else(|| self.open.iter().position(of_thread)) {
            self.forget(first);
        }
    }

    /// What has been counted when the clock and the counts of each thread say this.
    fn so_far(&self, now: impl Fn(Counts) -> Moment) -> BTreeMap<String, Sum> {
        let mut all = Self { ended: self.ended.clone(), open: self.open.clone() };
        for (place, open) in self.open.iter().enumerate().rev() {
            let mut within = all.open[place].within;
            // One that others of its name have ended in was most likely left without its end, by a return or a jump.
            let goes_on = open.said == Said::ByName && open.within.entries == 0;
            within.entries += if goes_on { open.again } else { 0 };
            let sum = if goes_on { Sum::of(open.at, now(open.counts), within) } else { within };
            all.add(open.thread, &open.name, place, sum);
        }
        all.ended
    }
}

/// A region begins on this thread.
pub fn begin(runtime: &Runtime, name: &str, said: Said) {
    let name = &*printable(name);
    let (thread, collectives) = this_thread();
    let counts = Counts { collectives, messages: messages::counts_of_this_thread() };
    let mut regions = REGIONS.lock();
    let (name, at) = (name.to_owned(), counts.now(runtime));
    regions.begin(Open { thread, counts, name, said, at, again: 0, within: Sum::default() });
}

/// The region that this thread has begun last under that name ends; whether there is one.
pub fn end(runtime: &Runtime, name: &str) -> bool {
    let name = &*printable(name);
    let (thread, _) = this_thread();
    let mut regions = REGIONS.lock();
    let Some(place) = regions.open.iter().rposition(|open| open.thread == thread && open.name == name) else {
        return false;
    };
    if regions.ends_again(place) {
        return true;
    }
    let now = regions.open[place].counts.now(runtime);
    regions.end(place, now);
    true
}

/// Forgets what was counted; regions that have begun count from now on.
pub fn reset(runtime: &Runtime) {
    let mut regions = REGIONS.lock();
    regions.ended.clear();
    for open in &mut regions.open {
        (open.at, open.within) = (open.counts.now(runtime), Sum::default());
    }
}

/// What was counted, for this rank's record; with the regions that its threads are in.
pub fn records(runtime: &Runtime) -> Vec<RegionRecord> {
    let so_far = REGIONS.lock().so_far(|counts| counts.now(runtime));
    let record = |(name, sum): (String, Sum)| RegionRecord {
        name,
        entries: sum.entries,
        total_ns: runtime.nanoseconds(sum.ticks),
        calls: sum.calls,
        collective_ns: runtime.nanoseconds(sum.collective),
        message_ns: runtime.nanoseconds(sum.message),
    };
    so_far.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Moment {
        Moment { ticks, calls: ticks, collective: ticks, message: ticks }
    }

    fn begin(regions: &mut Regions, thread: u64, name: &str, said: Said, ticks: u64) {
        let counts = Counts { collectives: Box::leak(Box::default()), messages: None };
        let (name, at) = (name.into(), at(ticks));
        regions.begin(Open { thread, counts, name, said, at, again: 0, within: Sum::default() });
    }

    /// Name, entries, and time when the clock says 100.
    fn so_far(regions: &Regions) -> Vec<(String, u64, u64)> {
        regions.so_far(|_| at(100)).into_iter().map(|(name, sum)| (name, sum.entries, sum.ticks)).collect()
    }

    fn none() -> Regions {
        Regions { ended: BTreeMap::new(), open: Vec::new() }
    }

    #[test]
    fn regions_within_themselves_take_no_more_time_than_the_outermost() {
        let mut regions = none();
        for (ticks, said) in [(0, Said::ByName), (10, Said::ByName), (20, Said::ByPcontrol)] {
            begin(&mut regions, 1, "own", said, ticks);
        }
        begin(&mut regions, 2, "own", Said::ByName, 5);
        assert_eq!(so_far(&regions), [("own".to_owned(), 3, 195)], "as long as it is in them");
        for (place, ticks) in [(2, 30), (1, 40), (0, 50)] {
            regions.end(place, at(ticks));
        }
        let Sum { entries, ticks, calls, collective, message } = regions.ended["own"];
        assert_eq!((entries, ticks, calls, collective, message), (3, 50, 50, 50, 50));
        assert_eq!(so_far(&regions), [("own".to_owned(), 4, 145)]);
    }

    #[test]
    fn regions_of_a_function_that_calls_itself_take_the_time_of_the_outermost() {
        for said in [Said::ByName, Said::ByPcontrol] {
            let mut regions = none();
            for ticks in [0, 10, 20] {
                begin(&mut regions, 1, "own", said, ticks);
            }
            for (place, ticks) in [(2, 30), (1, 40), (0, 50)] {
                regions.end(place, at(ticks));
            }
            assert_eq!(so_far(&regions), [("own".to_owned(), 3, 50)]);
        }
    }

    #[test]
    fn what_is_only_begun_takes_no_room_from_regions() {
        let mut regions = none();
        begin(&mut regions, 1, "own", Said::ByName, 0);
        for ticks in 1..=2 * DEEPEST as u64 {
            begin(&mut regions, 1, "no name", Said::ByPcontrol, ticks);
        }
        assert_eq!(regions.open.len(), DEEPEST);
        assert_eq!(so_far(&regions), [("own".to_owned(), 1, 100)]);
    }

    #[test]
    fn a_function_that_calls_itself_deeper_than_regions_are_kept_takes_no_room_either() {
        let mut regions = none();
        begin(&mut regions, 1, "whole", Said::ByName, 0);
        let deep = 2 * DEEPEST as u64;
        (0..deep).for_each(|_| begin(&mut regions, 1, "own", Said::ByName, 10));
        assert_eq!(regions.open.len(), DEEPEST);
        assert_eq!(so_far(&regions), [("own".to_owned(), deep, 90), ("whole".to_owned(), 1, 100)]);
        for left in (1..=deep).rev() {
            let place = regions.open.iter().rposition(|open| open.name == "own").expect("as many end as have begun");
            if !regions.ends_again(place) {
                regions.end(place, at(if left == 1 { 60 } else { 20 }));
            }
        }
        regions.end(0, at(80));
        assert_eq!(so_far(&regions), [("own".to_owned(), deep, 50), ("whole".to_owned(), 1, 80)]);
    }

    #[test]
    fn further_regions_within_one_another_take_the_time_of_the_outermost() {
        let mut regions = none();
        for number in 0..MOST {
            begin(&mut regions, 1, &format!("name {number}"), Said::ByName, 0);
            regions.end(0, at(0));
        }
        begin(&mut regions, 1, "solve", Said::ByName, 0);
        for ticks in [10, 20] {
            begin(&mut regions, 1, "inner", Said::ByName, ticks);
            begin(&mut regions, 1, "name 7", Said::ByName, ticks);
            regions.end(2, at(ticks + 5));
            regions.end(1, at(ticks + 5));
        }
        regions.end(0, at(50));
        let Sum { entries, ticks, .. } = regions.ended[OTHERS];
        assert_eq!((entries, ticks, regions.ended["name 7"].ticks), (3, 50, 10));
    }

    #[test]
    fn a_region_that_is_never_ended_hides_no_later_one_of_its_name() {
        let mut regions = none();
        begin(&mut regions, 1, "own", Said::ByName, 0);
        begin(&mut regions, 1, "to the end", Said::ByName, 0);
        for ticks in [10, 20, 30] {
            begin(&mut regions, 1, "own", Said::ByName, ticks);
            regions.end(2, at(ticks + 5));
        }
        let expected = [("own".to_owned(), 3, 15), ("to the end".to_owned(), 1, 100)];
        assert_eq!(so_far(&regions), expected);
        // The same when its thread ends before the report.
        regions.leave(1);
        assert_eq!(so_far(&regions), expected[..1]);
        assert!(regions.open.is_empty());
    }
}
