//! Two runs side by side.

use super::columns::columns;
use super::quantity::{bytes, count, duration, percent};
use crate::monitor::Summary;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The calls of one (function, communicator, size class) in one run.
#[derive(Default)]
struct Side<'a> {
    calls: u64,
    /// Of all ranks.
    calls_all_ranks: u64,
    seconds_all_ranks: f64,
    algorithms: BTreeSet<&'a str>,
}

impl Side<'_> {
    /// Mean time of a call; none if there were no calls.
    fn mean(&self) -> Option<f64> {
        (self.calls_all_ranks > 0).then(|| self.seconds_all_ranks / self.calls_all_ranks as f64)
    }

    fn algorithm(&self) -> String {
        if self.algorithms.is_empty() {
            "-".to_owned()
        } else {
            self.algorithms.iter().copied().collect::<Vec<_>>().join("+")
        }
    }
}

/// Function, identity of the communicator, its title, fewest bytes.
type Key<'a> = (&'a str, &'a str, &'a str, u64);

/// What changed from run `a` to run `b`, by the time that it makes up per rank, most first.
pub fn diff(a: &Summary, b: &Summary) -> String {
    let mut text = String::new();
    totals(&mut text, a, b);
    let mut rows: Vec<(f64, Vec<String>)> =
        sides(a, b).into_iter().map(|(key, sides)| row(key, &sides, a, b)).collect();
    if rows.is_empty() {
        return text;
    }
    rows.sort_by(|left, right| right.0.abs().total_cmp(&left.0.abs()));
    let heads = ["function", "communicator", "bytes>=", "A runs", "B runs", "calls", "mean A", "mean B", "A/B", "B-A"];
    let mut table = vec![heads.map(str::to_owned).to_vec()];
    table.extend(rows.into_iter().map(|(_, fields)| fields));
    columns(&mut text, &[1, 3, 4, 0], &table);
    text += "calls: per rank, A/B where they differ; mean: of all calls; A/B above 1: B is faster;\n\
             B-A: time per rank that B takes more\n";
    text
}

fn totals(text: &mut String, a: &Summary, b: &Summary) {
    let mut line = |name: &str, run: &Summary| {
        writeln!(
            text,
            "{name}: run time {}, in collectives {} = {}; {} ranks, {}, mode {}, {}",
            duration(run.run_seconds),
            duration(run.collective_seconds.mean),
            percent(run.collective_share),
            run.ranks,
            run.mpi_library,
            run.mode,
            run.command
        )
        .expect("a string takes every line");
    };
    line("A", a);
    line("B", b);
}

fn sides<'a>(a: &'a Summary, b: &'a Summary) -> BTreeMap<Key<'a>, [Side<'a>; 2]> {
    let mut sides: BTreeMap<Key<'a>, [Side<'a>; 2]> = BTreeMap::new();
    for (place, run) in [a, b].into_iter().enumerate() {
        for row in &run.rows {
            let communicator = &run.communicators[row.communicator];
            let key =
                (row.function.as_str(), communicator.identity.as_str(), communicator.short_title(), row.bytes_from);
            let side = &mut sides.entry(key).or_default()[place];
            side.calls += row.calls;
            side.calls_all_ranks += row.calls_all_ranks;
            side.seconds_all_ranks += row.all_ranks_seconds();
            side.algorithms.insert(&row.algorithm);
        }
    }
    sides
}

/// The fields, and the time per rank that `b` takes more.
fn row(
    (function, _, title, from): Key<'_>,
    [a, b]: &[Side<'_>; 2],
    run_a: &Summary,
    run_b: &Summary,
) -> (f64, Vec<String>) {
    let per_rank = |side: &Side<'_>, run: &Summary| side.seconds_all_ranks / f64::from(run.ranks.max(1));
    let more = per_rank(b, run_b) - per_rank(a, run_a);
    let mean = |side: &Side<'_>| side.mean().map_or("-".to_owned(), duration);
    let ratio =
        a.mean().zip(b.mean()).filter(|(_, b)| *b > 0.0).map_or("-".to_owned(), |(a, b)| format!("{:.2}", a / b));
    let fields = vec![
        function.strip_prefix("MPI_").unwrap_or(function).to_owned(),
        title.to_owned(),
        bytes(from),
        a.algorithm(),
        if a.algorithms == b.algorithms { "same".to_owned() } else { b.algorithm() },
        if a.calls == b.calls { count(a.calls) } else { format!("{}/{}", count(a.calls), count(b.calls)) },
        mean(a),
        mean(b),
        ratio,
        duration(more),
    ];
    (more, fields)
}
