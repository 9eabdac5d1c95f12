//! What mode `compare` found in a run of a real program, as cells like those of a benchmark: native and Collie's
//! algorithm, by size class.

use crate::algorithm::{Operation, all, parse_choice};
use crate::bench::cell::{Cell, Datatype};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, Doubt, InDoubt, Report, SCHEMA_VERSION, VariantRow};
use crate::bench::statistics::{Ratio, Spread};
use crate::monitor::{CommunicatorRow, ComparisonRow, LimitsRecord, RankRow, Row, Summary};
use crate::report::compared_with;
use crate::schedule::limits::{Limit, Way};
use crate::selection::{Transport, defaults, short_name};
use std::collections::{BTreeMap, BTreeSet};

/// The cells of a run; none if it was not in mode `compare`, or nothing could be compared.
pub fn of_comparisons(summary: &Summary) -> Report {
    let (mut cells, mut in_doubt) = (Vec::new(), Vec::new());
    for found in summary.comparisons.iter().filter_map(|row| cell(summary, row)) {
        match found {
            Ok(cell) => cells.push(cell),
            Err(doubt) => in_doubt.push(doubt),
        }
    }
    Report {
        schema_version: SCHEMA_VERSION,
        collie_version: summary.collie_version.clone(),
        mpi_library: short_name(&summary.mpi_library),
        runs: 1,
        protocol_limits: summary.protocol_limits.as_ref().map(limits),
        cells,
        in_doubt,
        ..Report::default()
    }
}

/// None of a function that is no collective of ours, and of calls that none of ours carried out.
///
/// # Errors
/// The verdict speaks of no algorithm, and why.
fn cell(summary: &Summary, row: &ComparisonRow) -> Option<Result<CellRow, InDoubt>> {
    let operation = Operation::ALL.into_iter().find(|operation| operation.row().mpi_name == row.function)?;
    let communicator = summary.communicators.get(row.communicator)?;
    let rows = compared_with(summary, row, operation).into_iter().map(|place| summary.rows[place].algorithm.as_str());
    let algorithms = Vec::from_iter(rows.collect::<BTreeSet<&str>>());
    let size_class = operation.has_data().then_some((row.bytes_from as usize, row.bytes_to as usize));
    let doubt = |why| Some(Err(InDoubt { operation, size_class, ranks: communicator.size, why }));
    if operation.has_own_counts() {
        return doubt(Doubt::AllLengths);
    }
    let algorithm = match algorithms[..] {
        [] => return None,
        [algorithm] => algorithm,
        _ => return doubt(Doubt::Several(algorithms.into_iter().map(str::to_owned).collect())),
    };
    if let Err(error) = parse_choice(operation, algorithm) {
        return doubt(Doubt::Unknown(error.to_string()));
    }
    let (Some(low), Some(high)) = (row.result.ratio_low, row.result.ratio_high) else {
        return doubt(Doubt::TooFewEpochs);
    };
    let Some(ranks_per_node) = ranks_per_node(summary, communicator) else { return doubt(Doubt::UnknownRanks) };
    let bytes = |class: (usize, usize)| {
        mean_bytes(summary, row).map_or_else(|| middle(class), |mean| mean.clamp(class.0, class.1))
    };
    let spread = |median: f64| Spread { median, p10: median, p90: median, min: median, mean: median };
    // Of epochs that waited little for late ranks, as benchmarks do; in older reports of those in the middle. Native's
    // by the ratio of neighbouring epochs: those of all epochs are of calls that may be far from each other.
    let ratio = row.result.ratio;
    let collie = row.result.collie_p10_seconds.unwrap_or(row.result.native_median_seconds / ratio);
    let transport = transport(summary, communicator, algorithm);
    let variant = |name: &str, median, against_native| VariantRow {
        transport: if name == NATIVE { Transport::Messages } else { transport },
        variant: name.to_owned(),
        algorithm: name.to_owned(),
        seconds: spread(median),
        against_native,
        jobs: None,
    };
    let against = Ratio { ratio, low: Some(low), high: Some(high) };
    Some(Ok(CellRow {
        cell: Cell {
            operation,
            datatype: Datatype::Byte,
            root: 0,
            bytes: size_class.map_or(0, bytes),
            commutative: row.commutative,
            user_defined: row.reduce_local,
            calls: Some(row.calls),
            share: None,
        },
        size_class,
        ranks: communicator.size,
        ranks_per_node,
        oversubscribed: is_oversubscribed(summary, row.communicator),
        rounds: u64::from(row.result.pairs),
        bound_seconds: None,
        variants: vec![variant(NATIVE, collie * ratio, None), variant(algorithm, collie, Some(against))],
        left_out: Vec::new(),
        wrong: Vec::new(),
    }))
}

/// Bytes of a call of the size class in the mean, of all its calls; nothing where no bytes were counted.
fn mean_bytes(summary: &Summary, row: &ComparisonRow) -> Option<usize> {
    let alike = |known: &&Row| {
        (&known.function, known.communicator, known.bytes_from) == (&row.function, row.communicator, row.bytes_from)
    };
    let (calls, bytes) = summary
        .rows
        .iter()
        .filter(alike)
        .fold((0, 0.0), |(calls, bytes), row| (calls + row.calls_all_ranks, bytes + row.bytes as f64));
    (calls > 0 && bytes > 0.0).then(|| (bytes / calls as f64).round() as usize)
}

/// The middle of a size class, in ratio.
fn middle((from, to): (usize, usize)) -> usize {
    ((from.max(1) as f64) * to.max(1) as f64).sqrt() as usize
}

/// How the messages of an algorithm travelled within a node: what lives in shared memory sends none by MPI.
fn transport(summary: &Summary, communicator: &CommunicatorRow, algorithm: &str) -> Transport {
    let name = algorithm.split(':').next().unwrap_or_default();
    let lives_there = all().any(|row| row.name == name && row.needs.shared_memory);
    let travelled_there = !summary.shared_traffic.is_empty() && communicator.no_shared_memory.is_none();
    if lives_there || travelled_there { Transport::Shared } else { Transport::Messages }
}

/// Whether ranks outnumber the cores of some node: as its ranks say, or, where an older Collie wrote the report, which
/// does not, as the table says that decided its calls; without either it is taken not to be.
fn is_oversubscribed(summary: &Summary, communicator: usize) -> bool {
    let members = summary.communicators.get(communicator).map_or(&[][..], |row| &row.members);
    let is_crowded = |row: &RankRow| row.oversubscribed && members.contains(&row.rank);
    let calls = summary.rows.iter().filter(|row| row.communicator == communicator);
    let table = format!(" {}:", defaults::OVERSUBSCRIBED);
    summary.per_rank.iter().any(is_crowded) || calls.into_iter().any(|row: &Row| row.decided_by.contains(&table))
}

/// What the report of a run says of them.
fn limits(record: &LimitsRecord) -> Vec<Limit> {
    let one = |(place, bytes): (usize, &u64)| {
        let longest = record.longest.get(place).map_or(2, |longest| longest / (*bytes).max(1));
        let way = record.ways.get(place).filter(|word| *word != Way::Both.word());
        let way = way.map_or_else(String::new, |word| format!(":{word}"));
        format!("{bytes}x{}{way}", longest.next_power_of_two().max(2)).parse().ok()
    };
    record.bytes.iter().enumerate().filter_map(one).collect()
}

/// Ranks on each node, by the hosts of a communicator's members.
fn ranks_per_node(summary: &Summary, communicator: &CommunicatorRow) -> Option<Vec<u32>> {
    let mut nodes: BTreeMap<&str, u32> = BTreeMap::new();
    for member in &communicator.members {
        let rank = summary.per_rank.iter().find(|row| row.rank == *member)?;
        *nodes.entry(&rank.host).or_default() += 1;
    }
    (nodes.values().sum::<u32>() == communicator.size).then(|| nodes.into_values().collect())
}
