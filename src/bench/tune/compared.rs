//! Which of Collie's algorithms can be compared at one size, where several reports, datatypes or roots hold different
//! ones.

use crate::algorithm::{Algorithm, Operation, find};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, VariantRow};
use crate::selection::{Implementation, Versions};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The times of Collie's algorithms in a cell: no mode's, none with a wrong result, and none that is another one by
/// another name.
pub fn ours(cell: &CellRow) -> impl Iterator<Item = &VariantRow> {
    cell.variants.iter().filter(|row| {
        !row.is_mode()
            && row.variant != NATIVE
            && !cell.wrong.contains(&row.variant)
            && !is_flat_anyway(cell, row)
            && row.seconds.median > 0.0
    })
}

/// Those of Collie's algorithms whose results were wrong in a cell, whatever chose them, with the operation.
pub fn wrong(cell: &CellRow) -> impl Iterator<Item = (Operation, &str)> {
    let is_wrong = |row: &&VariantRow| row.algorithm != NATIVE && cell.wrong.contains(&row.variant);
    cell.variants.iter().filter(is_wrong).map(|row| (cell.cell.operation, row.algorithm.as_str()))
}

/// Whether it takes nodes for what one rank each already is: then the leaders' algorithm does the same by itself.
fn is_flat_anyway(cell: &CellRow, row: &VariantRow) -> bool {
    let name = row.algorithm.split(':').next().unwrap_or_default();
    cell.ranks_per_node.iter().all(|ranks| *ranks == 1)
        && find(cell.cell.operation, name).is_some_and(Algorithm::knows_nodes)
}

/// A cell, and under which MPI library it was measured.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    /// The cell.
    pub row: &'a CellRow,
    /// Jobs of the report that it is from.
    pub runs: u32,
    /// Releases that differ in the last number only count as one; of one that is not known by name, its own words.
    pub library: (Implementation, Versions, &'a str),
}

impl Deref for Measured<'_> {
    type Target = CellRow;

    fn deref(&self) -> &CellRow {
        self.row
    }
}

/// What is compared at one size.
pub struct Compared<'a> {
    /// Those that hold all of the candidates.
    pub cells: Vec<Measured<'a>>,
    /// Names of algorithms, each measured in all of these cells.
    pub candidates: BTreeSet<&'a str>,
    /// What is not compared, in words; empty if all is.
    pub left_out: String,
}

impl<'a> Compared<'a> {
    /// Of the algorithms that most cells hold (or, if there are none, those that no other is in more cells than) the
    /// ones that stand together in one, and the cells that hold all of these.
    pub fn of(all: &[Measured<'a>]) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let names = |cell: &Measured<'a>| ours(cell.row).map(|row| row.algorithm.as_str()).collect::<BTreeSet<_>>();
        let measured: Vec<_> = all.iter().map(|cell| (*cell, names(cell))).collect();
        measured.iter().flat_map(|(_, names)| names).for_each(|name| *counts.entry(*name).or_default() += 1);
        // A cell without an algorithm of ours has nothing to compare.
        let filled = measured.iter().filter(|(_, names)| !names.is_empty()).count();
        let most = counts.values().copied().max().unwrap_or(0).min(filled / 2 + 1);
        let usual: BTreeSet<&str> = counts.iter().filter(|(_, count)| **count >= most).map(|(name, _)| *name).collect();
        // Of several cells with as many of them the first.
        let together = measured.iter().rev().map(|(_, names)| names & &usual).max_by_key(BTreeSet::len);
        let candidates = together.unwrap_or_default();
        let holds_all = |names: &BTreeSet<&str>| !candidates.is_empty() && candidates.is_subset(names);
        let cells: Vec<_> = measured.iter().filter(|(_, names)| holds_all(names)).map(|(cell, _)| *cell).collect();
        let others: Vec<_> = counts.keys().filter(|name| !candidates.contains(*name)).copied().collect();
        let left_out = match (cells.len() < filled, others.is_empty()) {
            (false, true) => String::new(),
            (false, false) => format!("without {}, which not all cells hold", others.join(", ")),
            (true, true) => format!("from {} of {filled} cells", cells.len()),
            (true, false) => format!("from {} of {filled} cells, without {}", cells.len(), others.join(", ")),
        };
        Self { cells, candidates, left_out }
    }

    /// Without the cells that lack the MPI library, where others hold it: it is compared with the rest then.
    pub fn beside_native(mut self) -> Self {
        let all = self.cells.len();
        let holds_native = |cell: &Measured| cell.native().is_some_and(|row| row.seconds.median > 0.0);
        let with_native = self.cells.iter().filter(|cell| holds_native(cell)).count();
        if (1..all).contains(&with_native) {
            self.cells.retain(holds_native);
            let words = format!("from {with_native} of {all} cells, in which the MPI library was measured");
            self.left_out = if self.left_out.is_empty() { words } else { format!("{}; {words}", self.left_out) };
        }
        self
    }
}
