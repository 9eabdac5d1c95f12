//! The next round of a cell: who takes part, what it is expected to cost, and from which call on that may be spent.

use super::levels::{LEVELS, Level, PROBE};
use super::{Aim, DEFAULT, FAR_SLOWER, Trial};
use crate::trial::round::Round;
use crate::trial::standing::{Standing, State};

/// A round may begin when its cost is within the share of so many times the calls so far. Programs that have made many
/// calls of a kind make as many more, as a rule, and a round mostly costs less than is feared: with 4, trying takes 1 %
/// of the time of simulated cells at 1,000 calls and a default that is 1.35 times slower than the fastest costs 4 %;
/// with 2, 1 % and 5 %.
const EXPECTED: f64 = 4.0;
/// The same of calls so short that comparing and making ready are most of what trying costs: that is known beforehand.
const EXPECTED_OF_SHORT: f64 = 2.0;
/// The same where the ranks meet: that costs what it costs, and between nodes it is much.
const EXPECTED_WITH_MEETINGS: f64 = 2.0;

/// Where an exchange takes more than this part of a call's time, more candidates are measured before one.
const EXCHANGE_SMALL: f64 = 0.2;
/// Where it takes less than this one and the ranks meet, those of whom nothing is predicted have a round of their own
/// ([`PROBE`]).
const EXCHANGE_MODERATE: f64 = 0.25;
/// Where it takes longer than a call, one that promises much is measured alone, so that its calls begin early.
const EXCHANGE_LARGE: f64 = 1.0;
/// Where it takes longer than so many calls, candidates are measured once and for long: calls of the longest round cost
/// less than two more exchanges.
const EXCHANGE_HUGE: f64 = 6.0;

/// Most candidates that are measured beside the incumbent.
const AT_ONCE: usize = 4;
/// How much of the incumbent's time each call of one that promises much may take more, if the promise does not hold.
const RISK: f64 = 1.0;
/// Calls before the first round: the first few are slower than those to come.
const WARM_UP: u64 = 4;
/// Excess of a candidate's call that nobody has tried, over what is predicted.
const UNSURE: f64 = 0.15;
/// Beyond [`EXCHANGE_HUGE`] those are tried first that are predicted to take at most so many times the incumbent's
/// time, or that of the best of them.
const LIKELY: f64 = 1.25;
/// From this part of the default's time that the cost model promises to save on, a round may begin that saves what it
/// costs within as many calls as there have been.
const PROMISING: f64 = 0.3;
/// Who has taken so much longer in its only call than the others waits until trying it again costs little.
const FAR: f64 = 2.0;

/// Calls until the winner is looked at for the first time; later times follow at 1.25, 1.5, 1.75 and 2 times as many,
/// and so on.
const FIRST_LOOK: u64 = 1024;
/// Epochs of a look, and calls of each.
const LOOK: (u32, u32) = (4, 4);
/// The part of the calls' time that a look at one which had been given up may take.
const GIVEN_UP: f64 = 0.005;
/// How much slower than the winner others may be that are looked at beside it.
const NEAR: f64 = 1.25;

impl Trial {
    /// Decides on the next round and when it begins.
    pub(super) fn schedule(&mut self) {
        let number = self.round.number + 1;
        let (aim, others) = self.next_members();
        self.aim = aim;
        let mut members = vec![self.incumbent];
        members.extend(others);
        self.round = Round { number, members, epochs: 4, calls: 2 };
        match aim {
            Aim::Search => {
                // What promises much shows in a few calls whether it holds.
                let long = self.exchange() > EXCHANGE_HUGE && self.promising().is_none();
                let level = if long { LEVELS.len() - 1 } else { self.level() };
                let Level { epochs, calls, .. } = self.levels()[level];
                (self.level, self.round.epochs, self.round.calls) = (level as u8, epochs, calls);
            }
            // A meeting is part of each time here, and weighs as much in epochs of one length only.
            Aim::Watch if self.meets_at_all() => (self.round.epochs, self.round.calls) = LOOK,
            Aim::Look => (self.round.epochs, self.round.calls) = LOOK,
            Aim::Watch => {}
            Aim::Gauge => (self.round.epochs, self.round.calls) = (2, 4),
            Aim::Probe => (self.round.epochs, self.round.calls) = (PROBE.epochs, PROBE.calls),
        }
        let earliest = match aim {
            Aim::Gauge | Aim::Probe | Aim::Search => WARM_UP,
            Aim::Look | Aim::Watch => self.next_look(),
        };
        self.start = self.calls.max(earliest).max(self.affordable());
    }

    /// The number of calls from which on the next round may begin: what trying has cost and will have cost then is
    /// within its budget, or the round saves what it costs.
    fn affordable(&self) -> u64 {
        let round = self.cost_of_round();
        let cost = (self.spent_ns as f64 / self.call_ns() + round).max(0.0);
        let expected = match self.exchange() > EXCHANGE_HUGE {
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

    /// The candidate nobody has tried that promises most, if that is enough, and the part of the incumbent's time that
    /// it saves.
    fn promising(&self) -> Option<(u8, f64)> {
        let untried = self.others(|of| of.state == State::Untried).into_iter();
        let untried = untried.filter_map(|place| Some((place, self.promises(place)?)));
        untried.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, saving)| *saving >= PROMISING)
    }

    /// Time of a candidate over that of the default, as far as anything is known of it.
    fn predicted(&self, candidate: usize) -> Option<f64> {
        self.standings[candidate].predicted(self.overlap)
    }

    /// The part of the incumbent's time that a candidate is predicted to save, if anything is predicted.
    fn promises(&self, place: u8) -> Option<f64> {
        Some(1.0 - self.doubt * self.predicted(usize::from(place))? / self.predicted(self.incumbent())?)
    }

    /// What a call takes more than one of the incumbent, over that; as far as it is known.
    fn excess(&self, candidate: usize) -> f64 {
        let (of, incumbent) = (&self.standings[candidate], &self.standings[self.incumbent()]);
        if candidate == self.incumbent() {
            return 0.0;
        }
        match (of.ns, self.predicted(candidate), self.predicted(self.incumbent())) {
            // Both with the same share of a meeting, which is no part of a call.
            (ns, ..) if ns > 0 && incumbent.ns > 0 => ns.saturating_sub(incumbent.ns) as f64 / self.call_ns(),
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
            let probes = self.meets_at_all() && self.exchange() < EXCHANGE_MODERATE;
            if let Some((promising, _)) = self.promising() {
                // It first, then who is ready.
                untried.sort_by_key(|place| (*place != promising, self.standings[usize::from(*place)].ready_ns));
                if self.meets_at_all() {
                    // Where promises often fail only those are at stake that promise as much, and those of whom nothing
                    // is known as far as they have no round of their own.
                    untried.retain(|place| self.promises(*place).map_or(!probes, |saving| saving >= PROMISING));
                }
                untried.truncate(if self.exchange() > EXCHANGE_LARGE { 1 } else { AT_ONCE });
                return (Aim::Search, untried);
            }
            if !untried.is_empty() {
                let is_unpredicted = |place: &u8| self.predicted(usize::from(*place)).is_none();
                if probes && untried.iter().any(is_unpredicted) {
                    untried.retain(is_unpredicted);
                    return (Aim::Probe, untried);
                }
                if self.exchange() > EXCHANGE_HUGE {
                    // Those of which little is promised wait until they cost little beside the calls there have been.
                    let predicted = |place: u8| self.predicted(usize::from(place)).unwrap_or(0.0);
                    let least = untried.iter().map(|place| predicted(*place)).fold(f64::INFINITY, f64::min);
                    let most = LIKELY * predicted(self.incumbent).max(least);
                    untried.retain(|place| predicted(*place) <= most);
                }
                untried.truncate(if self.exchange() > EXCHANGE_SMALL { AT_ONCE } else { 2 });
                return (Aim::Search, untried);
            }
            let known = self.known_ns() as f64;
            let is_waiting = |of: &Standing| of.is_in_play() && usize::from(of.level()) < LEVELS.len();
            let is_far = |of: &Standing| of.level() == 0 && of.ns as f64 > FAR * known;
            let mut next = self.others(|of| is_waiting(of) && !is_far(of));
            if next.is_empty() {
                next = self.others(is_waiting);
            }
            let level = |place: &u8| self.standings[usize::from(*place)].level();
            if let Some(least) = next.iter().map(level).min() {
                next.retain(|place| level(place) == least);
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
        // What is saved is what the default would take beside it now.
        let of_default = self.standings[DEFAULT].ns as f64;
        if self.incumbent() != DEFAULT
            && !near.contains(&0)
            && of_default > 0.0
            && of_default <= FAR_SLOWER * self.known_ns() as f64
        {
            near.push(0);
        }
        near.extend(self.given_up().filter(|place| !near.contains(place)));
        (if near.is_empty() { Aim::Watch } else { Aim::Look }, near)
    }

    /// One of those that others were faster than, each in its turn at every second look, once that costs next to
    /// nothing: its time may have been that of a hiccup, or the program may have changed.
    fn given_up(&self) -> Option<u8> {
        let all = self.others(|of| of.ns > 0 && of.state == State::Dropped);
        let turn = self.looks / 8;
        let place = *all.get(turn as usize % all.len().max(1)).filter(|_| self.looks % 8 == 4)?;
        let cost = f64::from(LOOK.0 * LOOK.1) * self.excess(usize::from(place));
        (cost <= GIVEN_UP * self.calls as f64).then_some(place)
    }

    /// There is a winner, which is looked at from now on.
    pub(super) fn win(&mut self, ns: u64) {
        (self.won_ns, self.drifting) = (ns.max(1), false);
        self.won_alike = self.round.epochs > 1 && self.round.calls == LOOK.1;
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
