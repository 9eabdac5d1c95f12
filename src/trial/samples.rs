//! What one rank measured of a round.

use super::times::MOST;

/// A call that takes so many times as long as is usual has met a late rank. Where calls in a row overlap, one of four may
/// take forty times as long as those that return at once, but not as the incumbent's.
const LATE: u64 = 64;

/// The times of a round's calls on one rank, nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// In the order that they were made in.
    of: [Vec<Sample>; MOST],
    /// Time of comparing.
    comparing_ns: u64,
    /// How often the ranks met.
    meetings: u64,
    /// The least and the most bytes of a call on this rank.
    bytes: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    ns: u64,
    /// What it took to make the call ready, which is no part of `ns`; 0 where it was. A call after that is slower than
    /// those to come.
    ready_ns: u64,
    /// What it took after the call until all ranks had met; 0 where they did not.
    meeting_ns: u64,
}

impl Samples {
    /// A call took so long, and so long to make it ready before; 0 where it was ready. Calls whose roots or counts
    /// differ are made ready one by one, and those of the incumbent long have been: that may not tell for it.
    pub fn record(&mut self, candidate: usize, ns: u64, ready_ns: u64) {
        self.of[candidate].push(Sample { ns, ready_ns, meeting_ns: 0 });
    }

    /// The call was one of so many bytes.
    pub fn moved(&mut self, bytes: u64) {
        let (least, most) = self.bytes.unwrap_or((bytes, bytes));
        self.bytes = Some((least.min(bytes), most.max(bytes)));
    }

    /// Whether the calls were of about as many bytes. Those of one kind are, but for operations of which each rank
    /// knows its own counts only: there short calls of one candidate would stand against long ones of another.
    pub fn are_alike(&self) -> bool {
        self.bytes.is_none_or(|(least, most)| most <= least.saturating_mul(2))
    }

    /// The ranks have met, which took so long, after a call of `candidate`; `None` if that was none of the round.
    pub fn met(&mut self, candidate: Option<usize>, ns: u64) {
        self.meetings += 1;
        if let Some(last) = candidate.and_then(|candidate| self.of[candidate].last_mut()) {
            last.meeting_ns = ns.max(1);
        }
    }

    /// Comparing took so long, `usual` as far as is known: what takes far longer has met a late rank ([`LATE`]).
    pub fn compared(&mut self, ns: u64, usual: u64) {
        self.comparing_ns += ns.min(usual.max(1).saturating_mul(LATE));
    }

    /// What stands for a candidate whose calls were made in epochs of so many; 0 if it was not measured.
    ///
    /// It is the mean call of the fastest epoch, since others may have met a late rank, with its share of the meeting
    /// where the ranks met after each: calls in a row overlap, so that some return at once and others wait for what
    /// those have begun. Of programs in which every third to twelfth call waits for a late rank, the median epoch
    /// tells who met that rank rather than who is fast. Of a single epoch it is the least call, which tells what is far
    /// slower.
    pub fn typical(&self, candidate: usize, epoch: usize) -> u64 {
        let measured = &self.of[candidate];
        let only_first = measured.iter().all(|sample| sample.ready_ns > 0);
        let mean = |calls: &[Sample]| {
            let counted = calls.iter().filter(|sample| only_first || sample.ready_ns == 0);
            let ns: Vec<u64> = counted.map(|sample| sample.ns).collect();
            let meeting = calls.iter().map(|sample| sample.meeting_ns).sum::<u64>() / calls.len() as u64;
            Some(ns.iter().sum::<u64>().checked_div(ns.len() as u64)? + meeting)
        };
        let meets = measured.iter().any(|sample| sample.meeting_ns > 0);
        let few = measured.len() <= epoch;
        let means = measured.chunks(if few && !meets { 1 } else { epoch }).filter_map(mean);
        // What takes no time by this clock was measured all the same.
        means.min().map_or(0, |ns| ns.max(1))
    }

    /// What stands for each candidate; see [`typical`](Self::typical).
    pub fn times(&self, epoch: usize) -> [u64; MOST] {
        std::array::from_fn(|candidate| self.typical(candidate, epoch))
    }

    /// What trying has cost more than as many calls with the `incumbent` would have: nanoseconds. Where that took no
    /// part, its calls take `known`.
    ///
    /// A meeting costs `meeting_ns`, what it takes when nothing is under way. In a longer one the ranks wait for calls,
    /// which is time of these calls: of those before the round, nothing that trying costs. A call that takes far longer
    /// than its candidate's median call and the incumbent's ([`LATE`]) has met a late rank, which the incumbent's would
    /// have met as well, unless it is the first.
    pub fn spent(&self, incumbent: usize, known: u64, meeting_ns: u64) -> u64 {
        let with_waiting = |sample: &Sample| sample.ns + sample.meeting_ns.saturating_sub(meeting_ns);
        // In calls that have met a late rank, so often that it is no exception, both have waited.
        let of_incumbent = self.of[incumbent].iter().map(with_waiting);
        let usual = median(of_incumbent.clone());
        let most = usual.unwrap_or(0).saturating_mul(LATE);
        let all: u64 = of_incumbent.map(|ns| ns.min(most)).sum();
        let incumbent_ns = usual.map_or(known, |_| all / self.of[incumbent].len() as u64);
        let usual = usual.unwrap_or(known);
        let over = |calls: &Vec<Sample>| {
            let usual = median(calls.iter().map(with_waiting)).unwrap_or(0).max(usual);
            // The first one may have opened connections, and be as slow by itself.
            let most = |place: usize| if place == 0 { u64::MAX } else { usual.saturating_mul(LATE) };
            let all: u64 = calls.iter().enumerate().map(|(place, sample)| with_waiting(sample).min(most(place))).sum();
            let ready: u64 = calls.iter().map(|sample| sample.ready_ns).sum();
            (all + ready) as i64 - (calls.len() as u64 * incumbent_ns) as i64
        };
        let others = self.of.iter().enumerate().filter(|(candidate, _)| *candidate != incumbent);
        let over: i64 = others.map(|(_, calls)| over(calls)).sum();
        self.comparing_ns + self.meetings * meeting_ns + over.max(0) as u64
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The upper one of two.
fn median(ns: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = ns.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_calls_count_as_cost_and_not_as_what_is_typical() {
        let mut samples = Samples::default();
        samples.record(1, 40, 460);
        for ns in [30, 10, 20] {
            samples.record(1, ns, 0);
            samples.record(0, 12, 0);
        }
        assert_eq!((samples.typical(1, 4), samples.typical(2, 4)), (10, 0));
        samples.compared(7, 7);
        assert_eq!(samples.spent(0, 0, 0), 500 + 60 - 4 * 12 + 7);
        // What is faster has cost nothing.
        assert_eq!(samples.spent(1, 0, 0), 7);
        samples.clear();
        samples.record(3, 9, 2);
        assert_eq!((samples.typical(3, 4), samples.spent(0, 5, 0)), (9, 4 + 2));
    }

    #[test]
    fn a_late_rank_is_not_what_trying_costs() {
        let mut samples = Samples::default();
        (0..4).for_each(|_| samples.record(0, 100, 0));
        [150, 150, 20_000_000, 150].into_iter().for_each(|ns| samples.record(1, ns, 0));
        assert_eq!(samples.spent(0, 0, 0), 3 * 50 + 64 * 150 - 100);
        // One who takes long each time does not wait for a late rank.
        samples.clear();
        (0..4).for_each(|_| samples.record(0, 100, 0));
        (0..4).for_each(|_| samples.record(1, 9_000, 0));
        assert_eq!(samples.spent(0, 0, 0), 4 * 8_900);
    }

    #[test]
    fn calls_of_a_size_class_are_alike_and_others_are_not() {
        let mut samples = Samples::default();
        assert!(samples.are_alike());
        [512, 1023, 700].into_iter().for_each(|bytes| samples.moved(bytes));
        assert!(samples.are_alike());
        samples.moved(0);
        assert!(!samples.are_alike());
        samples.clear();
        samples.moved(0);
        assert!(samples.are_alike());
    }

    #[test]
    fn the_sums_of_epochs_count_but_not_those_of_a_late_rank() {
        let mut samples = Samples::default();
        // One returns at once and then waits, the other takes as long each time; both meet a late rank once.
        for calls in [[1, 1, 1, 37], [1, 1, 37, 900], [1, 39, 1, 1], [41, 1, 1, 1]] {
            calls.into_iter().for_each(|ns| samples.record(0, ns, 0));
        }
        for calls in [[9, 9, 9, 9], [9, 800, 9, 9], [9, 9, 9, 9], [9, 9, 9, 9]] {
            calls.into_iter().for_each(|ns| samples.record(1, ns, 0));
        }
        assert_eq!((samples.typical(0, 4), samples.typical(1, 4)), (10, 9));
        // An epoch of nothing but first calls tells nothing beside others.
        samples.clear();
        for (ns, ready_ns) in [(50, 40), (5, 0), (7, 0)] {
            samples.record(2, ns, ready_ns);
        }
        assert_eq!(samples.typical(2, 1), 5);
    }

    #[test]
    fn where_ranks_meet_what_calls_have_begun_counts() {
        let mut samples = Samples::default();
        (0..4).for_each(|_| samples.record(0, 3, 0));
        samples.met(Some(0), 400);
        for ns in [50, 20, 20, 20] {
            samples.record(1, ns, if ns == 50 { 9 } else { 0 });
        }
        samples.met(Some(1), 40);
        assert_eq!((samples.typical(0, 4), samples.typical(1, 4)), (103, 30));
        samples.met(Some(2), 7);
        assert_eq!(samples.typical(2, 4), 0, "nothing was measured of it");
    }

    #[test]
    fn waiting_for_calls_that_are_under_way_is_no_part_of_what_trying_costs() {
        let mut samples = Samples::default();
        // Calls before the round have left much to the network; a meeting takes 30.
        samples.met(None, 900);
        (0..4).for_each(|_| samples.record(0, 3, 0));
        samples.met(Some(0), 30 + 388);
        (0..4).for_each(|_| samples.record(1, 50, 0));
        samples.met(Some(1), 30);
        samples.compared(35, 30);
        // 400 for four calls of the one, 200 for four of the other.
        assert_eq!(samples.spent(0, 0, 30), 3 * 30 + 35);
        assert_eq!(samples.spent(1, 0, 30), 3 * 30 + 35 + 200);
    }
}
