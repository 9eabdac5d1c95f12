//! For how long this rank has recorded: since the program last had it forgotten (`MPI_Pcontrol(2)`), without the pauses
//! between `MPI_Pcontrol(0)` and `MPI_Pcontrol(1)`. What was recorded is a share of that time.

use super::runtime::Runtime;
use parking_lot::Mutex;

static RECORDED: Mutex<Recorded> = Mutex::new(Recorded { from: None, paused: 0, forgotten: 0, pause: None });

/// In ticks of the clock that times the calls.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    /// When it was last forgotten; nothing if what is recorded is of the run from its start.
    from: Option<u64>,
    /// In pauses since, without one that lasts.
    paused: u64,
    /// In pauses before.
    forgotten: u64,
    /// When the pause began that lasts.
    pause: Option<u64>,
}

impl Recorded {
    fn set(&mut self, on: bool, now: u64) {
        match (on, self.pause) {
            (false, None) => self.pause = Some(now),
            (true, Some(began)) => {
                self.paused += now.saturating_sub(began);
                self.pause = None;
            }
            _ => {}
        }
    }

    fn reset(&mut self, now: u64) {
        let forgotten = self.ever_paused(now);
        *self = Self { from: Some(now), paused: 0, forgotten, pause: self.pause.map(|_| now) };
    }

    /// In pauses until `now`, whatever was forgotten.
    fn ever_paused(&self, now: u64) -> u64 {
        self.forgotten + self.paused + self.pause.map_or(0, |began| now.saturating_sub(began))
    }

    /// Until `now`, of a run that began at `start`; nothing if that is all of it.
    fn ticks(&self, start: u64, now: u64) -> Option<u64> {
        let paused = self.paused + self.pause.map_or(0, |began| now.saturating_sub(began));
        let is_all = self.from.is_none() && paused == 0;
        (!is_all).then(|| now.saturating_sub(self.from.unwrap_or(start)).saturating_sub(paused))
    }
}

/// Recording is switched.
pub fn set(runtime: &Runtime, on: bool) {
    RECORDED.lock().set(on, runtime.clock.raw());
}

/// All that was recorded is forgotten.
pub fn reset(runtime: &Runtime) {
    RECORDED.lock().reset(runtime.clock.raw());
}

/// Ticks in pauses until `now`, also in those before the record was last forgotten.
pub fn ever_paused(now: u64) -> u64 {
    RECORDED.lock().ever_paused(now)
}

/// Ticks until `now`; nothing if they are the whole run.
pub fn ticks(runtime: &Runtime, now: u64) -> Option<u64> {
    RECORDED.lock().ticks(runtime.run_began(), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_and_what_was_forgotten_do_not_count() {
        let mut recorded = Recorded { from: None, paused: 0, forgotten: 0, pause: None };
        assert_eq!(recorded.ticks(100, 150), None);
        recorded.set(true, 120);
        assert_eq!(recorded.ticks(100, 150), None);
        recorded.set(false, 150);
        recorded.set(false, 160);
        assert_eq!(recorded.ticks(100, 180), Some(50));
        recorded.set(true, 190);
        assert_eq!(recorded.ticks(100, 200), Some(60));
        recorded.reset(210);
        assert_eq!(recorded.ticks(100, 240), Some(30));
        assert_eq!(recorded.ever_paused(240), 40);
        recorded.set(false, 240);
        recorded.reset(250);
        assert_eq!(recorded.ticks(100, 300), Some(0));
        assert_eq!(recorded.ever_paused(300), 40 + 60);
        recorded.set(true, 310);
        assert_eq!(recorded.ticks(100, 320), Some(10));
    }
}
