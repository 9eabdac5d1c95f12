//! What was measured, by one job or several. This is what the JSON file holds; times in seconds.

#![forbid(unsafe_code)]

use super::cell::{Cell, CellKey};
use super::pattern::Pattern;
use super::program::{MODES, NATIVE, is_auto};
use super::statistics::{self, Ratio, Spread};
use crate::algorithm::Operation;
use crate::schedule::limits::{Limit, ProtocolLimits};
use crate::selection::Transport;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the JSON schema that [`Report`] is; goes up when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 2;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of Collie.
    pub collie_version: String,
    /// The MPI library's own version text, its first line.
    pub mpi_library: String,
    /// Whether every call took other buffers.
    pub cold: bool,
    /// How calls followed one another.
    #[serde(default, skip_serializing_if = "Pattern::is_alone")]
    pub pattern: Pattern,
    /// Number of jobs that each cell was measured in.
    pub runs: u32,
    /// Seed of the first job.
    pub seed: u64,
    /// Share of the plan's time in collectives whose calls the cells of so many ranks stand for; empty without a plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub planned_shares: BTreeMap<u32, f64>,
    /// Beyond which lengths a message within a node travelled in pieces; empty where none did, absent where nobody
    /// wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_limits: Option<Vec<Limit>>,
    /// Cells in the order of ranks, operation, datatype, root, bytes.
    pub cells: Vec<CellRow>,
    /// What Collie adds to calls that it passes on; empty unless that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overheads: Vec<OverheadRow>,
    /// What was found in a run and is of no cell.
    #[serde(skip)]
    pub in_doubt: Vec<InDoubt>,
}

/// A verdict that speaks of no algorithm of Collie's.
#[derive(Clone, Debug, PartialEq)]
pub struct InDoubt {
    /// What was called.
    pub operation: Operation,
    /// The fewest and the most bytes; none of an operation without data.
    pub size_class: Option<(usize, usize)>,
    /// Number of ranks.
    pub ranks: u32,
    /// Why it does not.
    pub why: Doubt,
}

/// Why a verdict speaks of no algorithm.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// All of these carried out such calls.
    Several(Vec<String>),
    /// This version has none of that name, or not with these parameters, as it says.
    Unknown(String),
    /// Each rank passes counts of its own: calls of all lengths count as one kind, and one may be faster for the short ones
    /// and slower for the long ones.
    AllLengths,
    /// Too few pairs of epochs for an interval.
    TooFewEpochs,
    /// Ranks of the communicator are missing in the report, so that it does not tell how they lie on nodes.
    UnknownRanks,
}

impl Doubt {
    /// The same in words.
    pub fn words(&self) -> String {
        match self {
            Self::Several(algorithms) => format!("carried out by several algorithms: {}", algorithms.join(", ")),
            Self::Unknown(error) => error.clone(),
            Self::AllLengths => "calls of all lengths as one".to_owned(),
            Self::TooFewEpochs => "compared too few times".to_owned(),
            Self::UnknownRanks => "on nodes that are not told".to_owned(),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// What was called.
    #[serde(flatten)]
    pub cell: Cell,
    /// Of the calls of a program, the fewest and the most bytes of those that were taken together; `bytes` is between
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_class: Option<(usize, usize)>,
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks on each node.
    pub ranks_per_node: Vec<u32>,
    /// Whether ranks outnumber the cores of a node.
    pub oversubscribed: bool,
    /// Calls of each variant that were timed, all jobs.
    pub rounds: u64,
    /// What the link's bandwidth allows at best; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_seconds: Option<f64>,
    /// Native first.
    pub variants: Vec<VariantRow>,
    /// What was not measured, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<(String, String)>,
    /// Variants whose result was not the native one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

/// One of the things compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantRow {
    /// `native`, `auto`, or the algorithm as it was asked for; with `--transport` a transport in the place of `auto`,
    /// and before an algorithm.
    pub variant: String,
    /// What ran, with all its parameters.
    pub algorithm: String,
    /// How its messages travelled within a node; absent if by MPI.
    #[serde(default, skip_serializing_if = "Transport::is_default")]
    pub transport: Transport,
    /// Times of the slowest rank, over calls.
    pub seconds: Spread,
    /// Native median over this one's: above 1 this is faster. Absent for native.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_native: Option<Ratio>,
    /// Number of jobs that it was measured in; absent if in all jobs of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
}

impl VariantRow {
    /// Whether Collie decided who carries the calls out, so that this is the time of no algorithm that was asked for.
    pub fn is_mode(&self) -> bool {
        let name = self.variant.rsplit(": ").next().unwrap_or_default();
        is_auto(&self.variant) || MODES.contains(&name)
    }
}

/// What Collie adds to a call that it passes on to the native library. Nanoseconds per call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverheadRow {
    /// The operation, on eight bytes.
    pub operation: Operation,
    /// Number of ranks.
    pub ranks: u32,
    /// `PMPI_X`: least and median over windows.
    pub native: (f64, f64),
    /// `MPI_X` of Collie, which passes the call on.
    pub through_collie: (f64, f64),
}

impl OverheadRow {
    /// What is added: difference of the leasts, and of the medians.
    pub fn added(&self) -> (f64, f64) {
        (self.through_collie.0 - self.native.0, self.through_collie.1 - self.native.1)
    }
}

/// Where a cell stands in the order.
type Key = (u32, Vec<u32>, bool, CellKey);

impl CellRow {
    fn key(&self) -> Key {
        (self.ranks, self.ranks_per_node.clone(), self.oversubscribed, self.cell.key())
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&VariantRow> {
        self.variants.iter().find(|row| row.variant == name)
    }

    /// The native collective.
    pub fn native(&self) -> Option<&VariantRow> {
        self.variant(NATIVE)
    }
}

impl Report {
    /// On which MPI library it was measured, and how, where that is not the usual way.
    pub fn measured_on(&self) -> String {
        let cold = self.cold.then(|| "cold buffers".to_owned());
        let pattern = Some(self.pattern.words().join(" ")).filter(|words| !words.is_empty());
        [Some(self.mpi_library.clone()), cold, pattern].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Those of [`protocol_limits`](Self::protocol_limits).
    pub fn limits(&self) -> ProtocolLimits {
        ProtocolLimits::of(self.protocol_limits.iter().flatten().copied()).unwrap_or(ProtocolLimits::NONE)
    }

    /// Leaves out, here or of `earlier`, whichever holds less, the cells that both hold with the same measurements; how
    /// many these were. A copy of a report holds the same, in JSON and in CSV, whose rows may have been sorted, and some
    /// left out.
    pub fn leave_out_copies(&mut self, earlier: &mut Self) -> usize {
        if self.mpi_library != earlier.mpi_library {
            return 0;
        }
        // Communicators of a run that are alike have cells of one key.
        let mut known: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (place, cell) in earlier.cells.iter().enumerate() {
            known.entry(cell.key()).or_default().push(place);
        }
        let is_same = |one: &VariantRow, other: &VariantRow| {
            (&one.variant, one.transport, one.seconds) == (&other.variant, other.transport, other.seconds)
        };
        let holds = |more: &CellRow, less: &CellRow| {
            less.variants.iter().all(|row| more.variants.iter().any(|other| is_same(row, other)))
        };
        let (mut held_here, mut copies) = (BTreeSet::<usize>::new(), 0);
        self.cells.retain(|cell| {
            let alike = known.get(&cell.key()).map_or(&[][..], Vec::as_slice);
            if alike.iter().any(|place| !held_here.contains(place) && holds(&earlier.cells[*place], cell)) {
                copies += 1;
                return false;
            }
            held_here.extend(alike.iter().filter(|place| holds(cell, &earlier.cells[**place])));
            true
        });
        let mut place = 0;
        earlier.cells.retain(|_| {
            place += 1;
            !held_here.contains(&(place - 1))
        });
        copies + held_here.len()
    }

    /// Several jobs' reports as one: of the same cell medians of the medians, and the ratios over the jobs.
    pub fn merge(reports: Vec<Self>) -> Self {
        let mut all = Self::default();
        let mut cells: BTreeMap<Key, Vec<CellRow>> = BTreeMap::new();
        let mut overheads: Vec<Vec<OverheadRow>> = Vec::new();
        let mut shares = BTreeMap::new();
        for report in reports {
            let (found, passed) = (report.cells.clone(), report.overheads.clone());
            shares.extend(&report.planned_shares);
            if all.schema_version == 0 {
                all = Self { cells: Vec::new(), overheads: Vec::new(), ..report };
            }
            for cell in found {
                cells.entry(cell.key()).or_default().push(cell);
            }
            for row in passed {
                let same = |known: &OverheadRow| (known.operation, known.ranks) == (row.operation, row.ranks);
                match overheads.iter_mut().find(|known| same(&known[0])) {
                    Some(known) => known.push(row),
                    None => overheads.push(vec![row]),
                }
            }
        }
        all.planned_shares = shares;
        all.runs = cells.values().map(Vec::len).chain(overheads.iter().map(Vec::len)).max().unwrap_or(0) as u32;
        all.cells = cells.values().map(|same| merge_cell(same, all.runs as usize)).collect();
        all.overheads = overheads.iter().map(|same| merge_overhead(same)).collect();
        all.overheads.sort_by_key(|row| (row.ranks, row.operation));
        all
    }
}

/// Of the same cell, in jobs of which there were `runs`, each with this cell or without.
fn merge_cell(same: &[CellRow], runs: usize) -> CellRow {
    let mut merged = same[0].clone();
    merged.rounds = same.iter().map(|cell| cell.rounds).sum();
    merged.wrong = same.iter().flat_map(|cell| cell.wrong.clone()).collect();
    merged.wrong.sort();
    merged.wrong.dedup();
    let is_same =
        |one: &VariantRow, other: &VariantRow| (&one.variant, one.transport) == (&other.variant, other.transport);
    // Jobs may have measured different ones.
    for row in same.iter().flat_map(|cell| &cell.variants) {
        if !merged.variants.iter().any(|known| is_same(known, row)) {
            merged.variants.push(row.clone());
        }
    }
    for left_out in same.iter().flat_map(|cell| &cell.left_out) {
        if !merged.left_out.contains(left_out) {
            merged.left_out.push(left_out.clone());
        }
    }
    let variants = &merged.variants;
    merged.left_out.retain(|(name, _)| variants.iter().all(|row| row.variant != *name));
    for row in &mut merged.variants {
        let all: Vec<_> = same.iter().filter_map(|cell| cell.variants.iter().find(|one| is_same(one, row))).collect();
        let over = |part: fn(&Spread) -> f64| {
            statistics::median(&all.iter().map(|one| part(&one.seconds)).collect::<Vec<_>>())
        };
        // The time of all calls over their number, of each job what it made.
        let of_it = |cell: &&CellRow| cell.variants.iter().any(|one| is_same(one, row));
        let calls: f64 = same.iter().filter(of_it).map(|cell| cell.rounds.max(1) as f64).sum();
        let of_job = |cell: &CellRow| {
            let one = cell.variants.iter().find(|one| is_same(one, row));
            one.map_or(0.0, |one| one.seconds.mean * cell.rounds.max(1) as f64)
        };
        let mean: f64 = same.iter().map(of_job).sum();
        row.seconds = Spread {
            median: over(|spread| spread.median),
            p10: over(|spread| spread.p10),
            p90: over(|spread| spread.p90),
            min: all.iter().map(|one| one.seconds.min).fold(f64::INFINITY, f64::min),
            mean: mean / calls,
        };
        let ratios: Vec<_> = all.iter().filter_map(|one| one.against_native).collect();
        row.against_native = statistics::over_runs(&ratios);
        row.jobs = (all.len() < runs).then_some(all.len() as u32);
        // What differs between jobs a single one of them does not know.
        if let (Some(1), Some(ratio)) = (row.jobs, &mut row.against_native) {
            (ratio.low, ratio.high) = (None, None);
        }
    }
    merged
}

fn merge_overhead(same: &[OverheadRow]) -> OverheadRow {
    let over = |part: fn(&OverheadRow) -> (f64, f64)| {
        let least = same.iter().map(|row| part(row).0).fold(f64::INFINITY, f64::min);
        (least, statistics::median(&same.iter().map(|row| part(row).1).collect::<Vec<_>>()))
    };
    OverheadRow { native: over(|row| row.native), through_collie: over(|row| row.through_collie), ..same[0].clone() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::cell::Datatype;
    use super::*;

    /// A cell in which auto takes `microseconds`, and native ten.
    pub fn row(operation: Operation, bytes: usize, ranks: u32, microseconds: f64) -> CellRow {
        let spread = |median: f64| Spread {
            median: median / 1e6,
            p10: median * 0.9 / 1e6,
            p90: median * 1.5 / 1e6,
            min: median * 0.8 / 1e6,
            mean: median * 1.1 / 1e6,
        };
        let variant = |variant: &str, algorithm: &str, microseconds: f64, ratio: Option<f64>| VariantRow {
            variant: variant.to_owned(),
            algorithm: algorithm.to_owned(),
            transport: Transport::Messages,
            seconds: spread(microseconds),
            against_native: ratio.map(|ratio| Ratio { ratio, low: Some(ratio * 0.9), high: Some(ratio * 1.1) }),
            jobs: None,
        };
        CellRow {
            cell: Cell::new(operation, Datatype::Double, 0, bytes).unwrap(),
            size_class: None,
            ranks,
            ranks_per_node: vec![ranks],
            oversubscribed: false,
            rounds: 100,
            bound_seconds: None,
            variants: vec![
                variant("native", "native", 10.0, None),
                variant("auto", "ring:segment=none", microseconds, Some(10.0 / microseconds)),
            ],
            left_out: vec![("rabenseifner".to_owned(), "needs at least 4 units, not 1".to_owned())],
            wrong: Vec::new(),
        }
    }

    /// A report of these cells.
    pub fn report(cells: Vec<CellRow>) -> Report {
        Report {
            schema_version: SCHEMA_VERSION,
            collie_version: "1.2.3".to_owned(),
            mpi_library: "An MPI 4.0".to_owned(),
            runs: 1,
            seed: 1,
            cells,
            ..Report::default()
        }
    }

    #[test]
    fn jobs_become_one() {
        let jobs = [5.0, 8.0, 6.0].map(|time| report(vec![row(Operation::Bcast, 64, 2, time)]));
        let mut all = jobs.to_vec();
        all.push(report(vec![row(Operation::Bcast, 64, 4, 20.0), row(Operation::Bcast, 8, 2, 1.0)]));
        let merged = Report::merge(all);
        assert_eq!((merged.runs, merged.cells.len()), (3, 3));
        let keys: Vec<_> = merged.cells.iter().map(|cell| (cell.ranks, cell.cell.bytes)).collect();
        assert_eq!(keys, [(2, 8), (2, 64), (4, 64)]);
        let cell = &merged.cells[1];
        assert_eq!(cell.rounds, 300);
        let auto = cell.variant("auto").unwrap();
        assert_eq!(auto.seconds.median, 6e-6);
        assert_eq!(auto.seconds.min, 4e-6);
        let expected = (1000.0f64 / (5.0 * 8.0 * 6.0)).cbrt();
        assert!((auto.against_native.unwrap().ratio - expected).abs() < 1e-9);
        assert_eq!(cell.native().unwrap().against_native, None);
        assert_eq!(cell.variant("auto").unwrap().jobs, None);
        // One of the jobs ended before it came to the others.
        let alone = merged.cells[0].variant("auto").unwrap();
        assert_eq!((alone.jobs, alone.against_native.unwrap().low), (Some(1), None));
    }

    #[test]
    fn what_one_of_several_jobs_measured_counts() {
        let first = row(Operation::Bcast, 64, 2, 5.0);
        let mut second = row(Operation::Bcast, 64, 2, 7.0);
        let mut ring = second.variants[1].clone();
        ring.variant = "ring".to_owned();
        let shared = VariantRow { transport: Transport::Shared, ..ring.clone() };
        second.variants.extend([ring, shared]);
        second.variants[3].variant = "rabenseifner".to_owned();
        let crowded = CellRow { oversubscribed: true, ..row(Operation::Bcast, 64, 2, 9.0) };
        let merged = Report::merge([first, second, crowded].map(|cell| report(vec![cell])).to_vec());
        assert_eq!(merged.cells.len(), 2, "ranks that share cores are slow for another reason");
        let names: Vec<_> = merged.cells[0].variants.iter().map(|row| row.variant.as_str()).collect();
        assert_eq!(names, ["native", "auto", "ring", "rabenseifner"]);
        assert!(merged.cells[0].left_out.is_empty(), "one has measured it");
        let of = |name: &str| merged.cells[0].variant(name).unwrap();
        assert_eq!((of("auto").jobs, of("ring").jobs), (None, Some(1)));
        let ratio = of("ring").against_native.unwrap();
        assert!(ratio.ratio > 1.0 && ratio.low.is_none(), "one job does not know what differs between jobs");
        assert_eq!(merged.cells[1].left_out.len(), 1);
        let [auto, ring] = ["auto", "ring"].map(|name| merged.cells[0].variant(name).unwrap().seconds.median);
        assert!((auto - 6e-6).abs() < 1e-12 && (ring - 7e-6).abs() < 1e-12, "{auto} {ring}");
    }

    #[test]
    fn json_comes_back() {
        let report = report(vec![row(Operation::Reduce, 64, 2, 5.0)]);
        let text = serde_json::to_string(&report).unwrap();
        let read = serde_json::from_str::<Report>(&text).unwrap();
        assert_eq!(read, report);
    }

    #[test]
    fn copies_are_known_whatever_became_of_their_rows() {
        let cells = [64, 128].map(|bytes| row(Operation::Reduce, bytes, 2, 5.0));
        let mut first = report(cells.to_vec());
        let mut sorted = first.clone();
        sorted.cells.reverse();
        sorted.cells.iter_mut().for_each(|cell| cell.variants.reverse());
        assert_eq!((sorted.leave_out_copies(&mut first), sorted.cells.len()), (2, 0));
        let mut part = report(vec![cells[1].clone(), row(Operation::Reduce, 64, 2, 5.1)]);
        assert_eq!((part.leave_out_copies(&mut first), part.cells.len()), (1, 1), "another job's are no copies");
        let mut elsewhere = Report { mpi_library: "Another MPI".to_owned(), ..first.clone() };
        assert_eq!(elsewhere.leave_out_copies(&mut first), 0);
        // Whichever comes first, what holds more stays.
        let mut less = first.clone();
        less.cells[0].variants.pop();
        let mut more = first.clone();
        assert_eq!((more.leave_out_copies(&mut less), more.cells.len(), less.cells.len()), (2, 1, 1));
        // Two communicators of a run that are alike.
        let mut two = report(vec![cells[0].clone(), row(Operation::Reduce, 64, 2, 5.2)]);
        let mut copy = two.clone();
        assert_eq!((copy.leave_out_copies(&mut two), copy.cells.len(), two.cells.len()), (2, 0, 2));
    }
}
