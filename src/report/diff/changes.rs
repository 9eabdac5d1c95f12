//! What changed from some runs to others.

use super::noise::{self, Change, Sample};
use crate::monitor::{Row, Summary};
use crate::report::names::Names;
use crate::report::text::on_one_line;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What changed from the runs `a` to the runs `b`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first side.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// How noise was told from differences, in words.
    pub told_apart_by: String,
    /// By function, communicator and size class: the largest change of time first.
    pub rows: Vec<ChangeRow>,
}

/// The runs of one side; times are means over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// How many.
    pub runs: usize,
    /// The program as it was started, of the first.
    pub command: String,
    /// Of the first.
    pub mpi_library: String,
    /// Of the first.
    pub mode: String,
    /// Ranks of the first.
    pub ranks: u32,
    /// Run time of a rank.
    pub run_seconds: f64,
    /// Time of a rank in collectives.
    pub collective_seconds: f64,
    /// That as a share of the run time, 0 to 1.
    pub collective_share: f64,
}

/// The calls of one (function, communicator, size class) on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRow {
    /// MPI's name of the function.
    pub function: String,
    /// Identity of the communicator.
    pub communicator: String,
    /// What people know it by.
    pub communicator_name: String,
    /// Fewest signature bytes per call of the size class.
    pub bytes_from: u64,
    /// Most signature bytes per call of the size class.
    pub bytes_to: u64,
    /// What ran.
    pub a_algorithms: Vec<String>,
    /// What ran.
    pub b_algorithms: Vec<String>,
    /// Calls per rank and run.
    pub a_calls: f64,
    /// Calls per rank and run.
    pub b_calls: f64,
    /// Mean time of a call; absent if there was none.
    pub a_mean_seconds: Option<f64>,
    /// Mean time of a call; absent if there was none.
    pub b_mean_seconds: Option<f64>,
    /// Mean time of `a` over that of `b`: above 1, calls of `b` are faster.
    pub ratio: Option<f64>,
    /// Time per rank and run that `b` takes more: by slower calls, and by more of them.
    pub more_seconds: f64,
    /// What the times of the calls say.
    pub change: Change,
}

/// Function, identity of the communicator, fewest bytes.
type Key<'a> = (&'a str, &'a str, u64);

/// The calls of a key in one run.
#[derive(Default)]
struct Calls<'a> {
    calls: u64,
    calls_all_ranks: u64,
    seconds_all_ranks: f64,
    bytes_to: u64,
    algorithms: BTreeSet<&'a str>,
    /// Durations and how many calls took that long.
    durations: Vec<(f64, u64)>,
}

impl<'a> Calls<'a> {
    fn add(&mut self, row: &'a Row) {
        self.calls += row.calls;
        self.calls_all_ranks += row.calls_all_ranks;
        self.seconds_all_ranks += row.all_ranks_seconds();
        self.bytes_to = row.bytes_to;
        self.algorithms.insert(&row.algorithm);
        self.durations.extend(&row.durations);
    }

    /// Nothing if there were no calls.
    fn sample(&self) -> Option<Sample> {
        (self.calls_all_ranks > 0).then(|| Sample {
            mean: self.seconds_all_ranks / self.calls_all_ranks as f64,
            calls: self.calls,
            deviation: noise::deviation(&self.durations),
        })
    }
}

/// What changed from the runs `a`, of the same program, to the runs `b`.
pub fn diff(a: &[Summary], b: &[Summary]) -> Difference {
    let names: Vec<Names> = a.iter().chain(b).map(Names::of).collect();
    let mut cells: BTreeMap<Key<'_>, (&str, Vec<Calls<'_>>)> = BTreeMap::new();
    for (place, run) in a.iter().chain(b).enumerate() {
        for row in &run.rows {
            let communicator = &run.communicators[row.communicator];
            let key = (row.function.as_str(), communicator.identity.as_str(), row.bytes_from);
            let (name, calls) = cells.entry(key).or_default();
            if name.is_empty() {
                *name = names[place].get(row.communicator);
            }
            calls.resize_with(a.len() + b.len(), Calls::default);
            calls[place].add(row);
        }
    }
    let ranks = |runs: &[Summary]| runs.first().map_or(1, |run| run.per_rank.len().max(1)) as f64;
    let ranks = [ranks(a), ranks(b)];
    let rows = cells.into_iter().map(|(key, (name, calls))| row(key, name, calls.split_at(a.len()), ranks));
    let mut rows: Vec<ChangeRow> = rows.collect();
    rows.sort_by(|left, right| right.more_seconds.abs().total_cmp(&left.more_seconds.abs()));
    Difference { a: side(a), b: side(b), told_apart_by: noise::told_apart_by(a.len(), b.len()), rows }
}

fn side(runs: &[Summary]) -> Side {
    let mean = |of: fn(&Summary) -> f64| runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64;
    let Some(first) = runs.first() else { return Side::default() };
    Side {
        runs: runs.len(),
        command: first.command.clone(),
        mpi_library: on_one_line(&first.mpi_library),
        mode: first.mode.clone(),
        ranks: first.ranks,
        run_seconds: mean(|run| run.run_seconds),
        collective_seconds: mean(|run| run.collective_seconds.mean),
        collective_share: mean(|run| run.collective_share),
    }
}

fn row(
    (function, identity, bytes_from): Key<'_>,
    name: &str,
    (a, b): (&[Calls<'_>], &[Calls<'_>]),
    [ranks_of_a, ranks_of_b]: [f64; 2],
) -> ChangeRow {
    let samples = |runs: &[Calls<'_>]| runs.iter().filter_map(Calls::sample).collect::<Vec<Sample>>();
    let mean_calls =
        |runs: &[Calls<'_>]| runs.iter().map(|run| run.calls as f64).sum::<f64>() / runs.len().max(1) as f64;
    let per_rank = |runs: &[Calls<'_>], ranks: f64| {
        runs.iter().map(|run| run.seconds_all_ranks).sum::<f64>() / ranks / runs.len().max(1) as f64
    };
    let algorithms = |runs: &[Calls<'_>]| {
        let names: BTreeSet<&str> = runs.iter().flat_map(|run| run.algorithms.iter().copied()).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    let (of_a, of_b) = (samples(a), samples(b));
    let (a_mean, b_mean) = (noise::mean(&of_a), noise::mean(&of_b));
    ChangeRow {
        function: function.to_owned(),
        communicator: identity.to_owned(),
        communicator_name: name.to_owned(),
        bytes_from,
        bytes_to: a.iter().chain(b).map(|run| run.bytes_to).max().unwrap_or(0),
        a_algorithms: algorithms(a),
        b_algorithms: algorithms(b),
        a_calls: mean_calls(a),
        b_calls: mean_calls(b),
        a_mean_seconds: a_mean,
        b_mean_seconds: b_mean,
        ratio: a_mean.zip(b_mean).filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b),
        more_seconds: per_rank(b, ranks_of_b) - per_rank(a, ranks_of_a),
        change: noise::judge(&of_a, &of_b),
    }
}
