//! Cells whose true times are known, for tests.

use super::{Exchanged, Expected, Foreseen, MOST, Own, Samples, Trial};
use crate::monitor::mixed;

/// A cell whose calls take times that are known but for noise.
#[derive(Clone)]
pub struct Cell {
    /// Nanoseconds of a call, by candidate.
    pub ns: Vec<f64>,
    /// Of an exchange.
    pub exchange: f64,
    /// Of making a candidate ready.
    pub ready: f64,
    /// How much a rank's call differs from another, as a part of its time.
    pub noise: f64,
    pub ranks: usize,
    pub seed: u64,
    /// What calls take in the end over what they take at first, by candidate, and from which call on.
    pub drift: Option<(u64, Vec<f64>)>,
    /// Nanoseconds of work that calls may leave to the network when they return; later ones wait for what is beyond
    /// that.
    pub left_under_way: f64,
    /// Which calls wait for a late rank, whoever carries them out, and for how many nanoseconds.
    pub late: Option<(u64, f64)>,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Nanoseconds of all calls without noise, trying and exchanging included.
    pub ns: f64,
    /// The same of the fastest candidate alone.
    pub fastest: f64,
    /// The same of the default alone.
    pub default: f64,
    /// What calls that measured another candidate took more than the incumbent's, with the exchanges.
    pub trying: f64,
    pub exchanges: u32,
}

impl Outcome {
    /// Time over that of the fastest candidate, less one.
    pub fn regret(&self) -> f64 {
        self.ns / self.fastest - 1.0
    }
}

/// A trial of candidates with these times by the cost model over the default's, none for the MPI library.
pub fn trial(predicted: &[Option<f64>], ready_ns: u64, call_ns: u64, exchange_ns: u64) -> Trial {
    trial_within(predicted, ready_ns, Expected { call_ns, exchange_ns, meeting_ns: 0, budget: 2 })
}

/// The same with all that is expected.
pub fn trial_within(predicted: &[Option<f64>], ready_ns: u64, expected: Expected) -> Trial {
    let foreseen = |(place, predicted): (usize, &Option<f64>)| Foreseen {
        predicted: *predicted,
        overlapped: None,
        ready_ns: if place > 0 && predicted.is_some() { ready_ns } else { 0 },
    };
    let foreseen: Vec<_> = predicted.iter().enumerate().map(foreseen).collect();
    Trial::new(&foreseen, expected)
}

/// 0 to 1.
pub fn random(seed: u64, number: u64) -> f64 {
    (mixed(mixed(seed) ^ number) >> 11) as f64 / (1u64 << 53) as f64
}

impl Cell {
    /// Of any kind: `candidates` between as fast and `spread` times slower than the fastest, times from 1 us to 10 ms.
    pub fn random(seed: u64, spread: f64) -> Self {
        let of = |number| random(seed, number);
        let fastest = 1e3 * 10f64.powf(4.0 * of(1));
        let candidates = 3 + (of(2) * 4.0) as u64;
        let mut ns: Vec<f64> = (0..candidates).map(|number| fastest * spread.powf(of(10 + number))).collect();
        ns[(of(3) * candidates as f64) as usize] = fastest;
        let (exchange, ready) = (3e3, 3e3);
        Self { ns, exchange, ready, noise: 0.2 * of(4), ranks: 4, seed, drift: None, left_under_way: 0.0, late: None }
    }

    /// What the cost model says of them, which is off by up to a factor `off` either way, and nothing of the second,
    /// which is the native library's.
    pub fn predicted(&self, off: f64) -> Vec<Option<f64>> {
        let of = |number: usize| self.ns[number] * off.powf(2.0 * random(self.seed, 50 + number as u64) - 1.0);
        let predicted = (0..self.ns.len()).map(|number| (number != 1).then(|| of(number) / of(0)));
        let mut predicted: Vec<_> = predicted.collect();
        if predicted.len() > 2 {
            predicted[2..].sort_by(|one, other| one.partial_cmp(other).unwrap());
        }
        predicted
    }

    fn true_ns(&self, candidate: usize, call: u64) -> f64 {
        match &self.drift {
            Some((from, times)) if call >= *from => self.ns[candidate] * times[candidate],
            _ => self.ns[candidate],
        }
    }

    /// A rank's time of a call: with a long tail upwards, and now and then far too long.
    fn measured(&self, candidate: usize, call: u64, rank: usize) -> u64 {
        let of = |number: u64| random(self.seed ^ call << 20 ^ (rank as u64) << 8, number);
        let late = if of(1) < 0.03 { 20.0 * of(2) } else { 0.0 };
        let waiting = self.late.filter(|(every, _)| call.is_multiple_of(*every)).map_or(0.0, |(_, ns)| ns);
        (self.true_ns(candidate, call) * (1.0 + self.noise * of(3) + late) + waiting) as u64
    }

    /// `calls` calls of it under `trial`.
    pub fn run(&self, trial: &mut Trial, calls: u64) -> Outcome {
        let mut outcome = Outcome::default();
        let mut samples = vec![Samples::default(); self.ranks];
        let mut ready = [false; MOST];
        ready[0] = true;
        let mut under_way = vec![0.0; self.ranks];
        for call in 0..calls {
            let first_ns = |first| if first { self.ready } else { 0.0 };
            if trial.rest() == 0 && trial.meets() {
                // Once more where nobody knows yet what that takes.
                if trial.is_due() && outcome.exchanges == 0 {
                    samples.iter_mut().for_each(|samples| samples.met(None, self.exchange as u64));
                    outcome.trying += self.exchange;
                    outcome.ns += self.exchange;
                }
                let last = trial.whose_turn_it_was(self.seed);
                for (samples, under_way) in samples.iter_mut().zip(&mut under_way) {
                    let meeting = (std::mem::take(under_way) + self.exchange) as u64;
                    samples.met(last, meeting);
                }
                outcome.trying += self.exchange;
                outcome.ns += self.exchange;
            }
            if trial.rest() == 0 && trial.is_due() {
                exchange(trial, &mut samples, self.exchange as u64);
                samples.iter_mut().for_each(|samples| samples.compared(self.exchange as u64, trial.exchange_ns()));
                outcome.trying += self.exchange;
                outcome.ns += self.exchange;
                outcome.exchanges += 1;
            }
            let incumbent = trial.incumbent();
            let candidate = if trial.rest() > 0 {
                trial.rested(1);
                incumbent
            } else {
                let candidate = trial.next(self.seed);
                let first = !std::mem::replace(&mut ready[candidate], true);
                for (rank, samples) in samples.iter_mut().enumerate() {
                    let measured = self.measured(candidate, call, rank) as f64 + under_way[rank];
                    under_way[rank] = measured.min(self.left_under_way);
                    samples.record(candidate, (measured - under_way[rank]) as u64, first_ns(first) as u64);
                }
                let more = self.true_ns(candidate, call) - self.true_ns(incumbent, call) + first_ns(first);
                outcome.trying += more.max(0.0);
                outcome.ns += first_ns(first);
                candidate
            };
            outcome.ns += self.true_ns(candidate, call);
            outcome.default += self.true_ns(0, call);
            outcome.fastest +=
                (0..self.ns.len()).map(|candidate| self.true_ns(candidate, call)).fold(f64::MAX, f64::min);
        }
        outcome
    }
}

/// What the ranks do when a round has ended.
pub fn exchange(trial: &mut Trial, samples: &mut [Samples], exchange_ns: u64) {
    let (epoch, meet) = (trial.calls_of_epoch(), trial.meets_at_all());
    let own = |samples: &Samples| Own {
        times: Some(samples.times(epoch)),
        spent_ns: samples.spent(trial.incumbent(), trial.known_ns(), exchange_ns),
        exchange_ns,
        winner: 0,
    };
    let words = samples.iter().map(|samples| own(samples).words(meet));
    let greatest = words.reduce(|one, other| std::array::from_fn(|place| one[place].max(other[place])));
    let all = Exchanged::of(&greatest.expect("there are ranks"), meet);
    trial.commit(&all.times.expect("all are compared"), all.spent_ns, all.exchange_ns);
    samples.iter_mut().for_each(Samples::clear);
}
