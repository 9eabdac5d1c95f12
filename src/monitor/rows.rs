//! Rows of all ranks, as they are reported.

use super::durations::middle;
use super::parts::RowPart;
use super::units::{seconds, share};
use super::{Row, Spread};

/// Where things are once they are sorted; nowhere if they are left out.
#[derive(Debug)]
pub(super) struct Positions(Vec<Option<u32>>);

impl Positions {
    /// Of `number` things that come in this order.
    pub(super) fn of(number: usize, order: &[usize]) -> Self {
        let mut places = vec![None; number];
        order.iter().enumerate().for_each(|(place, before)| places[*before] = Some(place as u32));
        Self(places)
    }

    /// Of the one that was at `before`.
    pub(super) fn get(&self, before: u32) -> Option<usize> {
        self.0[before as usize].map(|place| place as usize)
    }
}

/// What a communicator's time is a share of.
#[derive(Debug)]
pub(super) struct RunTimes {
    /// Of a rank.
    pub mean_ns: f64,
    /// By communicator, its members that are known, and their run time in nanoseconds.
    pub of_members: Vec<(u32, u128)>,
}

impl RunTimes {
    /// Of the members, nanoseconds; where fewer are known than the `ranks` that made calls (those of the other group of
    /// an intercommunicator, or of a communicator with too many to tell), that of as many ranks of the mean.
    fn of(&self, communicator: usize, ranks: u32) -> f64 {
        let (members, ns) = self.of_members[communicator];
        if members >= ranks { ns as f64 } else { self.mean_ns * f64::from(ranks) }
    }
}

/// The rows, most time first, and where each of the parts is among them.
pub(super) fn rows(parts: Vec<RowPart>, texts: &[String], place: &Positions, runs: &RunTimes) -> (Vec<Row>, Vec<u32>) {
    let text = |text: u32| texts[text as usize].as_str();
    // Rows of equal time are in the order of their keys, so the same records give the same report.
    let key = |part: &RowPart| {
        let (communicator, function, bucket, algorithm, decided_by) = part.key;
        (place.get(communicator), function, bucket, text(algorithm), text(decided_by))
    };
    let mut order: Vec<u32> = (0..parts.len() as u32).collect();
    order.sort_unstable_by(|left, right| {
        let (left, right) = (&parts[*left as usize], &parts[*right as usize]);
        right.total_ns.cmp(&left.total_ns).then_with(|| key(left).cmp(&key(right)))
    });
    let mut row_of = vec![0; parts.len()];
    order.iter().enumerate().for_each(|(place, before)| row_of[*before as usize] = place as u32);
    let made = order.into_iter().map(|before| {
        let part = &parts[before as usize];
        let communicator = place.get(part.key.0).expect("a communicator with a row was used");
        row(part, communicator, (text(part.key.3), text(part.key.4)), runs)
    });
    (made.collect(), row_of)
}

fn row(part: &RowPart, communicator: usize, (algorithm, decided_by): (&str, &str), runs: &RunTimes) -> Row {
    let (_, function, bucket, ..) = part.key;
    let durations: Vec<(u64, u64)> =
        part.durations.iter().map(|&(step, calls)| (middle(usize::from(step)), calls)).collect();
    // The middle of a step may lie past the longest call or before the shortest.
    let percentile = |share: f64| seconds(quantile(&durations, share).max(part.min_ns).min(part.max_ns) as f64);
    Row {
        function: function.name().to_owned(),
        communicator,
        bytes_from: bucket.first(),
        bytes_to: bucket.last(),
        algorithm: algorithm.to_owned(),
        decided_by: decided_by.to_owned(),
        ranks: part.ranks,
        calls: part.most_calls,
        calls_all_ranks: part.calls,
        bytes: part.bytes,
        total_seconds: Spread::of_sum(
            (part.least_total_ns, part.least_rank),
            (part.most_total_ns, part.most_rank),
            part.total_ns,
            part.ranks,
        ),
        mean_seconds: seconds(part.total_ns as f64 / part.calls.max(1) as f64),
        min_seconds: seconds(part.min_ns as f64),
        p50_seconds: percentile(0.5),
        p90_seconds: percentile(0.9),
        p99_seconds: percentile(0.99),
        max_seconds: seconds(part.max_ns as f64),
        share: share(part.total_ns as f64, runs.of(communicator, part.ranks)),
        // Calls that only start something or finish it wait for no rank as such.
        waiting_seconds: part.waiting_ns.map(|ns| seconds(ns as f64) / f64::from(part.ranks)),
        durations: per_power_of_two(&durations),
    }
}

/// The smallest duration that at least `share` of the calls do not exceed.
fn quantile(durations: &[(u64, u64)], share: f64) -> u64 {
    let calls: u64 = durations.iter().map(|(_, calls)| calls).sum();
    let wanted = ((calls as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    let reached = durations.iter().find(|(_, calls)| {
        seen += calls;
        seen >= wanted
    });
    reached.map_or(0, |(duration, _)| *duration)
}

/// Coarser, for pictures: the upper end of each power of two of nanoseconds, in seconds.
fn per_power_of_two(durations: &[(u64, u64)]) -> Vec<(f64, u64)> {
    let power = |entry: &(u64, u64)| entry.0.max(1).next_power_of_two();
    let classes = durations.chunk_by(|left, right| power(left) == power(right));
    classes.map(|class| (seconds(power(&class[0]) as f64), class.iter().map(|(_, calls)| calls).sum())).collect()
}
