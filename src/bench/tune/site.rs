//! From the reports of a site to its rules.

use super::between::estimates;
use super::compared::{Measured, ours, wrong};
use super::group::{Group, Placement};
use super::losses::Size;
use super::settings::{Block, Extend, Form, Settings};
use super::{rows, tree};
use crate::algorithm::{ChoiceError, Operation};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::selection::{Condition, Implementation, Mpi, Purpose, Rule, Rules, Span, Transport, Versions, never_used};
use std::collections::{BTreeMap, BTreeSet};

/// Cells by the fewest and the most bytes of their calls.
type BySize<'a> = BTreeMap<(usize, usize), Vec<Measured<'a>>>;

/// Bytes of calls of a class, which are of other bytes on each communicator.
fn mean(class: (usize, usize), cells: &[Measured]) -> usize {
    if class.1 == 0 { 0 } else { cells.iter().map(|cell| cell.cell.bytes).sum::<usize>() / cells.len() }
}

/// The same, no two of which overlap: a class inside which single sizes were measured as well stands for calls of its
/// mean. Where that is one of those sizes, they alone count: of the class, the verdict on one algorithm is known.
fn in_order<'a>(cells: &BySize<'a>) -> BySize<'a> {
    let mut ordered = BySize::new();
    for (class, cells_of_class) in cells {
        let (from, to) = *class;
        let holds_others = from < to && cells.keys().any(|(one, most)| one == most && (from..=to).contains(one));
        let mean = mean(*class, cells_of_class);
        if holds_others && cells.contains_key(&(mean, mean)) {
            continue;
        }
        let class = if holds_others { (mean, mean) } else { *class };
        ordered.entry(class).or_default().extend(cells_of_class);
    }
    ordered
}

/// The rules that the reports speak for: of each operation those for what was measured, and after them, for calls that
/// these leave open, those for what is estimated.
///
/// # Errors
/// An algorithm in a report that this catalogue does not have.
pub fn tune(reports: &[Report], settings: Settings) -> Result<Vec<Block>, ChoiceError> {
    // By the fewest and the most bytes: a size class, or a number of bytes.
    let mut groups: BTreeMap<Group, BySize> = BTreeMap::new();
    let cells = by_transport(reports);
    for (report, cell, transport) in &cells {
        let mpi = Mpi::of(&report.mpi_library);
        let (implementation, versions) = (mpi.implementation, Versions::of_minor(mpi.version));
        let words = if implementation == Implementation::Other { report.mpi_library.as_str() } else { "" };
        let library = (implementation, versions, words);
        let by_mpi = settings.by_mpi.then_some((implementation, versions));
        let group = Group::of(cell, settings.form, by_mpi, *transport);
        // What no rank knows cannot decide: all sizes count as one.
        let bytes = if group.operation.has_own_counts() { 0 } else { cell.cell.bytes };
        let class = cell.size_class.filter(|_| !group.operation.has_own_counts()).unwrap_or((bytes, bytes));
        groups.entry(group).or_default().entry(class).or_default().push(Measured {
            row: cell,
            runs: report.runs,
            library,
        });
    }
    let mut measured: Vec<(&Group, Vec<Size>)> = Vec::new();
    for (group, cells) in &groups {
        let mut sizes = Vec::new();
        for (class, cells) in &in_order(cells) {
            sizes.extend(Size::of(mean(*class, cells), *class, cells, settings)?);
        }
        if !sizes.is_empty() {
            measured.push((group, sizes));
        }
    }
    let all = || groups.keys();
    let of_calls: Vec<&[(&Group, Vec<Size>)]> = match settings.form {
        Form::Table => measured.chunk_by(|(one, _), (other, _)| one.operation == other.operation).collect(),
        Form::Tree => {
            // Those of one operation and library stand together wherever they are.
            measured.sort_by_key(|(group, _)| (group.operation, group.library().collect::<Vec<_>>()));
            measured.chunk_by(|(one, _), (other, _)| one.is_of_same_calls(other)).collect()
        }
    };
    let measured_at = MeasuredAt::new(groups.keys().collect(), settings);
    let narrowed = |mut blocks: Vec<Block>| {
        blocks.iter_mut().flat_map(|block| &mut block.rules).for_each(|rule| measured_at.narrow(rule));
        blocks
    };
    let blocks = of_calls.into_iter().flat_map(|same| {
        let known: Vec<_> = match settings.form {
            Form::Table => same.iter().map(|(group, sizes)| rows::block(group, sizes, all(), settings)).collect(),
            Form::Tree => tree::block(same, all(), settings).into_iter().collect(),
        };
        let estimates =
            if settings.extend == Extend::Estimated { estimates(same, settings.anywhere) } else { Vec::new() };
        // By the conditions that they will have: what they leave open depends on those.
        let known = narrowed(known);
        let open = left_open(&known, narrowed(rows::estimated(&estimates, all(), settings)));
        known.into_iter().chain(open)
    });
    Ok(blocks.collect())
}

/// Where everything was measured, which the rules say once all of them are known.
struct MeasuredAt<'a> {
    groups: Vec<&'a Group>,
    settings: Settings,
    /// What holds for all groups, unless the rules are for anywhere.
    common: Vec<Condition>,
    /// Whether no node had several ranks where there were several nodes.
    one_per_node: bool,
}

impl<'a> MeasuredAt<'a> {
    fn new(groups: Vec<&'a Group>, settings: Settings) -> Self {
        let all = || groups.iter().copied();
        let common = if settings.anywhere { Vec::new() } else { Group::in_common(all()) };
        let one_per_node = Group::are_one_per_node(all());
        Self { groups, settings, common, one_per_node }
    }

    /// The groups of the calls of an operation.
    fn of(&self, operation: Operation) -> impl Iterator<Item = &'a Group> {
        self.groups.iter().copied().filter(move |group| group.operation == operation)
    }

    /// Leaves the rule to calls where it was measured.
    fn narrow(&self, rule: &mut Rule) {
        let (common, settings) = (&self.common, self.settings);
        // Of operations that do not commute nothing is known unless some were measured: to keep their order, algorithms
        // may pass the result on once more, and the MPI library may take others.
        let are_told_apart = settings.by_mpi || !settings.anywhere;
        let commutes = rule.operation.reduces() && self.of(rule.operation).all(Group::is_commutative);
        rule.conditions.retain(|condition| !common.contains(condition));
        rule.conditions.splice(0..0, common.iter().copied());
        if are_told_apart && commutes {
            rule.conditions.insert(0, Condition::Commutative);
        }
        // They tell nothing of single ranks on each node, whether these were measured or not.
        if !settings.anywhere && self.is_grouped(rule) {
            rule.narrow_ranks_per_node(Span { least: 2, most: usize::MAX });
        }
        let several = rule.conditions.iter_mut().filter(|condition| **condition == Condition::SeveralNodes);
        several.filter(|_| self.one_per_node).for_each(|condition| *condition = Condition::OnePerNode);
        // Which takes several nodes.
        if rule.conditions.contains(&Condition::OnePerNode) {
            let mut is_first = true;
            rule.conditions.retain(|condition| match condition {
                Condition::OnePerNode => std::mem::take(&mut is_first),
                other => *other != Condition::SeveralNodes,
            });
        }
    }

    /// Whether it was measured with several ranks on each of several nodes, and does not say so. Leaves of trees say so
    /// themselves; of the rows of tables those that say nothing else.
    fn is_grouped(&self, rule: &Rule) -> bool {
        let is_other = |condition: &Condition| matches!(condition, Condition::OneNode | Condition::OnePerNode);
        self.settings.form == Form::Table
            && self.of(rule.operation).any(|group| group.placement() == Placement::Grouped)
            && !rule.conditions.iter().any(is_other)
    }
}

/// Those of the later blocks' rows that some call gets after the known ones.
fn left_open(known: &[Block], mut later: Vec<Block>) -> Vec<Block> {
    let of_known = known.iter().flat_map(|block| block.rules.clone());
    let all = of_known.chain(later.iter().flat_map(|block| block.rules.clone()));
    let numbered = (1..).zip(all).map(|(line, rule)| Rule { line, ..rule });
    let never = never_used(&Rules::new("", numbered), Purpose::Rules);
    let never: BTreeSet<u32> = never.into_iter().map(|(line, _)| line).collect();
    let mut line = known.iter().map(|block| block.rules.len() as u32).sum::<u32>();
    for block in &mut later {
        block.rules.retain(|_| {
            line += 1;
            !never.contains(&line)
        });
    }
    later.retain(|block| !block.rules.is_empty());
    later
}

/// Each cell once for each transport on which one of our algorithms was measured in it, not only what a mode decided,
/// with what was measured there and native; on several nodes, where rules do not tell them apart, for messages, or else
/// for shared memory. Transports count where one is not the default. What gave wrong results in one cell of an operation
/// is left out of all: a row holds for calls between those that were measured.
fn by_transport(reports: &[Report]) -> Vec<(&Report, CellRow, Option<Transport>)> {
    // One rank sends to nobody, and what it took tells nothing of several.
    let several = |cell: &&CellRow| cell.ranks > 1;
    let cells =
        || reports.iter().flat_map(|report| report.cells.iter().filter(several).map(move |cell| (report, cell)));
    let on_one_node = |cell: &CellRow| cell.ranks_per_node.len() == 1;
    let has = |cell: &CellRow, transport| ours(cell).any(|row| row.transport == transport);
    let wrong: BTreeSet<(Operation, &str)> = cells().flat_map(|(_, cell)| wrong(cell)).collect();
    let apart = cells().any(|(_, cell)| on_one_node(cell) && has(cell, Transport::Shared));
    let mut found = Vec::new();
    for (report, cell) in cells() {
        let here = Transport::ALL.into_iter().filter(|transport| has(cell, *transport));
        let here: Vec<_> = if on_one_node(cell) { here.collect() } else { here.take(1).collect() };
        found.extend(here.into_iter().map(|transport| {
            let mut of_it = cell.clone();
            let is_right = |row: &VariantRow| !wrong.contains(&(cell.cell.operation, row.algorithm.as_str()));
            of_it.variants.retain(|row| row.variant == NATIVE || row.transport == transport && is_right(row));
            (report, of_it, (apart && on_one_node(cell)).then_some(transport))
        }));
    }
    found
}
