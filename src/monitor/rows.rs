//! Cells of all ranks → rows.

use super::durations::{STEPS, middle};
use super::merge::{seconds, share};
use super::{Bucket, CellRecord, Form, Function, RankRecord, Row, Spread};
use std::collections::HashMap;

/// Communicator, function, size class, algorithm, what decided it.
type RowKey<'a> = (usize, Function, Bucket, &'a str, &'a str);

/// Where the row of a cell is, for each record, communicator and cell; nowhere if it had no calls.
#[derive(Debug, Default)]
pub(super) struct RowOf(Vec<Vec<Vec<u32>>>);

/// Stands for no row.
const NOWHERE: u32 = u32::MAX;

impl RowOf {
    /// The row of the cell.
    pub(super) fn get(&self, record: usize, communicator: usize, cell: usize) -> Option<usize> {
        let row = *self.0.get(record)?.get(communicator)?.get(cell)?;
        (row != NOWHERE).then_some(row as usize)
    }
}

/// The rows, most time first, and where the row of each cell is.
pub(super) fn rows(records: &[RankRecord], place: &HashMap<&str, usize>, run_ns: f64) -> (Vec<Row>, RowOf) {
    let mut grouped = Grouped::default();
    let mut row_of: RowOf = RowOf(records.iter().map(|record| grouped.add(record, place)).collect());
    let Grouped { keys, cells, .. } = grouped;
    let time = |cells: &[(u32, &CellRecord)]| cells.iter().map(|(_, cell)| cell.total_ns).sum::<u64>();
    let mut order: Vec<(u64, u32)> =
        cells.iter().enumerate().map(|(group, cells)| (time(cells), group as u32)).collect();
    // Rows of equal time are in the order of their keys, so the same records give the same report.
    order.sort_unstable_by(|(left_time, left), (right_time, right)| {
        right_time.cmp(left_time).then_with(|| keys[*left as usize].cmp(&keys[*right as usize]))
    });
    // Made in the order in which the ranks' cells lie in memory, then put in theirs.
    let mut counts = [0; STEPS];
    let made = keys.iter().zip(&cells).map(|(key, cells)| Some(row(*key, cells, run_ns, &mut counts)));
    let mut made: Vec<Option<Row>> = made.collect();
    let mut place_of = vec![NOWHERE; order.len()];
    let mut rows = Vec::with_capacity(order.len());
    for (place, &(_, group)) in order.iter().enumerate() {
        place_of[group as usize] = place as u32;
        rows.extend(made[group as usize].take());
    }
    for group in row_of.0.iter_mut().flatten().flatten().filter(|group| **group != NOWHERE) {
        *group = place_of[*group as usize];
    }
    (rows, row_of)
}

/// Cells of all ranks by their key.
#[derive(Default)]
struct Grouped<'a> {
    keys: Vec<RowKey<'a>>,
    cells: Vec<Vec<(u32, &'a CellRecord)>>,
    /// Groups of each communicator.
    of_place: HashMap<usize, Vec<u32>>,
    /// Groups of a communicator's cells on the last rank that had it: ranks mostly make the same calls in one order.
    before: HashMap<usize, Vec<u32>>,
}

impl<'a> Grouped<'a> {
    fn add(&mut self, record: &'a RankRecord, place: &HashMap<&str, usize>) -> Vec<Vec<u32>> {
        let mut all = Vec::with_capacity(record.communicators.len());
        for communicator in &record.communicators {
            let Some(&place) = place.get(communicator.identity.as_str()).filter(|_| communicator.has_calls()) else {
                all.push(Vec::new());
                continue;
            };
            let guesses = self.before.remove(&place).unwrap_or_default();
            let groups: Vec<u32> = communicator
                .cells
                .iter()
                .enumerate()
                .map(|(number, cell)| {
                    self.group(
                        record.rank,
                        (place, cell),
                        guesses.get(number).copied().filter(|guess| *guess != NOWHERE),
                    )
                })
                .collect();
            self.before.insert(place, groups.clone());
            all.push(groups);
        }
        all
    }

    fn group(&mut self, rank: u32, (place, cell): (usize, &'a CellRecord), guess: Option<u32>) -> u32 {
        if cell.calls == 0 {
            return NOWHERE;
        }
        let key = (place, cell.function, cell.bucket, &*cell.algorithm, &*cell.decided_by);
        let Self { keys, cells, of_place, .. } = self;
        let group = guess.filter(|guess| keys[*guess as usize] == key).unwrap_or_else(|| {
            let known = of_place.entry(place).or_default();
            known.iter().copied().find(|group| keys[*group as usize] == key).unwrap_or_else(|| {
                let group = keys.len() as u32;
                keys.push(key);
                cells.push(Vec::new());
                known.push(group);
                group
            })
        });
        self.cells[group as usize].push((rank, cell));
        group
    }
}

fn row(
    (communicator, function, bucket, algorithm, decided_by): RowKey<'_>,
    cells: &[(u32, &CellRecord)],
    run_ns: f64,
    counts: &mut [u64; STEPS],
) -> Row {
    let sum = |of: fn(&CellRecord) -> u64| cells.iter().map(|(_, cell)| of(cell)).sum::<u64>();
    let (calls, total_ns, waiting_ns) =
        (sum(|cell| cell.calls), sum(|cell| cell.total_ns), sum(|cell| cell.waiting_ns));
    let durations = merged_durations(cells, counts);
    let longest_ns = cells.iter().map(|(_, cell)| cell.max_ns).max().unwrap_or(0);
    // The middle of a step may lie past the longest call.
    let percentile = |share: f64| seconds(quantile(&durations, share).min(longest_ns) as f64);
    Row {
        function: function.name().to_owned(),
        communicator,
        bytes_from: bucket.first(),
        bytes_to: bucket.last(),
        algorithm: algorithm.to_owned(),
        decided_by: decided_by.to_owned(),
        ranks: cells.len() as u32,
        calls: cells.iter().map(|(_, cell)| cell.calls).max().unwrap_or(0),
        calls_all_ranks: calls,
        bytes: sum(|cell| cell.bytes),
        total_seconds: Spread::of(cells.iter().map(|(rank, cell)| (*rank, seconds(cell.total_ns as f64)))),
        mean_seconds: seconds(total_ns as f64 / calls.max(1) as f64),
        min_seconds: seconds(cells.iter().map(|(_, cell)| cell.min_ns).min().unwrap_or(0) as f64),
        p50_seconds: percentile(0.5),
        p90_seconds: percentile(0.9),
        p99_seconds: percentile(0.99),
        max_seconds: seconds(longest_ns as f64),
        share: share(total_ns as f64, run_ns),
        // Calls that only start something or finish it wait for no rank as such.
        waiting_seconds: (function.form == Form::Blocking).then(|| seconds(waiting_ns as f64) / cells.len() as f64),
        durations: per_power_of_two(&durations),
    }
}

/// Durations of all ranks with their calls, ascending; `counts` are all 0 before and after.
fn merged_durations(cells: &[(u32, &CellRecord)], counts: &mut [u64; STEPS]) -> Vec<(u64, u64)> {
    const WORD: usize = u64::BITS as usize;
    let mut held = [0u64; STEPS.div_ceil(WORD)];
    for &(step, calls) in cells.iter().flat_map(|(_, cell)| cell.durations.iter()) {
        let step = usize::from(step).min(STEPS - 1);
        counts[step] += u64::from(calls);
        held[step / WORD] |= 1 << (step % WORD);
    }
    let mut durations = Vec::with_capacity(held.iter().map(|word| word.count_ones() as usize).sum());
    for (place, mut word) in held.into_iter().enumerate() {
        while word != 0 {
            let step = place * WORD + word.trailing_zeros() as usize;
            durations.push((middle(step), std::mem::take(&mut counts[step])));
            word &= word - 1;
        }
    }
    durations
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
