//! How good rules are for calls that nobody measured: parts of the measurements are left out, decided by what the rest says, and
//! the time of what was decided is held against the best that was measured.

use super::settings::Settings;
use super::site::tune;
use crate::algorithm::{Call, Choice, ChoiceError, Operation, parse_choice};
use crate::bench::program::{AUTO, NATIVE};
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics;
use crate::schedule::simulate::{Network, predict};
use crate::selection::{Mpi, Rules, Situation, Wanted, defaults};
use std::collections::BTreeMap;

/// Steps up to which a time is simulated; beyond them the cost formula tells it.
const STEPS: usize = 1 << 18;

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    /// The rows that [`tune`] makes of what is not left out.
    Table,
    /// The least predicted time on a network.
    Cost,
    /// The fixed tables of the literature.
    Literature,
    /// The MPI library.
    Native,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Table, Self::Cost, Self::Literature, Self::Native];

    /// What people read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Cost => "cost",
            Self::Literature => "literature",
            Self::Native => "native",
        }
    }
}

/// What is left out at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Nothing: how well the rows fit what they were made of.
    Nothing,
    /// All cells of one size.
    Size,
    /// All cells of one number of ranks.
    Ranks,
    /// One report.
    Job,
}

impl LeftOut {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Size, Self::Ranks, Self::Job];

    /// What people read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Size => "each size",
            Self::Ranks => "each number of ranks",
            Self::Job => "each report",
        }
    }

    fn key(self, report: usize, cell: &CellRow) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Size => cell.cell.bytes,
            Self::Ranks => cell.ranks as usize,
            Self::Job => report,
        }
    }
}

/// Time of what was decided over that of the best that was measured, less one; over cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Number of cells.
    pub cells: usize,
    /// Cells that the model decided for an algorithm that was not measured there; they are in no number.
    pub unknown: usize,
    /// Over cells.
    pub mean: f64,
    /// Nine tenths of the cells are below.
    pub p90: f64,
    /// The worst.
    pub most: f64,
}

/// The regret of each model with something left out; none where there is nothing but what would be left out.
///
/// # Errors
/// An algorithm in a report that this catalogue does not have.
pub fn validate(
    reports: &[Report],
    left_out: LeftOut,
    model: Model,
    network: Option<&Network>,
    settings: Settings,
) -> Result<Option<Regret>, ChoiceError> {
    let keys: BTreeMap<usize, ()> = reports
        .iter()
        .enumerate()
        .flat_map(|(place, report)| report.cells.iter().map(move |cell| (left_out.key(place, cell), ())))
        .collect();
    if left_out != LeftOut::Nothing && keys.len() < 2 {
        return Ok(None);
    }
    let (mut regrets, mut unknown) = (Vec::new(), 0);
    for key in keys.into_keys() {
        let is_out = |place: usize, cell: &CellRow| left_out.key(place, cell) == key;
        let rest = |(place, report): (usize, &Report)| {
            let keep = |cell: &&CellRow| left_out == LeftOut::Nothing || !is_out(place, cell);
            Report { cells: report.cells.iter().filter(keep).cloned().collect(), ..report.clone() }
        };
        let rules = match model {
            Model::Table => {
                let rest: Vec<_> = reports.iter().enumerate().map(rest).collect();
                Rules::new("", tune(&rest, settings)?.into_iter().flat_map(|block| block.rules))
            }
            _ => Rules::default(),
        };
        for (place, report) in reports.iter().enumerate() {
            for cell in report.cells.iter().filter(|cell| is_out(place, cell)) {
                let Some(best) = fastest(cell, settings.native) else { continue };
                let decided = match model {
                    Model::Native => cell.native(),
                    Model::Cost => by_cost(cell, network)?,
                    Model::Table | Model::Literature => by_rules(&rules, &report.mpi_library, cell),
                };
                match decided {
                    Some(row) => regrets.push(row.seconds.median / best - 1.0),
                    None => unknown += 1,
                }
            }
        }
    }
    if regrets.is_empty() {
        return Ok(None);
    }
    let cells = regrets.len();
    let mean = regrets.iter().sum::<f64>() / cells as f64;
    let most = regrets.iter().copied().fold(0.0, f64::max);
    Ok(Some(Regret { cells, unknown, mean, p90: statistics::spread(&regrets).p90, most }))
}

/// Those that rules may choose.
fn rows(cell: &CellRow) -> impl Iterator<Item = &VariantRow> {
    cell.variants
        .iter()
        .filter(|row| row.variant != AUTO && !cell.wrong.contains(&row.variant) && row.seconds.median > 0.0)
}

/// Time of the best that was measured, with native or without; none if nothing of ours was.
fn fastest(cell: &CellRow, native: bool) -> Option<f64> {
    rows(cell).find(|row| row.variant != NATIVE)?;
    let allowed = rows(cell).filter(|row| native || row.variant != NATIVE);
    allowed.map(|row| row.seconds.median).min_by(f64::total_cmp)
}

fn nodes(cell: &CellRow) -> Vec<u32> {
    let several = cell.ranks_per_node.len() > 1;
    let all = (0..).zip(&cell.ranks_per_node).flat_map(|(node, ranks)| std::iter::repeat_n(node, *ranks as usize));
    all.filter(|_| several).collect()
}

fn call<'a>(operation: Operation, bytes: usize, nodes: &'a [u32]) -> Call<'a> {
    let unit = if operation.reduces() { 8 } else { 1 };
    let count = if operation.has_data() { bytes.div_ceil(unit) } else { 0 };
    Call { nodes, ..Call::plain(operation, count, unit) }
}

/// What the rules, or else the tables of the literature, say; none if that was not measured.
fn by_rules<'a>(rules: &Rules, library: &str, cell: &'a CellRow) -> Option<&'a VariantRow> {
    let nodes = nodes(cell);
    let situation = Situation {
        ranks: cell.ranks as usize,
        one_node: nodes.is_empty(),
        oversubscribed: cell.oversubscribed,
        mpi: Mpi::of(library),
    };
    let call = call(cell.cell.operation, cell.cell.bytes, &nodes);
    let accepted = |wanted: &Wanted| match wanted {
        Wanted::Algorithm(choice) if choice.accepts(&call, situation.ranks).is_ok() => Some(choice.to_string()),
        Wanted::Native => Some(NATIVE.to_owned()),
        _ => None,
    };
    let ruled = rules.first(&situation, &call).and_then(|rule| accepted(&rule.wanted));
    let literature = || {
        let rows = defaults::literature(&situation).of(call.operation).iter();
        rows.filter(|row| row.matches(&situation, &call)).find_map(|row| accepted(&row.wanted))
    };
    let name = ruled.or_else(literature)?;
    rows(cell).find(|row| row.algorithm == name)
}

/// The one of those measured that is predicted to be the fastest.
fn by_cost<'a>(cell: &'a CellRow, network: Option<&Network>) -> Result<Option<&'a VariantRow>, ChoiceError> {
    let nodes = nodes(cell);
    let preset = if nodes.is_empty() { "shared_memory" } else { "ethernet" };
    let preset = Network::preset(preset).expect("it is a preset");
    let network = network.unwrap_or(&preset);
    let half_bandwidth = network.half_bandwidth(nodes.is_empty());
    let call = Call { half_bandwidth, ..call(cell.cell.operation, cell.cell.bytes, &nodes) };
    let mut best: Option<(f64, &VariantRow)> = None;
    for row in rows(cell).filter(|row| row.variant != NATIVE) {
        let choice: Choice = parse_choice(cell.cell.operation, &row.algorithm)?;
        let time = predict(&choice, &call, cell.ranks as usize, network, STEPS).ok().flatten();
        if let Some(time) = time.map(|prediction| prediction.time)
            && best.is_none_or(|(least, _)| time < least)
        {
            best = Some((time, row));
        }
    }
    Ok(best.map(|(_, row)| row))
}
