//! The state of one cell: who carries out its calls, who is being tried, and when the ranks next compare.
//!
//! A trial alternates between rests, in which one candidate carries out all calls and nothing is measured, and rounds
//! ([`Round`]). After a round the ranks exchange what they measured and [`commit`](Trial::commit) it: a pure function
//! of the state and of what they exchanged, so that they stay alike. A round begins when so many calls have been made
//! that what trying has cost, with what the round is expected to cost, is within its share of their time: a cell with
//! few calls keeps its default. Candidates are tried two or four at a time, those that are far slower than the fastest
//! drop out, the others are measured again and longer (successive halving, Jamieson and Talwalkar, AISTATS 2016), and a
//! faster one replaces the default as soon as that is clear. When nobody is left to try, the winner is looked at now
//! and then: if its time has changed, or another is faster now, all that were not far off are tried again.
//!
//! * [`schedule`]: who is measured next, and when that may begin. [`levels`]: how long, and what has to come of it.

pub(super) mod levels;
mod schedule;

use super::round::Round;
use super::standing::{Foreseen, Report, Standing, State};
use super::times::{MOST, Times};
use levels::{LEVELS, LEVELS_WITH_MEETINGS, Level, PROBE};
use serde::{Deserialize, Serialize};

/// Nothing is doubted more than by this factor for having been wrong once.
const DOUBT: f64 = 2.0;
/// Who is so many times slower than the fastest is not tried again.
const FAR_SLOWER: f64 = 4.0;
/// Place of the default among the candidates.
const DEFAULT: usize = 0;
/// So much slower than when it won, and it is tried again.
const DRIFT: f64 = 1.5;

/// What a round is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Aim {
    /// To find out what a call and an exchange take: the default alone.
    Gauge,
    /// To find out whether those of whom nothing is predicted are far slower: a call of each.
    Probe,
    /// To find the fastest.
    Search,
    /// To see whether the winner's time has changed: nobody else takes part.
    Watch,
    /// To see whether it still is the fastest.
    Look,
}

/// What trying rests on: times until they are measured, and what it may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Of a call of the default.
    pub call_ns: u64,
    /// Of an exchange, what is done before and after it included.
    pub exchange_ns: u64,
    /// Of the ranks' meeting after each epoch of a round; 0 where they do not meet. Between nodes messages wait in the
    /// network when the calls that sent them have long returned, so that some calls of an algorithm take next to
    /// nothing and those of others pay for it: four reductions of 4 KiB among eight nodes came to 4 µs each, a thousand
    /// to 500.
    pub meeting_ns: u64,
    /// The part of the calls' time that trying may take, percent.
    pub budget: u32,
}

/// The state of one cell; alike on all ranks of a communicator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    standings: Vec<Standing>,
    incumbent: u8,
    calls: u64,
    /// The number of calls at which the round begins.
    start: u64,
    round: Round,
    /// Which of the [`LEVELS`] it has.
    level: u8,
    aim: Aim,
    looks: u32,
    /// Time per call of the winner when it won; 0 while there is none.
    won_ns: u64,
    /// Whether that is of a round like those in which it is looked at. If not, the first of these takes its place: of a
    /// few calls the least stands for all, and a meeting weighs more in a short epoch than in a long one.
    won_alike: bool,
    drifting: bool,
    /// How often the search began again.
    begun: u32,
    expected: Expected,
    /// The part of their time by the cost model that the default's calls in a row take, as one over it: 1 or more.
    overlap: f64,
    /// What others are expected to take over what is predicted of them beside the incumbent: 1 or more.
    doubt: f64,
    /// What the last round's meetings made of a call's time.
    meeting_share_ns: u64,
    /// Calls that others than the incumbent of the time carried out.
    tried_calls: u64,
    spent_ns: u64,
    saved_ns: i64,
    saved_fastest_ns: i64,
    /// Calls of the incumbent of which it is still to be told what they have saved: all times are of other runs so
    /// far. `None` once there are times of this one.
    untold: Option<u64>,
}

impl Trial {
    /// Of candidates of which this is foreseen. The first one is the default.
    ///
    /// # Panics
    /// Without candidates, or with more than [`MOST`].
    pub fn new(foreseen: &[Foreseen], expected: Expected) -> Self {
        assert!((1..=MOST).contains(&foreseen.len()), "{} candidates", foreseen.len());
        let mut standings: Vec<_> = foreseen.iter().map(|foreseen| Standing::untried(*foreseen)).collect();
        standings[0].state = State::InPlay(0);
        let mut trial = Self {
            standings,
            incumbent: 0,
            calls: 0,
            start: 0,
            round: Round::default(),
            level: 0,
            aim: Aim::Search,
            looks: 0,
            won_ns: 0,
            won_alike: false,
            drifting: false,
            begun: 0,
            expected,
            overlap: 1.0,
            doubt: 1.0,
            meeting_share_ns: 0,
            tried_calls: 0,
            spent_ns: 0,
            saved_ns: 0,
            saved_fastest_ns: 0,
            untold: None,
        };
        trial.schedule();
        trial
    }

    /// Of candidates of which the one at `winner` has been found the fastest before; each took `ns` per call, 0 where
    /// that is not known. It carries out the calls; those that took part in nothing then are tried beside it now.
    pub fn won(foreseen: &[Foreseen], expected: Expected, winner: usize, ns: &[u64]) -> Self {
        let mut trial = Self::new(foreseen, expected);
        trial.standings[0].state = State::Untried;
        for (standing, ns) in trial.standings.iter_mut().zip(ns).filter(|(_, ns)| **ns > 0) {
            standing.state = State::InPlay(LEVELS.len() as u8);
            (standing.ns, standing.fastest_ns) = (*ns, *ns);
        }
        trial.untold = Some(0);
        trial.incumbent = winner as u8;
        trial.stand_as_they_are(|_| true);
        trial.standings[winner].state = State::InPlay(LEVELS.len() as u8);
        if trial.standings.iter().all(|standing| standing.state != State::Untried) {
            trial.win(ns[winner]);
            // Mostly of a check.
            trial.won_alike = true;
        }
        trial.schedule();
        trial
    }

    /// How each candidate stands.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Calls so far.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Who carries out the calls in which nothing is measured.
    pub const fn incumbent(&self) -> usize {
        self.incumbent as usize
    }

    /// Whether a winner has been found.
    pub const fn is_won(&self) -> bool {
        self.won_ns > 0
    }

    /// Whether there are times of this run.
    pub const fn is_measured(&self) -> bool {
        self.untold.is_none()
    }

    /// How often the search has begun again since a winner was one no more. What was found before tells nothing of now.
    pub const fn begun(&self) -> u32 {
        self.begun
    }

    /// The next calls that are the incumbent's, with nothing measured.
    pub const fn rest(&self) -> u64 {
        self.start.saturating_sub(self.calls)
    }

    /// So many of them have been made.
    pub fn rested(&mut self, calls: u64) {
        self.calls += calls;
        self.standings[self.incumbent as usize].calls += calls;
        match &mut self.untold {
            Some(untold) => *untold += calls,
            None => self.save(calls),
        }
    }

    /// So many calls were the incumbent's and not the default's.
    fn save(&mut self, calls: u64) {
        let (default, incumbent) = (&self.standings[DEFAULT], &self.standings[self.incumbent()]);
        if default.ns > 0 && incumbent.ns > 0 {
            // One that is slower is not measured again: its only time may be that of a hiccup.
            let most = |incumbent: u64| (incumbent as f64 * FAR_SLOWER) as u64;
            let saved = |default: u64, incumbent: u64| {
                (calls as i64).saturating_mul(default.min(most(incumbent)) as i64 - incumbent as i64)
            };
            self.saved_ns += saved(default.ns, incumbent.ns);
            self.saved_fastest_ns += saved(default.fastest_ns, incumbent.fastest_ns);
        }
    }

    /// Whether the round has ended, so that the ranks have to compare before the next call.
    pub fn is_due(&self) -> bool {
        self.calls >= self.start + self.round.all_calls()
    }

    /// Whether the ranks have to meet before the next call, one of the round or the first after it.
    pub fn meets(&self) -> bool {
        let made = self.calls.checked_sub(self.start);
        self.expected.meeting_ns > 0 && made.is_some_and(|made| made.is_multiple_of(u64::from(self.round.calls)))
    }

    /// Who carried out the last call, if it was one of the round.
    pub fn whose_turn_it_was(&self, seed: u64) -> Option<usize> {
        Some(self.round.member(seed, self.calls.checked_sub(self.start + 1)?))
    }

    /// Who carries out the next call, one of the round. `seed` is the same on all ranks.
    pub fn whose_turn(&self, seed: u64) -> usize {
        self.round.member(seed, self.calls - self.start)
    }

    /// The same; counts the call.
    pub fn next(&mut self, seed: u64) -> usize {
        let member = self.whose_turn(seed);
        self.calls += 1;
        self.tried_calls += u64::from(member != self.incumbent());
        self.standings[member].calls += 1;
        member
    }

    /// Who takes part in the round.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.round.members.iter().map(|member| usize::from(*member))
    }

    /// Calls of an epoch of the round.
    pub const fn calls_of_epoch(&self) -> usize {
        self.round.calls as usize
    }

    /// Nanoseconds that a call of the incumbent takes; 0 while that is not known.
    pub fn known_ns(&self) -> u64 {
        self.standings[self.incumbent()].ns
    }

    /// What there is to tell.
    pub fn report(&self) -> Report {
        let Self { calls, tried_calls, spent_ns, saved_ns, saved_fastest_ns, .. } = *self;
        Report { calls, tried_calls, spent_ns, saved_ns, saved_fastest_ns }
    }

    /// Goes on with a winner that others have found, of which all ranks know; `spent_ns` as for
    /// [`commit`](Self::commit).
    pub fn take_over(&mut self, theirs: &Self, spent_ns: u64) {
        self.spent_ns += spent_ns;
        for (own, their) in self.standings.iter_mut().zip(&theirs.standings) {
            (own.state, own.ns, own.fastest_ns) = (their.state, their.ns, their.fastest_ns);
            own.measured = their.measured;
        }
        (self.incumbent, self.begun) = (theirs.incumbent, theirs.begun);
        self.win(theirs.won_ns);
        self.won_alike = theirs.won_alike;
        // What the own incumbent has saved nobody can tell now.
        self.untold = theirs.untold.map(|_| 0);
        self.schedule();
    }

    /// The same for another communicator to go on from, which tells nothing of what this one's calls have saved.
    pub fn for_others(&self) -> Self {
        Self { untold: self.untold.map(|_| 0), ..self.clone() }
    }

    /// Takes in what the ranks have exchanged after a round: the times of each member that some rank measured, what
    /// trying has cost since the last time, and what the exchange itself took, in nanoseconds.
    pub fn commit(&mut self, times: &Times, spent_ns: u64, exchange_ns: u64) {
        self.spent_ns += spent_ns;
        let before = self.standings[self.incumbent()].clone();
        let incumbent = self.incumbent;
        for member in self.round.members.clone().into_iter().map(usize::from) {
            let standing = &mut self.standings[member];
            if times.slowest[member] > 0 {
                // A single call may meet a late rank.
                let is_less =
                    |known: u64, now: u64| if self.aim == Aim::Probe && known > 0 { now.min(known) } else { now };
                standing.ns = is_less(standing.ns, times.slowest[member]);
                standing.fastest_ns = is_less(standing.fastest_ns, times.fastest[member]);
            }
        }
        let incumbent_ns = self.known_ns();
        // What a meeting is expected to take before the first one may be off by much.
        let meeting_ns = if self.meets_at_all() && exchange_ns > 0 { exchange_ns } else { self.expected.meeting_ns };
        self.meeting_share_ns = meeting_ns / u64::from(self.round.calls);
        if self.aim == Aim::Gauge {
            self.gauge(exchange_ns);
        }
        if exchange_ns > 0 {
            self.expected.exchange_ns = exchange_ns;
            // The same messages.
            self.expected.meeting_ns = if self.expected.meeting_ns > 0 { exchange_ns } else { 0 };
        }
        match self.aim {
            _ if incumbent_ns == 0 => {}
            Aim::Gauge => {}
            Aim::Watch => self.watch(&before, incumbent_ns),
            _ => self.keep_up(&before, incumbent_ns),
        }
        let members = self.round.members.clone();
        self.stand_as_they_are(|place| before.ns == 0 || members.contains(&place));
        // In a look that may have met a late rank the time of before still stands.
        if incumbent_ns > 0 && !(self.aim == Aim::Watch && self.drifting) {
            self.tell();
        }
        match self.aim {
            _ if incumbent_ns == 0 => {}
            Aim::Gauge | Aim::Watch => {}
            Aim::Probe => self.search(&PROBE, 0),
            Aim::Search => {
                let number = usize::from(self.level);
                self.search(&self.levels()[number], number as u8 + 1);
            }
            Aim::Look => self.look(incumbent_ns),
        }
        if self.incumbent != incumbent {
            self.stand_as_they_are(|_| true);
        }
        self.schedule();
    }

    /// From here on the times of some change as the incumbent's do from what it is now.
    fn stand_as_they_are(&mut self, some: impl Fn(u8) -> bool) {
        let of = |standing: &Standing| [standing.ns, standing.fastest_ns];
        let incumbent = of(&self.standings[self.incumbent()]);
        for (_, standing) in (0u8..).zip(&mut self.standings).filter(|(place, _)| some(*place)) {
            standing.measured = [of(standing), incumbent];
        }
    }

    /// The round told nothing, since its calls differed too much: it comes again when twice as many have been made.
    /// `spent_ns` as for [`commit`](Self::commit).
    pub fn set_aside(&mut self, spent_ns: u64) {
        self.spent_ns += spent_ns;
        self.schedule();
        self.start = self.start.max(2 * self.calls);
    }

    /// There are times of this run.
    fn tell(&mut self) {
        if let Some(calls) = self.untold.take() {
            self.save(calls);
        }
    }

    /// Takes in how far the cost model is off. Where the default takes less of its time than the network does, its
    /// calls overlap, and what a call alone takes tells little. Where it is not known what others' calls take then, less
    /// is expected of them by as much.
    fn gauge(&mut self, exchange_ns: u64) {
        let of_call = self.call_ns() / self.expected.call_ns.max(1) as f64;
        let of_network = exchange_ns as f64 / self.expected.exchange_ns.max(1) as f64;
        let overlap = (of_network / of_call).max(1.0);
        let is_known = self.standings[DEFAULT].overlapped.is_some();
        // What keeps ranks busy is told less well than what a call takes: half is believed, half doubted. Without doubt
        // a thousand calls with the fastest default lost 5 % on eight emulated nodes rather than 3; with all of it those
        // with a default five times as slow kept it.
        (self.overlap, self.doubt) = if is_known { (overlap, overlap.sqrt()) } else { (1.0, overlap) };
    }

    /// Takes in what has become of what was predicted of the members, when the incumbent has stayed.
    fn doubt(&mut self) {
        let predicted = |member: usize| self.standings[member].predicted(self.overlap);
        let Some(of_incumbent) = predicted(self.incumbent()) else { return };
        let call = |of: &Standing| of.ns.saturating_sub(self.meeting_share_ns).max(of.ns / 8) as f64;
        let incumbent = call(&self.standings[self.incumbent()]);
        let off = self.members().filter(|member| *member != self.incumbent()).filter_map(|member| {
            let of = &self.standings[member];
            (of.ns > 0).then(|| call(of) / incumbent * of_incumbent / predicted(member).unwrap_or(f64::INFINITY))
        });
        // What the first round has found out about the model stands.
        self.doubt = self.doubt.max(off.fold(1.0, f64::max).min(DOUBT));
    }

    /// Judges those that were measured; those that stay in play were measured so many times then.
    fn search(&mut self, level: &Level, times: u8) {
        let measured: Vec<usize> = self.members().filter(|member| self.standings[*member].ns > 0).collect();
        let fastest =
            measured.iter().copied().min_by_key(|member| self.standings[*member].ns).expect("the incumbent was");
        let most = self.standings[fastest].ns as f64 * level.within;
        if self.is_clearly_faster(fastest, level.gain) {
            self.incumbent = fastest as u8;
            self.doubt = 1.0;
        } else if self.meets_at_all() && self.aim != Aim::Probe {
            self.doubt();
        }
        // Of those that are left, every other one goes, the slower ones.
        let mut others: Vec<usize> = measured.into_iter().filter(|member| *member != self.incumbent()).collect();
        others.sort_by_key(|member| self.standings[*member].ns);
        let stay = if times <= 1 { others.len() } else { others.len().div_ceil(2) };
        for (place, member) in others.into_iter().enumerate() {
            let standing = &mut self.standings[member];
            let is_near = place < stay && standing.ns as f64 <= most;
            standing.state = if is_near { State::InPlay(times) } else { State::Dropped };
        }
        let incumbent = &mut self.standings[self.incumbent as usize];
        incumbent.state = State::InPlay(incumbent.level().max(times));
    }

    fn is_clearly_faster(&self, candidate: usize, gain: f64) -> bool {
        (self.standings[candidate].ns as f64) < self.known_ns() as f64 * (1.0 - gain)
    }

    /// The winner alone took `ns` per call; `before` is how it stood when it was measured before.
    fn watch(&mut self, before: &Standing, ns: u64) {
        self.looks += 1;
        self.settle(ns);
        let drifted = ns as f64 > self.won_ns as f64 * DRIFT;
        if drifted && self.drifting {
            self.begin_again();
        } else if drifted {
            // That may have been a late rank.
            let incumbent = &mut self.standings[self.incumbent as usize];
            (incumbent.ns, incumbent.fastest_ns) = (before.ns, before.fastest_ns);
            self.drifting = true;
        } else {
            self.drifting = false;
            self.keep_up(before, ns);
        }
    }

    /// The winner took `ns` per call in a look.
    const fn settle(&mut self, ns: u64) {
        if !self.won_alike {
            (self.won_ns, self.won_alike) = (ns, true);
        }
    }

    /// The incumbent stood as `before` and takes `ns` per call now: those that were not measured beside it are taken to
    /// have changed as much, since what is compared has to be of one phase of the program. A phase in which calls wait
    /// for late ranks would otherwise pass for the time of those that nobody has measured since. Waiting is added to
    /// calls, whoever carries them out: more of it makes no difference greater. What has changed since they were measured
    /// counts, not each change since, which would bring all of them nearer to the incumbent bit by bit.
    fn keep_up(&mut self, before: &Standing, ns: u64) {
        if before.ns == 0 {
            return;
        }
        let now = [ns, self.standings[self.incumbent()].fastest_ns];
        let changed = |of: u64, then: u64, now: u64| match now.checked_sub(then) {
            // It was not measured beside an incumbent.
            _ if then == 0 => of,
            Some(more) => of.saturating_add(more),
            None => ((of as f64 * now as f64 / then as f64).round() as u64).max(1),
        };
        let members = &self.round.members;
        let others = (0u8..).zip(&mut self.standings).filter(|(place, of)| !members.contains(place) && of.ns > 0);
        for (_, of) in others {
            let [times, incumbent] = of.measured;
            of.ns = changed(times[0], incumbent[0], now[0]);
            of.fastest_ns = changed(times[1], incumbent[1], now[1]);
        }
        if self.is_won() && ns as f64 * DRIFT < self.won_ns as f64 {
            self.won_ns = ns;
        }
    }

    /// The winner beside those that came nearest.
    fn look(&mut self, ns: u64) {
        let level = &self.levels()[LEVELS.len() - 1];
        let fastest = self.members().min_by_key(|member| self.standings[*member].ns).expect("the incumbent");
        if self.is_clearly_faster(fastest, level.gain) {
            self.begin_again();
            self.incumbent = fastest as u8;
        } else {
            self.looks += 1;
            self.settle(ns);
            self.drifting = ns as f64 > self.won_ns as f64 * DRIFT;
        }
    }

    /// All that were not far off are tried again.
    fn begin_again(&mut self) {
        let most = self.known_ns().max(self.won_ns) as f64 * FAR_SLOWER;
        for (place, standing) in self.standings.iter_mut().enumerate() {
            if place != usize::from(self.incumbent) && standing.ns as f64 <= most {
                standing.state = State::Untried;
            }
        }
        self.standings[self.incumbent as usize].state = State::InPlay(0);
        (self.won_ns, self.won_alike, self.drifting, self.looks) = (0, false, false, 0);
        self.begun = self.begun.saturating_add(1);
    }

    const fn levels(&self) -> &'static [Level; 3] {
        if self.expected.meeting_ns > 0 { &LEVELS_WITH_MEETINGS } else { &LEVELS }
    }

    /// How often the members of the round were measured before: the least of all but the incumbent.
    fn level(&self) -> usize {
        let others = self.members().filter(|member| *member != self.incumbent());
        others.map(|member| usize::from(self.standings[member].level())).min().unwrap_or(0).min(LEVELS.len() - 1)
    }

    /// Whether the ranks meet in rounds.
    pub const fn meets_at_all(&self) -> bool {
        self.expected.meeting_ns > 0
    }

    /// Nanoseconds that an exchange takes, as far as it is known.
    pub const fn exchange_ns(&self) -> u64 {
        self.expected.exchange_ns
    }

    /// Nanoseconds of a call of the incumbent, as far as it is known.
    fn call_ns(&self) -> f64 {
        let known = self.standings[self.incumbent()].ns;
        let without_meeting = known.saturating_sub(self.meeting_share_ns).max(known / 8);
        (if known > 0 { without_meeting } else { self.expected.call_ns }).max(1) as f64
    }
}
