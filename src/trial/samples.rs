//! What one rank measured of a round.

use super::state::MOST;

/// The times of a round's calls on one rank, nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    of: [Vec<u64>; MOST],
    /// Calls for which something had first to be made ready: slower than those to come.
    first: [Vec<u64>; MOST],
    /// Time of what is not in calls: comparing.
    besides: u64,
}

impl Samples {
    /// A call took so long; `first`: with what it took to make it ready.
    pub fn record(&mut self, candidate: usize, ns: u64, first: bool) {
        let to = if first { &mut self.first } else { &mut self.of };
        to[candidate].push(ns);
    }

    /// Comparing took so long.
    pub const fn besides(&mut self, ns: u64) {
        self.besides += ns;
    }

    /// What stands for a candidate: the median, or the least of a few, of which one may have met a late rank; 0 of none.
    pub fn typical(&self, candidate: usize, few: bool) -> u64 {
        let measured = if self.of[candidate].is_empty() { &self.first } else { &self.of };
        let mut sorted = measured[candidate].clone();
        sorted.sort_unstable();
        // What takes no time by this clock was measured all the same.
        sorted.get(if few { 0 } else { sorted.len() / 2 }).map_or(0, |ns| (*ns).max(1))
    }

    /// What trying has cost more than as many calls with the `incumbent` would have: nanoseconds. Where that took no part, its
    /// calls take `known`.
    pub fn spent(&self, incumbent: usize, known: u64) -> u64 {
        let typical = match self.typical(incumbent, false) {
            0 => known,
            typical => typical,
        };
        let all = self.of.iter().zip(&self.first).enumerate();
        let over = all.filter(|(candidate, _)| *candidate != incumbent).map(|(_, (later, first))| {
            let calls = (later.len() + first.len()) as u64;
            (later.iter().sum::<u64>() + first.iter().sum::<u64>()).saturating_sub(calls * typical)
        });
        self.besides + over.sum::<u64>()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_calls_count_as_cost_and_not_as_what_is_typical() {
        let mut samples = Samples::default();
        samples.record(1, 500, true);
        for ns in [30, 10, 20] {
            samples.record(1, ns, false);
            samples.record(0, 12, false);
        }
        assert_eq!((samples.typical(1, true), samples.typical(1, false), samples.typical(2, true)), (10, 20, 0));
        samples.besides(7);
        assert_eq!(samples.spent(0, 0), 500 + 60 - 4 * 12 + 7);
        // What is faster has cost nothing.
        assert_eq!(samples.spent(1, 0), 7);
        samples.clear();
        samples.record(3, 9, true);
        assert_eq!((samples.typical(3, false), samples.spent(0, 5)), (9, 4));
    }
}
