//! What tells the cells of measurements apart beside operation, bytes and place, in words.

use crate::bench::result::CellRow;
use std::collections::BTreeSet;

/// Which roots and datatypes there are.
pub struct Kinds {
    roots: BTreeSet<usize>,
    /// With whether they are of reductions: each kind of operation has a usual one of its own.
    datatypes: BTreeSet<(bool, &'static str)>,
}

impl Kinds {
    /// Those of these cells.
    pub fn of<'a>(cells: impl Iterator<Item = &'a CellRow>) -> Self {
        let (mut roots, mut datatypes) = (BTreeSet::new(), BTreeSet::new());
        for CellRow { cell, .. } in cells {
            roots.extend(cell.operation.rooted().then_some(cell.root));
            datatypes.extend(cell.operation.has_data().then(|| (cell.operation.reduces(), cell.datatype.name())));
        }
        Self { roots, datatypes }
    }

    /// The operation, with what tells the cell from others of the same operation and bytes.
    pub fn title(&self, row: &CellRow) -> String {
        format!("{}{}", row.cell.operation, self.apart(row))
    }

    /// What tells the cell apart, after a comma; a root other than 0 and an order that matters in any case.
    pub fn apart(&self, CellRow { cell, .. }: &CellRow) -> String {
        let root = cell.operation.rooted() && (self.roots.len() > 1 || cell.root != 0);
        let reduces = cell.operation.reduces();
        let alike = self.datatypes.iter().filter(|(of_reductions, _)| *of_reductions == reduces).count();
        let datatype = cell.operation.has_data() && alike > 1;
        [
            root.then(|| format!(", root {}", cell.root)),
            datatype.then(|| format!(", {}", cell.datatype.name())),
            Some(cell.of_operation().to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
