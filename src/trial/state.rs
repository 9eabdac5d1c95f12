//! The state of one cell: who carries out its calls, who is being tried, and when the ranks next compare.
//!
//! A trial alternates between rests, in which one candidate carries out all calls and nothing is measured, and rounds
//! ([`Round`]). After a round the ranks exchange what they measured and [`commit`](Trial::commit) it: a pure function of the
//! state and of what they exchanged, so that they stay alike. A round begins when so many calls have been made that what
//! trying has cost, with what the round is expected to cost, is within its share of their time: a cell with few calls keeps
//! its default. Candidates are tried two or four at a time, those that are far slower than the fastest drop out, the others are
//! measured again and longer (successive halving, Jamieson and Talwalkar, AISTATS 2016), and a faster one replaces the
//! default as soon as that is clear. When nobody is left to try, the winner is looked at now and then: if its time has
//! changed, or another is faster now, all that were not far off are tried again.

use super::round::Round;
use super::standing::{Foreseen, Report, Standing, State};
use serde::{Deserialize, Serialize};

/// Most candidates of a cell.
pub const MOST: usize = 8;

/// A round may begin when its cost is within the share of so many times the calls so far. Programs that have made many calls of a
/// kind make as many more, as a rule, and a round mostly costs less than is feared: with 4, trying takes 1 % of the time of
/// simulated cells at 1,000 calls and a default that is 1.35 times slower than the fastest costs 4 %; with 2, 1 % and 5 %.
const EXPECTED: f64 = 4.0;
/// The same of calls so short that comparing and making ready are most of what trying costs: that is known beforehand.
const EXPECTED_OF_SHORT: f64 = 2.0;
/// Where an exchange takes so much of a call's time, more candidates are measured before one.
const DEAR: f64 = 0.2;
/// Where it takes more than that, one that promises much is measured alone, so that its calls begin early.
const TOO_DEAR: f64 = 1.0;
/// Most candidates that are measured beside the incumbent.
const AT_ONCE: usize = 4;
/// The same where the ranks meet: that costs what it costs, and between nodes it is much.
const EXPECTED_WITH_MEETINGS: f64 = 2.0;
/// How much of the incumbent's time each call of one that promises much may take more, if the promise does not hold.
const RISK: f64 = 1.0;
/// Nothing is doubted more than by this factor for having been wrong once.
const DOUBT: f64 = 2.0;
/// Calls before the first round: the first few are slower than those to come.
const WARM_UP: u64 = 4;
/// Excess of a candidate's call that nobody has tried, over what is predicted.
const UNSURE: f64 = 0.15;
/// Where an exchange takes so many calls, candidates are measured once and for long: calls of the longest round cost less than
/// two more exchanges.
const DEARER: f64 = 6.0;
/// There those are tried first that are predicted to take at most so many times the incumbent's time, or that of the best of them.
const LIKELY: f64 = 1.25;
/// From this part of the default's time that the cost model promises to save on, a round may begin that saves what it costs within as
/// many calls as there have been.
const PROMISING: f64 = 0.3;

/// Epochs, calls of an epoch (an even number in what decides: programs call in pairs, one after much work and one right after it), how much slower than the fastest may stay in play, and how much faster than the incumbent has to
/// be to take its place; by how often a candidate was measured before.
pub(super) const LEVELS: [Level; 3] = [
    Level { epochs: 1, calls: 4, within: 2.5, gain: 0.20 },
    Level { epochs: 3, calls: 2, within: 1.5, gain: 0.10 },
    Level { epochs: 6, calls: 4, within: 1.1, gain: 0.03 },
];

/// The same where the ranks meet after each epoch, so that a few tell as much.
const LEVELS_WITH_MEETINGS: [Level; 3] = [
    Level { epochs: 2, calls: 2, within: 2.0, gain: 0.20 },
    Level { epochs: 3, calls: 2, within: 1.25, gain: 0.10 },
    Level { epochs: 4, calls: 4, within: 1.1, gain: 0.03 },
];

/// The first round of those of whom nothing is predicted, where an exchange costs less than several calls of somebody who is slow:
/// between nodes the MPI library takes as long as the fastest now, and seven times as long then. A single call may have met a late
/// rank, so nobody is dropped for it.
const PROBE: Level = Level { epochs: 1, calls: 1, within: f64::INFINITY, gain: 0.20 };
/// An exchange takes less than this part of a call's time there.
const CHEAP: f64 = 0.25;
/// Who has taken so much longer in its only call than the others waits until trying it again costs little.
const FAR: f64 = 2.0;

pub(super) struct Level {
    pub(super) epochs: u32,
    pub(super) calls: u32,
    within: f64,
    gain: f64,
}

/// Calls until the winner is looked at for the first time; later times follow at 1.25, 1.5, 1.75 and 2 times as many, and so on.
const FIRST_LOOK: u64 = 1024;
/// How much slower than the winner others may be that are looked at beside it.
const NEAR: f64 = 1.25;
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
    /// Of the ranks' meeting after each epoch of a round; 0 where they do not meet. Between nodes messages wait in the network when
    /// the calls that sent them have long returned, so that some calls of an algorithm take next to nothing and those of
    /// others pay for it: four reductions of 4 KiB among eight nodes came to 4 µs each, a thousand to 500.
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
    drifting: bool,
    /// How often the search began again.
    begun: u32,
    expected: Expected,
    /// What others are expected to take over what is predicted of them beside the incumbent: 1 or more.
    doubt: f64,
    /// What the last round's meetings made of a call's time.
    meeting_share_ns: u64,
    /// Calls that others than the incumbent of the time carried out.
    tried_calls: u64,
    spent_ns: u64,
    saved_ns: i64,
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
            drifting: false,
            begun: 0,
            expected,
            doubt: 1.0,
            meeting_share_ns: 0,
            tried_calls: 0,
            spent_ns: 0,
            saved_ns: 0,
        };
        trial.schedule();
        trial
    }

    /// Of candidates of which the one at `winner` has been found the fastest before; each took `ns` per call, 0 where that is
    /// not known.
    pub fn won(foreseen: &[Foreseen], expected: Expected, winner: usize, ns: &[u64]) -> Self {
        let mut trial = Self::new(foreseen, expected);
        for (standing, ns) in trial.standings.iter_mut().zip(ns).filter(|(_, ns)| **ns > 0) {
            (standing.state, standing.ns) = (State::InPlay(LEVELS.len() as u8), *ns);
        }
        trial.incumbent = winner as u8;
        trial.standings[winner].state = State::InPlay(LEVELS.len() as u8);
        trial.win(ns[winner]);
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
        let default = self.standings[0].ns;
        let incumbent = &mut self.standings[self.incumbent as usize];
        incumbent.calls += calls;
        if default > 0 && incumbent.ns > 0 {
            self.saved_ns += calls as i64 * (default as i64 - incumbent.ns as i64);
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
        Report { calls: self.calls, tried_calls: self.tried_calls, spent_ns: self.spent_ns, saved_ns: self.saved_ns }
    }

    /// Goes on with a winner that others have found, of which all ranks know; `spent_ns` as for [`commit`](Self::commit).
    pub fn take_over(&mut self, theirs: &Self, spent_ns: u64) {
        self.spent_ns += spent_ns;
        for (own, their) in self.standings.iter_mut().zip(&theirs.standings) {
            (own.state, own.ns) = (their.state, their.ns);
        }
        (self.incumbent, self.begun) = (theirs.incumbent, theirs.begun);
        self.win(theirs.won_ns);
        self.schedule();
    }

    /// Takes in what the ranks have exchanged after a round: the slowest rank's time of each member that some rank measured,
    /// what trying has cost since the last time, and what the exchange itself took, all in nanoseconds.
    pub fn commit(&mut self, ns: &[u64; MOST], spent_ns: u64, exchange_ns: u64) {
        self.spent_ns += spent_ns;
        let before_ns = self.known_ns();
        for member in self.round.members.clone() {
            let standing = &mut self.standings[usize::from(member)];
            if ns[usize::from(member)] > 0 {
                // A single call may meet a late rank.
                let known = if self.aim == Aim::Probe && standing.ns > 0 { standing.ns } else { u64::MAX };
                standing.ns = ns[usize::from(member)].min(known);
            }
        }
        let incumbent_ns = self.known_ns();
        self.meeting_share_ns = self.expected.meeting_ns / u64::from(self.round.calls);
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
            Aim::Watch => self.watch(before_ns, incumbent_ns),
            _ => self.keep_up(before_ns, incumbent_ns),
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
        self.schedule();
    }

    /// The round told nothing, since its calls differed too much: it comes again when twice as many have been made. `spent_ns` as for
    /// [`commit`](Self::commit).
    pub fn set_aside(&mut self, spent_ns: u64) {
        self.spent_ns += spent_ns;
        self.schedule();
        self.start = self.start.max(2 * self.calls);
    }

    /// Takes in how far the cost model is off. Where the default takes less of its time than the network does, its calls overlap,
    /// which the model does not know; what it promises of others is then less by as much.
    fn gauge(&mut self, exchange_ns: u64) {
        let of_call = self.call_ns() / self.expected.call_ns.max(1) as f64;
        let of_network = exchange_ns as f64 / self.expected.exchange_ns.max(1) as f64;
        self.doubt = (of_network / of_call).max(1.0);
    }

    /// Takes in what has become of what was predicted of the members, when the incumbent has stayed.
    fn doubt(&mut self) {
        let Some(of_incumbent) = self.standings[self.incumbent()].predicted else { return };
        let call = |of: &Standing| of.ns.saturating_sub(self.meeting_share_ns).max(of.ns / 8) as f64;
        let incumbent = call(&self.standings[self.incumbent()]);
        let off = self.members().filter(|member| *member != self.incumbent()).filter_map(|member| {
            let of = &self.standings[member];
            (of.ns > 0).then(|| call(of) / incumbent * of_incumbent / of.predicted.unwrap_or(f64::INFINITY))
        });
        self.doubt = off.fold(self.doubt, f64::max).min(DOUBT);
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

    /// The winner alone took `ns` per call, and `before_ns` when it was measured before.
    fn watch(&mut self, before_ns: u64, ns: u64) {
        self.looks += 1;
        let drifted = ns as f64 > self.won_ns as f64 * DRIFT;
        if drifted && self.drifting {
            self.begin_again();
        } else if drifted {
            // That may have been a late rank.
            self.standings[self.incumbent as usize].ns = before_ns;
            self.drifting = true;
        } else {
            self.drifting = false;
            self.keep_up(before_ns, ns);
        }
    }

    /// The incumbent took `before_ns` per call and takes `ns` now: those that were not measured beside it are taken to have changed as
    /// much, since what is compared has to be of one phase of the program. A phase in which calls wait for late ranks would otherwise
    /// pass for the time of those that nobody has measured since.
    fn keep_up(&mut self, before_ns: u64, ns: u64) {
        if before_ns == 0 {
            return;
        }
        let factor = ns as f64 / before_ns as f64;
        let members = &self.round.members;
        let others = (0u8..).zip(&mut self.standings).filter(|(place, of)| !members.contains(place) && of.ns > 0);
        others.for_each(|(_, of)| of.ns = ((of.ns as f64 * factor).round() as u64).max(1));
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
            self.drifting = ns as f64 > self.won_ns as f64 * DRIFT;
        }
    }

    /// All that were not far off are tried again.
    fn begin_again(&mut self) {
        let most = self.known_ns().max(self.won_ns) as f64 * 4.0;
        for (place, standing) in self.standings.iter_mut().enumerate() {
            if place != usize::from(self.incumbent) && standing.ns as f64 <= most {
                standing.state = State::Untried;
            }
        }
        self.standings[self.incumbent as usize].state = State::InPlay(0);
        (self.won_ns, self.drifting, self.looks) = (0, false, 0);
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

    /// Decides on the next round and when it begins.
    fn schedule(&mut self) {
        let number = self.round.number + 1;
        let (aim, others) = self.next_members();
        self.aim = aim;
        let mut members = vec![self.incumbent];
        members.extend(others);
        self.round = Round { number, members, epochs: 4, calls: 2 };
        match aim {
            Aim::Search => {
                // What promises much shows in a few calls whether it holds.
                let long = self.exchange() > DEARER && self.promising().is_none();
                let level = if long { LEVELS.len() - 1 } else { self.level() };
                let Level { epochs, calls, .. } = self.levels()[level];
                (self.level, self.round.epochs, self.round.calls) = (level as u8, epochs, calls);
            }
            Aim::Look => (self.round.epochs, self.round.calls) = (4, 4),
            Aim::Gauge => (self.round.epochs, self.round.calls) = (2, 4),
            Aim::Probe => (self.round.epochs, self.round.calls) = (PROBE.epochs, PROBE.calls),
            Aim::Watch => {}
        }
        let earliest = match aim {
            Aim::Gauge | Aim::Probe | Aim::Search => WARM_UP,
            Aim::Look | Aim::Watch => self.next_look(),
        };
        self.start = self.calls.max(earliest).max(self.affordable());
    }

    /// The number of calls from which on the next round may begin: what trying has cost and will have cost then is within its
    /// budget, or the round saves what it costs.
    fn affordable(&self) -> u64 {
        let round = self.cost_of_round();
        let cost = (self.spent_ns as f64 / self.call_ns() + round).max(0.0);
        let expected = match self.exchange() > DEARER {
            _ if self.meets_at_all() => EXPECTED_WITH_MEETINGS,
            true => EXPECTED_OF_SHORT,
            false => EXPECTED,
        };
        let within = cost * 100.0 / f64::from(self.expected.budget) / expected;
        let promising = self.promising().filter(|_| self.aim == Aim::Search);
        let saves_it = promising.map_or(f64::INFINITY, |(_, promised)| {
            // Between nodes promises fail more often, and each failure counts.
            let at_risk = if self.meets_at_all() { cost.max(0.0) + self.at_risk() } else { round };
            at_risk / promised
        });
        within.min(saves_it).ceil() as u64
    }

    /// What the next round costs more than is expected, if no promise holds: in calls.
    fn at_risk(&self) -> f64 {
        let others = self.members().filter(|member| *member != self.incumbent());
        let more = |member| (RISK - self.excess(member)).max(0.0);
        others.map(|member| self.round.calls_of_each() as f64 * more(member)).sum()
    }

    /// Whether the ranks meet in rounds.
    const fn meets_at_all(&self) -> bool {
        self.expected.meeting_ns > 0
    }

    /// What the next round is expected to cost, in calls.
    fn cost_of_round(&self) -> f64 {
        let calls = self.round.calls_of_each() as f64;
        let of_member = |member: usize| {
            let of = &self.standings[member];
            let is_new = member != self.incumbent() && of.calls == 0;
            calls * self.excess(member) + if is_new { of.ready_ns as f64 / self.call_ns() } else { 0.0 }
        };
        // Where it is to be known what a meeting takes, there is one more.
        let meetings =
            1 + self.round.members.len() as u64 * u64::from(self.round.epochs) + u64::from(self.aim == Aim::Gauge);
        let meeting = self.expected.meeting_ns * meetings;
        self.exchange() + meeting as f64 / self.call_ns() + self.members().map(of_member).sum::<f64>()
    }

    /// Time of an exchange over that of a call.
    fn exchange(&self) -> f64 {
        self.expected.exchange_ns as f64 / self.call_ns()
    }

    /// Nanoseconds of a call of the incumbent, as far as it is known.
    fn call_ns(&self) -> f64 {
        let known = self.standings[self.incumbent()].ns;
        let without_meeting = known.saturating_sub(self.meeting_share_ns).max(known / 8);
        (if known > 0 { without_meeting } else { self.expected.call_ns }).max(1) as f64
    }

    /// The candidate nobody has tried that promises most, if that is enough, and the part of the incumbent's time that it saves.
    fn promising(&self) -> Option<(u8, f64)> {
        let untried = self.others(|of| of.state == State::Untried).into_iter();
        let untried = untried.filter_map(|place| Some((place, self.promises(place)?)));
        untried.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, saving)| *saving >= PROMISING)
    }

    /// The part of the incumbent's time that a candidate is predicted to save, if anything is predicted.
    fn promises(&self, place: u8) -> Option<f64> {
        let incumbent = self.standings[self.incumbent()].predicted?;
        Some(1.0 - self.doubt * self.standings[usize::from(place)].predicted? / incumbent)
    }

    /// What a call takes more than one of the incumbent, over that; as far as it is known.
    fn excess(&self, candidate: usize) -> f64 {
        let (of, incumbent) = (&self.standings[candidate], &self.standings[self.incumbent()]);
        if candidate == self.incumbent() {
            return 0.0;
        }
        match (of.ns, of.predicted, incumbent.predicted) {
            (ns, ..) if ns > 0 && incumbent.ns > 0 => (ns as f64 / incumbent.ns as f64 - 1.0).max(0.0),
            (_, Some(predicted), Some(known)) => self.doubt * predicted / known - 1.0 + UNSURE,
            _ => UNSURE,
        }
    }

    /// All but the incumbent of which `state` holds.
    fn others(&self, state: impl Fn(&Standing) -> bool) -> Vec<u8> {
        let others = (0..).zip(&self.standings).filter(|(place, of)| *place != self.incumbent && state(of));
        others.map(|(place, _)| place).collect()
    }

    /// Who is measured next beside the incumbent, and what for.
    fn next_members(&mut self) -> (Aim, Vec<u8>) {
        if self.meets_at_all() && self.known_ns() == 0 {
            return (Aim::Gauge, Vec::new());
        }
        if !self.is_won() {
            let mut untried = self.others(|of| of.state == State::Untried);
            let probes = self.meets_at_all() && self.exchange() < CHEAP;
            if let Some((promising, _)) = self.promising() {
                // It first, then who is ready.
                untried.sort_by_key(|place| (*place != promising, self.standings[usize::from(*place)].ready_ns));
                if self.meets_at_all() {
                    // Where promises often fail only those are at stake that promise as much, and those of whom nothing is known
                    // as far as they have no round of their own.
                    untried.retain(|place| self.promises(*place).map_or(!probes, |saving| saving >= PROMISING));
                }
                untried.truncate(if self.exchange() > TOO_DEAR { 1 } else { AT_ONCE });
                return (Aim::Search, untried);
            }
            if !untried.is_empty() {
                let is_unpredicted = |place: &u8| self.standings[usize::from(*place)].predicted.is_none();
                if probes && untried.iter().any(is_unpredicted) {
                    untried.retain(is_unpredicted);
                    return (Aim::Probe, untried);
                }
                if self.exchange() > DEARER {
                    // Those of which little is promised wait until they cost little beside the calls there have been.
                    let predicted = |place: u8| self.standings[usize::from(place)].predicted.unwrap_or(0.0);
                    let least = untried.iter().map(|place| predicted(*place)).fold(f64::INFINITY, f64::min);
                    let most = LIKELY * predicted(self.incumbent).max(least);
                    untried.retain(|place| predicted(*place) <= most);
                }
                untried.truncate(if self.exchange() > DEAR { AT_ONCE } else { 2 });
                return (Aim::Search, untried);
            }
            let is_waiting = |of: &Standing| of.is_in_play() && usize::from(of.level()) < LEVELS.len();
            let least =
                self.standings.iter().enumerate().filter(|(place, of)| *place != self.incumbent() && is_waiting(of));
            if let Some(least) = least.map(|(_, of)| of.level()).min() {
                let mut next = self.others(|of| is_waiting(of) && of.level() == least);
                if least == 0 {
                    let is_near =
                        |place: &u8| self.standings[usize::from(*place)].ns as f64 <= FAR * self.known_ns() as f64;
                    if next.iter().any(is_near) {
                        next.retain(is_near);
                    }
                }
                return (Aim::Search, next);
            }
            self.win(self.known_ns());
        }
        if !self.looks.is_multiple_of(4) || self.drifting {
            return (Aim::Watch, Vec::new());
        }
        let most = self.known_ns() as f64 * NEAR;
        let mut near = self.others(|of| of.ns > 0 && of.ns as f64 <= most);
        near.sort_by_key(|place| self.standings[usize::from(*place)].ns);
        near.truncate(2);
        (if near.is_empty() { Aim::Watch } else { Aim::Look }, near)
    }

    /// There is a winner, which is looked at from now on.
    fn win(&mut self, ns: u64) {
        (self.won_ns, self.drifting) = (ns.max(1), false);
        while self.next_look() < self.calls + self.calls / 8 {
            self.looks += 1;
        }
    }

    /// The number of calls at which the winner is looked at next.
    const fn next_look(&self) -> u64 {
        if self.drifting {
            return self.calls + 64;
        }
        let power = if self.looks / 4 < 40 { self.looks / 4 } else { 40 };
        (FIRST_LOOK << power) / 4 * (4 + (self.looks % 4) as u64)
    }
}
