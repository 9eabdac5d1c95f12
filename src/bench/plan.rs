//! Cells from the report of an application's run, so that its own mix of calls is measured.

#![forbid(unsafe_code)]

use super::cell::{Cell, Datatype};
use crate::algorithm::{Operation, counted};
use crate::monitor::{Function, Summary};
use crate::reading;
use crate::report;
use std::collections::{BTreeMap, BTreeSet};

/// What a report asks to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Each with its number of calls per rank.
    pub cells: Vec<Cell>,
    /// Share of the report's time in collectives that these calls took, 0 to 1.
    pub share: f64,
}

/// Reads a report that `COLLIE_REPORT=x.json` wrote.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &std::path::Path) -> Result<Summary, String> {
    let bytes = reading::bytes(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    report::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a report says of calls on intercommunicators, where Collie would have carried them out otherwise.
const BETWEEN_GROUPS: &str = "intercommunicator";

/// Calls of a report that are one cell.
#[derive(Default)]
struct Calls {
    /// Of all ranks.
    calls: u64,
    /// What all ranks contributed.
    bytes: u64,
    /// World ranks that made them, as far as the report tells.
    callers: BTreeSet<u32>,
    /// Ranks that made calls at least, where it is not known which did.
    least_callers: usize,
    /// Of all ranks.
    seconds: f64,
}

impl Calls {
    fn add(&mut self, more: &Self) {
        self.calls += more.calls;
        self.bytes += more.bytes;
        self.callers.extend(&more.callers);
        self.least_callers = self.least_callers.max(more.least_callers);
        self.seconds += more.seconds;
    }

    /// Calls per rank. Communicators of the same size may be disjoint, with calls at the same time, or of the same
    /// ranks.
    fn per_rank(&self) -> u64 {
        let callers = self.callers.len().max(self.least_callers) as u64;
        (self.calls + callers / 2) / callers.max(1)
    }

    /// As a cell without its calls, on the first of the roots and datatypes; none where no bytes were sent.
    fn cell(&self, operation: Operation, datatypes: &[Datatype], roots: &[usize], ranks: usize) -> Option<Cell> {
        let mean = self.bytes as f64 / self.calls.max(1) as f64;
        // Where blocks differ in length, a report counts all that a rank sends, and a cell a block in the mean.
        let mean = if operation.has_own_counts() { mean / ranks as f64 } else { mean };
        let wanted = datatypes.first().copied().unwrap_or(Datatype::Double);
        // No more than the mean, which may be that of another size class.
        let elements = mean as usize / wanted.size();
        let bytes = mean.round() as usize;
        let (datatype, bytes) = match operation.reduces() || bytes.is_multiple_of(wanted.size()) {
            // What combines bytes would be another reduction.
            true => (wanted, elements.max(usize::from(bytes > 0)) * wanted.size()),
            false => (Datatype::Byte, bytes),
        };
        if bytes == 0 && operation.has_data() {
            return None;
        }
        Cell::new(operation, datatype, roots.first().copied().unwrap_or(0), bytes)
    }
}

/// The calls of `report` on communicators of `ranks` ranks, as cells of the mean size of their size class.
///
/// A report tells neither datatypes nor roots: they are the first of those asked for; bytes where nothing is reduced and
/// the size is no multiple of the datatype's.
///
/// # Errors
/// There is no such call; which sizes of communicators there are.
pub fn cells(
    report: &Summary,
    operations: &[Operation],
    datatypes: &[Datatype],
    roots: &[usize],
    ranks: usize,
) -> Result<Plan, String> {
    let mut classes = BTreeMap::<_, Calls>::new();
    let mut sizes = BTreeSet::new();
    let mut total = 0.0;
    // A report that was written before all ranks ended holds the calls of some of them.
    let known: BTreeSet<u32> = report.per_rank.iter().map(|rank| rank.rank).collect();
    let is_told_of = |rank: &u32| report.partial.is_none() || known.contains(rank);
    for row in &report.rows {
        total += row.all_ranks_seconds();
        let operation = operations.iter().find(|operation| Function::from(**operation).name() == row.function);
        let communicator = &report.communicators[row.communicator];
        // What two groups call together no algorithm of one group can stand for.
        let Some(operation) = operation.filter(|_| row.fallback() != Some(BETWEEN_GROUPS)) else { continue };
        sizes.insert(communicator.size);
        if communicator.size as usize != ranks {
            continue;
        }
        // Whoever carried them out, and for whatever reason: they are the same calls.
        classes.entry((*operation, row.bytes_from)).or_default().add(&Calls {
            calls: row.calls_all_ranks,
            bytes: row.bytes,
            callers: communicator.members.iter().copied().filter(is_told_of).collect(),
            least_callers: if report.partial.is_some() { row.ranks as usize } else { ranks },
            seconds: row.all_ranks_seconds(),
        });
    }
    let mut cells = BTreeMap::<_, (Cell, Calls)>::new();
    for ((operation, _), class) in classes {
        let Some(cell) = class.cell(operation, datatypes, roots, ranks) else { continue };
        cells.entry(cell.key()).or_insert_with(|| (cell, Calls::default())).1.add(&class);
    }
    if cells.is_empty() {
        let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
        return Err(format!(
            "the plan has no such calls among {}; it has some among: {}",
            counted(ranks, "rank"),
            if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") }
        ));
    }
    // Calls for which memory had no room are in no row, but their time is in that of their ranks.
    let total = f64::max(total, report.per_rank.iter().map(|rank| rank.collective_seconds).sum());
    let share = |seconds: f64| if total > 0.0 { seconds / total } else { 0.0 };
    let cells: Vec<_> = cells
        .into_values()
        .map(|(cell, same)| Cell { calls: Some(same.per_rank()), share: Some(share(same.seconds)), ..cell })
        .collect();
    let share = cells.iter().filter_map(|cell| cell.share).sum();
    Ok(Plan { cells, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{CommunicatorRow, RankRow, Row, Spread};

    fn row(function: &str, communicator: usize, bytes: u64, calls: u64, seconds: f64) -> Row {
        Row {
            function: function.to_owned(),
            communicator,
            bytes_from: if bytes == 0 { 0 } else { 1 << bytes.ilog2() },
            bytes_to: 0,
            algorithm: String::new(),
            decided_by: String::new(),
            ranks: 4,
            calls,
            calls_all_ranks: calls * 4,
            bytes: bytes * calls * 4,
            total_seconds: Spread { mean: seconds, ..Spread::default() },
            mean_seconds: 0.0,
            min_seconds: 0.0,
            p50_seconds: 0.0,
            p90_seconds: 0.0,
            p99_seconds: 0.0,
            max_seconds: 0.0,
            share: 0.0,
            waiting_seconds: None,
            durations: Vec::new(),
        }
    }

    #[test]
    fn calls_of_a_part_of_the_ranks_are_theirs() {
        let told_of = |rank| RankRow { rank, ..RankRow::default() };
        let calls = |members: Vec<u32>, known: &[u32], partial: bool| {
            let report = Summary {
                communicators: vec![CommunicatorRow { size: 4, members, ..CommunicatorRow::default() }],
                rows: vec![Row {
                    calls_all_ranks: 20 * known.len() as u64,
                    ranks: known.len() as u32,
                    ..row("MPI_Bcast", 0, 64, 20, 1.0)
                }],
                per_rank: known.iter().map(|rank| told_of(*rank)).collect(),
                partial: partial.then(String::new),
                ..Summary::default()
            };
            cells(&report, &[Operation::Bcast], &[Datatype::Double], &[0], 4).unwrap().cells[0].calls
        };
        let all = [0, 1, 2, 3];
        for known in [&all[..1], &all[1..3]] {
            assert_eq!((calls(all.to_vec(), known, true), calls(Vec::new(), known, true)), (Some(20), Some(20)));
        }
        assert_eq!((calls(all.to_vec(), &all, false), calls(Vec::new(), &all, false)), (Some(20), Some(20)));
    }

    #[test]
    fn cells_of_a_report() {
        let communicators = [4, 2].map(|size| CommunicatorRow { size, ..CommunicatorRow::default() }).to_vec();
        let rows = vec![
            row("MPI_Allreduce", 0, 800, 10, 3.0),
            row("MPI_Allreduce", 0, 800, 5, 1.0),
            row("MPI_Bcast", 0, 13, 7, 2.0),
            row("MPI_Bcast", 1, 64, 99, 1.0),
            row("MPI_Alltoallw", 0, 64, 99, 1.0),
        ];
        let report = Summary { communicators, rows, ..Summary::default() };
        let found = |operations: &[Operation], ranks| cells(&report, operations, &[Datatype::Double], &[1], ranks);
        let plan = found(&Operation::ALL, 4).unwrap();
        let seen: Vec<_> = plan.cells.iter().map(|cell| (cell.key(), cell.calls)).collect();
        assert_eq!(
            seen,
            [
                ((Operation::Bcast, Datatype::Byte, 1, 13, false, false), Some(7)),
                ((Operation::Allreduce, Datatype::Double, 0, 800, false, false), Some(15)),
            ]
        );
        assert_eq!(plan.share, 0.75);
        assert_eq!(plan.cells.iter().map(|cell| cell.share).collect::<Vec<_>>(), [Some(0.25), Some(0.5)]);
        // Calls of one size class are one cell, whoever carried them out, and reductions stay those of their datatype.
        let rows = vec![row("MPI_Allreduce", 0, 808, 3, 1.0), row("MPI_Allreduce", 0, 880, 2, 1.0)];
        let mixed = Summary { communicators: report.communicators.clone(), rows, ..Summary::default() };
        let plan = cells(&mixed, &Operation::ALL, &[Datatype::Double], &[0], 4).unwrap();
        let seen: Vec<_> = plan.cells.iter().map(|cell| (cell.datatype, cell.bytes, cell.calls)).collect();
        assert_eq!(seen, [(Datatype::Double, 832, Some(5))], "836.8 bytes in the mean");
        // Of two halves each has its own calls at the same time, and of an alltoallv a block is measured.
        let halves = [[0, 1], [2, 3]].map(|members| CommunicatorRow {
            size: 2,
            members: members.to_vec(),
            ..CommunicatorRow::default()
        });
        let on_half =
            |communicator| Row { calls_all_ranks: 20, bytes: 20 * 64, ..row("MPI_Bcast", communicator, 64, 10, 1.0) };
        let blocks = Row { calls_all_ranks: 20, bytes: 20 * 64, ..row("MPI_Alltoallv", 0, 64, 10, 1.0) };
        let nothing = Row { bytes: 0, bytes_from: 0, ..blocks.clone() };
        let rows = vec![on_half(0), on_half(1), blocks, nothing];
        let split = Summary { communicators: halves.to_vec(), rows, ..Summary::default() };
        let plan = cells(&split, &Operation::ALL, &[Datatype::Double], &[0], 2).unwrap();
        let seen: Vec<_> = plan.cells.iter().map(|cell| (cell.operation, cell.bytes, cell.calls)).collect();
        assert_eq!(seen, [(Operation::Bcast, 64, Some(10)), (Operation::Alltoallv, 32, Some(10))]);
        assert_eq!(plan.share, 0.75, "calls of no bytes are not measured");
        assert!(found(&Operation::ALL, 3).unwrap_err().ends_with("among: 2, 4"));
        assert!(found(&[Operation::Gather], 4).unwrap_err().ends_with("none"));
    }
}
