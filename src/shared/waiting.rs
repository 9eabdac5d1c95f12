//! What a rank does while it waits for another one through shared memory.
//!
//! It looks again and again: what it waits for is mostly there within a microsecond. Now and then it has MPI make
//! progress, since the other rank may be in a message of the program's to this one, which MPI carries only while this
//! rank is in MPI. After a while it gives its core away between looks, and where ranks outnumber cores soon; what takes
//! long there is slept for, a sixteenth of the time waited so far at most. (A futex would have the rank that comes late
//! look, with a fence after each message, whether somebody sleeps.)

use std::time::{Duration, Instant};

/// Looks before the core is given away, where each rank has one and where not: with 32 of them there, four ranks on two
/// cores of an Intel Xeon took 10 to 20 % longer over short calls. (Looking without `pause` between gained nothing
/// where each has one.)
const SPINS: [u64; 2] = [4096, 2];
/// Looks between two times that MPI makes progress: one takes up to half a microsecond, a look a few nanoseconds.
const PROGRESS: u64 = 256;
/// The same where the core is given away between looks.
const YIELDS: u64 = 8;
/// Waiting up to which nobody sleeps.
const AWAKE: Duration = Duration::from_millis(1);
/// The longest sleep.
const SLEEP: Duration = Duration::from_millis(1);

/// A rank that waits.
#[derive(Debug)]
pub struct Idle<P> {
    crowded: bool,
    looks: u64,
    since: Option<Instant>,
    progress: P,
}

impl<P: FnMut()> Idle<P> {
    /// About to wait. `crowded`: whether ranks outnumber cores; `progress` has MPI make progress.
    #[inline(always)]
    pub const fn new(crowded: bool, progress: P) -> Self {
        Self { crowded, looks: 0, since: None, progress }
    }

    /// Between two looks.
    #[inline(always)]
    pub fn pause(&mut self) {
        self.looks += 1;
        if self.looks >= SPINS[usize::from(self.crowded)] {
            self.give_way();
        } else {
            if self.looks.is_multiple_of(PROGRESS) {
                (self.progress)();
            }
            std::hint::spin_loop();
        }
    }

    /// What was waited for is there; the next wait begins anew.
    #[inline(always)]
    pub const fn is_over(&mut self) {
        (self.looks, self.since) = (0, None);
    }

    #[cold]
    fn give_way(&mut self) {
        if self.looks.is_multiple_of(YIELDS) {
            (self.progress)();
        }
        if self.crowded && self.looks.is_multiple_of(2 * YIELDS) {
            let waited = self.since.get_or_insert_with(Instant::now).elapsed();
            if waited >= AWAKE {
                std::thread::sleep((waited / 16).min(SLEEP));
                return;
            }
        }
        std::thread::yield_now();
    }
}

/// Waits until `condition` holds.
#[inline(always)]
pub fn wait_until<P: FnMut()>(mut condition: impl FnMut() -> bool, idle: &mut Idle<P>) {
    while !condition() {
        idle.pause();
    }
    idle.is_over();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn mpi_makes_progress_now_and_then_and_nothing_is_slept_for_what_is_there() {
        for crowded in [false, true] {
            let (progress, looks) = (Cell::new(0), Cell::new(0));
            let mut idle = Idle::new(crowded, || progress.set(progress.get() + 1));
            let condition = |most: u64| {
                let looks = &looks;
                move || {
                    looks.set(looks.get() + 1);
                    looks.get() > most
                }
            };
            wait_until(condition(0), &mut idle);
            assert_eq!((looks.replace(0), progress.get()), (1, 0));
            wait_until(condition(10_000), &mut idle);
            let least = if crowded { 10_000 / YIELDS - 100 } else { 4096 / PROGRESS };
            assert!(progress.get() >= least, "{}", progress.get());
        }
    }

    /// What a wait among too many ranks takes whose end comes after `until`.
    fn long_wait(until: Duration) -> Duration {
        let flag = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let start = Instant::now();
            let flag = &flag;
            scope.spawn(move || {
                std::thread::sleep(until.saturating_sub(start.elapsed()));
                flag.store(true, Ordering::Release);
            });
            let mut idle = Idle::new(true, || ());
            wait_until(|| flag.load(Ordering::Acquire), &mut idle);
            assert!(idle.since.is_none());
            start.elapsed()
        })
    }

    /// The last sleep is a sixteenth of the time waited at most. The rest is for a busy machine, on which the best of
    /// several waits is taken.
    #[test]
    fn a_long_wait_where_ranks_outnumber_cores_ends_soon_after_it_may() {
        let until = Duration::from_millis(50);
        let most = until + until / 16 + Duration::from_millis(20);
        let mut waits = Vec::new();
        while waits.len() < 5 && waits.iter().all(|wait| *wait > most) {
            waits.push(long_wait(until));
        }
        assert!(waits.iter().all(|wait| *wait >= until), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait <= most), "{waits:?}");
    }
}
