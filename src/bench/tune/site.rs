//! From the reports of a site to its rules.

use super::group::Group;
use super::losses::Size;
use super::settings::{Block, Form, Settings};
use super::{rows, tree};
use crate::algorithm::ChoiceError;
use crate::bench::result::{CellRow, Report};
use crate::selection::{Mpi, Versions};
use std::collections::BTreeMap;

/// The rules that the reports speak for.
///
/// # Errors
/// An algorithm in a report that this catalogue does not have.
pub fn tune(reports: &[Report], settings: Settings) -> Result<Vec<Block>, ChoiceError> {
    let mut groups: BTreeMap<Group, BTreeMap<usize, Vec<&CellRow>>> = BTreeMap::new();
    let cells = reports.iter().flat_map(|report| report.cells.iter().map(move |cell| (report, cell)));
    for (report, cell) in cells {
        let mpi = Mpi::of(&report.mpi_library);
        let mpi = settings.by_mpi.then(|| (mpi.implementation, Versions::of_minor(mpi.version)));
        let group = Group::of(cell, mpi);
        // What no rank knows cannot decide: all sizes count as one.
        let bytes = if group.operation.has_own_counts() { 0 } else { cell.cell.bytes };
        groups.entry(group).or_default().entry(bytes).or_default().push(cell);
    }
    let mut measured: Vec<(&Group, Vec<Size>)> = Vec::new();
    for (group, cells) in &groups {
        let mut sizes = Vec::new();
        for (bytes, cells) in cells {
            sizes.extend(Size::of(*bytes, cells, settings)?);
        }
        if !sizes.is_empty() {
            measured.push((group, sizes));
        }
    }
    Ok(match settings.form {
        Form::Table => {
            measured.iter().map(|(group, sizes)| rows::block(group, sizes, groups.keys(), settings)).collect()
        }
        Form::Tree => {
            // Those of one operation and library stand together wherever they are.
            measured.sort_by_key(|(group, _)| (group.operation, group.library().collect::<Vec<_>>()));
            let of_calls = measured.chunk_by(|(one, _), (other, _)| one.is_of_same_calls(other));
            of_calls.filter_map(|groups| tree::block(groups, settings)).collect()
        }
    })
}
