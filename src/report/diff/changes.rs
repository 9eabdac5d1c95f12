//! What changed from some runs to others.

use super::noise::{self, Change, Sample};
use crate::monitor::{Row, Summary};
use crate::report::names::Names;
use crate::report::quantity::{duration, percent, ranges, several};
use crate::report::text::on_one_line;
use crate::report::totals;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What changed from the runs `a` to the runs `b`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first side.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// Whether run times differ by more than runs of a side do; absent unless both sides have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_change: Option<Change>,
    /// The same of the times in collectives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collective_change: Option<Change>,
    /// What part of the runs was recorded, in words; absent if all of it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// Which calls of either side are in no row, in words; absent if all are in rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_no_row: Option<String>,
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
    /// Of each.
    pub mode: String,
    /// Ranks of each.
    pub ranks: u32,
    /// Those of them that its reports know, where they are not of all ranks at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_ranks: Option<Vec<u32>>,
    /// Run time of a rank.
    pub run_seconds: f64,
    /// For how long of it calls were recorded (`MPI_Pcontrol`); absent if that is the whole of every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_seconds: Option<f64>,
    /// Time of a rank in collectives.
    pub collective_seconds: f64,
    /// That as a share of the run time, as far as it was recorded; above 1 where threads make calls at the same time.
    pub collective_share: f64,
}

impl Side {
    /// The part of the run time in which calls were recorded.
    fn recorded_part(&self) -> f64 {
        self.recorded_seconds.map_or(1.0, |seconds| seconds / self.run_seconds.max(f64::MIN_POSITIVE))
    }
}

/// The calls of one (function, communicator, size class) on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRow {
    /// MPI's name of the function.
    pub function: String,
    /// Identity of the communicator.
    pub communicator: String,
    /// The name that the program gave it, in the first run in which it has one; absent if it gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communicator_name: Option<String>,
    /// What people know it by, different for each.
    pub communicator_title: String,
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
    /// Mean time of a call, over all calls of all runs; absent if there was none.
    pub a_mean_seconds: Option<f64>,
    /// Mean time of a call, over all calls of all runs; absent if there was none.
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
    /// The most of any row.
    in_rows: u64,
    /// Of the communicator.
    ranks: u32,
    calls_all_ranks: u64,
    seconds_all_ranks: f64,
    bytes_to: u64,
    algorithms: BTreeSet<&'a str>,
    /// Durations and how many calls took that long.
    durations: Vec<(f64, u64)>,
}

impl<'a> Calls<'a> {
    /// A row of a communicator of `ranks` ranks.
    fn add(&mut self, row: &'a Row, ranks: u32) {
        self.in_rows = self.in_rows.max(row.calls);
        self.ranks = ranks;
        self.calls_all_ranks += row.calls_all_ranks;
        self.seconds_all_ranks += row.all_ranks_seconds();
        self.bytes_to = row.bytes_to;
        self.algorithms.insert(&row.algorithm);
        self.durations.extend(&row.durations);
    }

    /// Calls of a rank. Rows may hold the calls of different ranks: of a collective that one rank's buffer in GPU memory
    /// makes another one there.
    fn calls(&self) -> u64 {
        self.in_rows.max(self.calls_all_ranks.div_ceil(u64::from(self.ranks.max(1))))
    }

    /// Mean time of a call of those runs; nothing if there were no calls. Of runs with more calls, it tells more.
    fn mean(runs: &[Self]) -> Option<f64> {
        let calls: u64 = runs.iter().map(|run| run.calls_all_ranks).sum();
        (calls > 0).then(|| runs.iter().map(|run| run.seconds_all_ranks).sum::<f64>() / calls as f64)
    }

    /// Nothing if there were no calls.
    fn sample(&self) -> Option<Sample> {
        (self.calls_all_ranks > 0).then(|| Sample {
            mean: self.seconds_all_ranks / self.calls_all_ranks as f64,
            calls: self.calls(),
            deviation: noise::deviation(&self.durations),
        })
    }
}

/// The calls of a key in all runs.
#[derive(Default)]
struct Cell<'a> {
    /// What the communicator is called.
    title: &'a str,
    /// The name that the program gave it.
    name: Option<&'a str>,
    runs: Vec<Calls<'a>>,
}

/// What changed from the runs `a`, of the same program, to the runs `b`.
///
/// # Errors
/// Runs of a side that are not alike, and reports of some ranks against those of others.
pub fn diff(a: &[Summary], b: &[Summary]) -> Result<Difference, String> {
    check(a, b)?;
    let names: Vec<Names> = a.iter().chain(b).map(Names::of).collect();
    let mut cells: BTreeMap<Key<'_>, Cell<'_>> = BTreeMap::new();
    for (place, run) in a.iter().chain(b).enumerate() {
        for row in &run.rows {
            let communicator = &run.communicators[row.communicator];
            let key = (row.function.as_str(), communicator.identity.as_str(), row.bytes_from);
            let cell = cells.entry(key).or_default();
            if cell.title.is_empty() {
                cell.title = names[place].get(row.communicator);
            }
            cell.name = cell.name.or(communicator.name.as_deref());
            cell.runs.resize_with(a.len() + b.len(), Calls::default);
            cell.runs[place].add(row, communicator.size);
        }
    }
    let ranks: Vec<f64> = a.iter().chain(b).map(|run| run.per_rank.len().max(1) as f64).collect();
    let ranks = ranks.split_at(a.len());
    let rows = cells.into_iter().map(|(key, cell)| row(key, &cell, a.len(), ranks));
    let mut rows: Vec<ChangeRow> = rows.collect();
    rows.sort_by(|left, right| right.more_seconds.abs().total_cmp(&left.more_seconds.abs()));
    let of_sums = |seconds: fn(&Summary) -> f64| {
        let of = |runs: &[Summary]| runs.iter().map(seconds).collect::<Vec<_>>();
        noise::judge_sums(&of(a), &of(b))
    };
    let (a_side, b_side) = (side(a), side(b));
    Ok(Difference {
        recorded: recorded(&a_side, &b_side),
        in_no_row: in_no_row(a, b),
        a: a_side,
        b: b_side,
        run_change: of_sums(|run| run.run_seconds),
        collective_change: of_sums(|run| run.collective_seconds.mean),
        told_apart_by: noise::told_apart_by(a.len(), b.len()),
        rows,
    })
}

/// Whether means over the runs of each side say something, and the sides tell of the same ranks, unless each tells of
/// all of its own.
fn check(a: &[Summary], b: &[Summary]) -> Result<(), String> {
    for (side, runs) in [("A", a), ("B", b)] {
        let Some((first, further)) = runs.split_first() else { continue };
        for (place, run) in further.iter().enumerate() {
            // To the nanosecond: what it differs in from itself would be taken for all noise that there is.
            if let Some(same) = runs[..=place].iter().position(|other| other == run && !run.rows.is_empty()) {
                return Err(format!(
                    "numbers {} and {} of {side} are the same run; accepted on a side: each run once",
                    same + 1,
                    place + 2
                ));
            }
            let told: [fn(&Summary) -> String; 5] = [
                |run| format!("program {}", program(run)),
                |run| on_one_line(&run.mpi_library),
                |run| format!("mode {}", run.mode),
                |run| several(run.ranks.into(), "rank"),
                known_in_words,
            ];
            if let Some(told) = told.iter().find(|told| told(first) != told(run)) {
                return Err(format!(
                    "runs of {side} are not alike: the first has {}, number {} has {}; accepted on a side: runs of one \
                     program, MPI library, mode and number of ranks, with reports of the same ranks",
                    told(first),
                    place + 2,
                    told(run)
                ));
            }
        }
    }
    if let (Some(a), Some(b)) = (a.first(), b.first())
        && (known(a).len() < a.ranks as usize || known(b).len() < b.ranks as usize)
        && known(a) != known(b)
    {
        return Err(format!(
            "A has {}, B has {}; accepted: reports of the same ranks, or of all ranks on both sides",
            known_in_words(a),
            known_in_words(b)
        ));
    }
    Ok(())
}

/// The file that was started, wherever it lay.
fn program(run: &Summary) -> &str {
    let path = run.command.split_whitespace().next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or(path)
}

/// The ranks that the report tells of.
fn known(run: &Summary) -> Vec<u32> {
    run.per_rank.iter().map(|row| row.rank).collect()
}

fn known_in_words(run: &Summary) -> String {
    let known = known(run);
    let all = several(run.ranks.into(), "rank");
    if known.len() < run.ranks as usize {
        format!("{} of {all} ({})", known.len(), ranges(&known))
    } else {
        format!("all of {all}")
    }
}

/// In words, what part of each side's runs was recorded. Parts that differ may hold different calls.
fn recorded(a: &Side, b: &Side) -> Option<String> {
    if a.recorded_seconds.is_none() && b.recorded_seconds.is_none() {
        return None;
    }
    let (of_a, of_b) = (percent(a.recorded_part()), percent(b.recorded_part()));
    Some(if of_a == of_b {
        format!("recorded (MPI_Pcontrol): {of_a} of the run time on both sides; shares are of that")
    } else {
        format!("recorded (MPI_Pcontrol): different parts, {of_a} of A's run time, {of_b} of B's; shares are of that")
    })
}

/// In words, the calls of each side for which memory had no room: they may be among those that only the other side seems
/// to have made.
fn in_no_row(a: &[Summary], b: &[Summary]) -> Option<String> {
    let of_side = |(side, runs): (&str, &[Summary])| {
        let (mut lost, mut seconds) = (0, 0.0);
        for total in runs.iter().filter_map(totals::in_no_row) {
            (lost, seconds) = (lost + total.calls, seconds + total.seconds);
        }
        (lost > 0).then(|| format!("{} of {side} ({} in them)", several(lost, "call"), duration(seconds)))
    };
    let sides: Vec<_> = [("A", a), ("B", b)].into_iter().filter_map(of_side).collect();
    let words = sides.join(", ");
    (!sides.is_empty())
        .then(|| format!("in no row (COLLIE_MEMORY): {words}; \"only A\" and \"only B\" may be due to that"))
}

fn side(runs: &[Summary]) -> Side {
    let mean = |of: fn(&Summary) -> f64| runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64;
    let Some(first) = runs.first() else { return Side::default() };
    let (whole, collective) = (mean(Summary::whole_seconds), mean(|run| run.collective_seconds.mean));
    Side {
        runs: runs.len(),
        command: match runs.iter().all(|run| run.command == first.command) {
            true => on_one_line(&first.command),
            false => format!("{} (others with other arguments)", on_one_line(&first.command)),
        },
        mpi_library: on_one_line(&first.mpi_library),
        mode: first.mode.clone(),
        ranks: first.ranks,
        known_ranks: runs.iter().any(|run| run.partial.is_some()).then(|| known(first)),
        run_seconds: mean(|run| run.run_seconds),
        recorded_seconds: runs.iter().any(|run| run.recorded_seconds.is_some()).then_some(whole),
        collective_seconds: collective,
        collective_share: if whole > 0.0 { collective / whole } else { 0.0 },
    }
}

fn row(
    (function, identity, bytes_from): Key<'_>,
    cell: &Cell<'_>,
    runs_of_a: usize,
    (ranks_of_a, ranks_of_b): (&[f64], &[f64]),
) -> ChangeRow {
    let (a, b) = cell.runs.split_at(runs_of_a);
    let samples = |runs: &[Calls<'_>]| runs.iter().filter_map(Calls::sample).collect::<Vec<Sample>>();
    let mean_calls =
        |runs: &[Calls<'_>]| runs.iter().map(|run| run.calls() as f64).sum::<f64>() / runs.len().max(1) as f64;
    let per_rank = |runs: &[Calls<'_>], ranks: &[f64]| {
        let seconds = runs.iter().zip(ranks).map(|(run, ranks)| run.seconds_all_ranks / ranks);
        seconds.sum::<f64>() / runs.len().max(1) as f64
    };
    let algorithms = |runs: &[Calls<'_>]| {
        let names: BTreeSet<&str> = runs.iter().flat_map(|run| run.algorithms.iter().copied()).collect();
        names.into_iter().map(str::to_owned).collect()
    };
    let (a_mean, b_mean) = (Calls::mean(a), Calls::mean(b));
    ChangeRow {
        function: function.to_owned(),
        communicator: identity.to_owned(),
        communicator_name: cell.name.map(str::to_owned),
        communicator_title: cell.title.to_owned(),
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
        change: noise::judge(&samples(a), &samples(b)).borne_out_by(a_mean, b_mean),
    }
}
