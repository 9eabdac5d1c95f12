//! What a rank may do on a board.

use super::cache::about_to_write;
use super::memory::{BANKS, LENGTHS, LINES, Memory};
use super::sync::Ordering;

/// Bits of a flag that count steps; the others count calls. Those are enough for 20 days of calls of 100 ns each, so
/// that steps cannot have more: 36 bits of calls would be enough for two hours. What needs more steps is several calls.
const STEP_BITS: u32 = 20;
/// The last step of a call that a flag can tell.
pub const LONGEST_STEP: u32 = (1 << STEP_BITS) - 1;
/// The last call that a flag can tell.
const LAST_CALL: u64 = (1 << (u64::BITS - STEP_BITS)) - 1;

/// Bits of what a rank tells of its length that are bytes; those above are the last ones of the number of the call.
const LENGTH_BITS: u32 = 48;

/// A flag would tell of another call than its own, so that ranks would read what is not there yet. Others may wait for
/// this one already, which no error reaches: as after every internal error the job ends.
#[cold]
fn beyond(call: u64, step: u32) -> ! {
    panic!("step {step} of call {call} is more than a flag in shared memory can tell")
}

/// A board as one rank uses it. What waits says whether it is over and never blocks; how to pass the time is the
/// caller's.
#[derive(Debug)]
pub struct Board {
    memory: Memory,
    ranks: usize,
    rank: usize,
    /// Number of the call that the rank is in, counted alike on all ranks.
    call: u64,
    /// A call that all ranks are known to have begun.
    begun: u64,
    /// Arrivals that there are when all ranks have arrived.
    arrivals: u64,
    /// Bytes that each rank contributes to the call, as far as this one knows.
    length: u64,
    /// What it tells of that: the same, or [`FAILED`].
    told: u64,
    /// Whether it has begun the call that it expects.
    entered: bool,
    /// Whether another rank told another length in the call.
    disagrees: bool,
}

/// What a rank tells in place of its length when it has met an error, or has got data from a rank that has.
const FAILED: u64 = (1 << LENGTH_BITS) - 1;

impl Board {
    /// Over this memory.
    #[must_use]
    pub const fn over(memory: Memory, ranks: usize, rank: usize) -> Self {
        Self {
            memory,
            ranks,
            rank,
            call: 0,
            begun: 0,
            arrivals: 0,
            length: 0,
            told: 0,
            entered: false,
            disagrees: false,
        }
    }

    /// Its memory.
    pub const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Number of ranks.
    pub const fn ranks(&self) -> usize {
        self.ranks
    }

    /// Number of the call that the rank is in; 0 before the first.
    pub const fn call(&self) -> u64 {
        self.call
    }

    #[inline(always)]
    fn value(&self, step: u32) -> u64 {
        if step > LONGEST_STEP || self.call > LAST_CALL {
            beyond(self.call, step);
        }
        self.call << STEP_BITS | u64::from(step)
    }

    /// Sets what this rank contributes to the next call: so many bytes, by its arguments as many as every other one.
    #[inline(always)]
    pub const fn expect(&mut self, length: u64) {
        (self.length, self.told, self.entered, self.disagrees) = (length, length, false, false);
    }

    /// Tells that what this rank contributes to the call from now on is worth nothing: before the flags that it raises
    /// then.
    #[cold]
    pub fn fail(&mut self) {
        self.told = FAILED;
        // What stands there before it enters is of the call before.
        if self.entered {
            self.tell_length();
        }
    }

    /// Whether in the call this rank or one that it got data from has met an error.
    pub const fn has_failed(&self) -> bool {
        self.told == FAILED
    }

    /// Whether a rank that waits for nobody may begin the next call: all have left the one whose length it will
    /// overwrite.
    pub fn may_enter(&mut self) -> bool {
        self.have_begun(LENGTHS as u32 - 2)
    }

    /// Whether in the call a rank has told another length than this one's. What was read from it is worth nothing then.
    #[inline(always)]
    pub const fn disagrees(&self) -> bool {
        self.disagrees
    }

    /// A length as it is told in this call.
    #[inline(always)]
    const fn in_call(&self, length: u64) -> u64 {
        self.call << LENGTH_BITS | length & FAILED
    }

    /// Looks at the length of `rank` beside its flag; whether it is another one. Of a rank that is so many calls ahead
    /// that it has told another call's there, nothing is known any more.
    #[inline(always)]
    pub fn differs(&mut self, rank: usize) -> bool {
        let told = self.memory.length(rank, self.call as usize % LENGTHS).load(Ordering::Relaxed);
        let own = self.in_call(self.length);
        let differs = told != own && (told ^ own) >> LENGTH_BITS == 0;
        if differs {
            self.found(told);
        }
        differs
    }

    /// Another rank has told another length, or that it has failed: then so has this one, for whoever gets data from
    /// it.
    #[cold]
    fn found(&mut self, told: u64) {
        self.disagrees = true;
        if told & FAILED == FAILED {
            self.fail();
        }
    }

    #[inline(always)]
    fn tell_length(&self) {
        self.memory.length(self.rank, self.call as usize % LENGTHS).store(self.in_call(self.told), Ordering::Relaxed);
    }

    /// Begins the next call, whose number all ranks count alike, with the own flag at `step`. What the rank read in
    /// earlier calls, it has read.
    #[inline(always)]
    pub fn enter(&mut self, step: u32) {
        self.call += 1;
        self.entered = true;
        self.tell_length();
        self.signal(step);
    }

    /// Raises the own flag to `step`; what was written before is there for whoever sees it.
    #[inline(always)]
    pub fn signal(&self, step: u32) {
        self.memory.own(self.rank).store(self.value(step), Ordering::Release);
    }

    /// Whether the flag of `rank` has come to `step` of this call.
    #[inline(always)]
    pub fn has_reached(&mut self, rank: usize, step: u32) -> bool {
        let has = self.memory.own(rank).load(Ordering::Acquire) >= self.value(step);
        if has {
            self.differs(rank);
            self.get_own_flag();
        }
        has
    }

    /// Asks for the line of the own flag, which others have read, before it is raised again: of a barrier after the
    /// other, with 75 ns between them, each took 200 ns instead of 225 (two cores of an Intel Xeon, Granite Rapids).
    #[inline(always)]
    fn get_own_flag(&self) {
        about_to_write(std::ptr::from_ref(self.memory.own(self.rank)).cast_mut().cast(), 1);
    }

    /// Whether all ranks have begun the call that was `before` calls ago, and so have left all earlier ones. What was
    /// seen once is remembered, so that flags are read in some calls only.
    #[inline(always)]
    pub fn have_begun(&mut self, before: u32) -> bool {
        let wanted = self.call.saturating_sub(u64::from(before));
        self.begun >= wanted || self.look_who_has_begun(wanted)
    }

    fn look_who_has_begun(&mut self, wanted: u64) -> bool {
        let mut least = self.call;
        for rank in (0..self.ranks).filter(|rank| *rank != self.rank) {
            let call = self.memory.own(rank).load(Ordering::Acquire) >> STEP_BITS;
            if call < wanted {
                return false;
            }
            least = least.min(call);
        }
        self.begun = least;
        true
    }

    /// Which line of each rank this call uses.
    #[inline(always)]
    pub const fn line(&self) -> usize {
        self.call as usize % LINES
    }

    /// Raises the flag of the own line of this call: what was written to it is there.
    #[inline(always)]
    pub fn post(&self) {
        self.memory.line_length(self.rank, self.line()).store(self.in_call(self.told), Ordering::Relaxed);
        self.memory.line(self.rank, self.line()).store(self.value(1), Ordering::Release);
    }

    /// Whether the line of `rank` for this call is there.
    #[inline(always)]
    pub fn has_posted(&mut self, rank: usize) -> bool {
        let has = self.memory.line(rank, self.line()).load(Ordering::Acquire) >= self.value(1);
        if has {
            // Nobody writes to the line again before all have left the call.
            let told = self.memory.line_length(rank, self.line()).load(Ordering::Relaxed);
            if told != self.in_call(self.length) {
                self.found(told);
            }
        }
        has
    }

    /// Releases `rank`; only rank 0 does that.
    #[inline(always)]
    pub fn release(&self, rank: usize) {
        self.memory.release(rank).store(self.value(1), Ordering::Release);
    }

    /// Whether the rank is released.
    #[inline(always)]
    pub fn is_released(&self) -> bool {
        self.memory.release(self.rank).load(Ordering::Acquire) >= self.value(1)
    }

    /// Counts the rank as arrived, once in a call, in which all ranks do; the last one to arrive tells all.
    #[inline(always)]
    pub fn arrive(&mut self) {
        self.arrivals += self.ranks as u64;
        if self.memory.arrivals().fetch_add(1, Ordering::AcqRel) + 1 == self.arrivals {
            self.memory.arrived().store(self.value(1), Ordering::Release);
        }
    }

    /// Whether all ranks have arrived in this call.
    #[inline(always)]
    pub fn have_arrived(&self) -> bool {
        self.memory.arrived().load(Ordering::Acquire) >= self.value(1)
    }

    /// Which bank this call uses, or the other one.
    #[inline(always)]
    pub const fn bank(&self, other: bool) -> usize {
        (self.call as usize + other as usize) % BANKS
    }
}
