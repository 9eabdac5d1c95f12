//! How good rules are for calls that nobody measured: parts of the measurements are left out, decided by what the rest
//! says, and the time of what was decided is held against the best that was measured.

use super::costs::predicted_cell;
use super::losses::{nodes, plain};
use super::settings::{Form, Settings};
use super::site::tune;
use crate::algorithm::{Call, ChoiceError};
use crate::bench::cell::Cell;
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics;
use crate::schedule::simulate::Network;
use crate::selection::{Mpi, Rules, Situation, Transport, Wanted, defaults, parse_rules};
use once_cell::sync::Lazy;
use std::collections::BTreeMap;

/// What MPI libraries decided for all machines alike.
static FIXED: Lazy<[Rules; 2]> = Lazy::new(|| {
    let parsed = |(name, text)| parse_rules(name, text).unwrap_or_else(|errors| panic!("fixed decisions: {errors}"));
    [
        ("open_mpi", include_str!("../../selection/native/open_mpi_4_0.rules")),
        ("mpich", include_str!("../../selection/native/mpich.rules")),
    ]
    .map(parsed)
});

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    /// The rows that [`tune`] makes of what is not left out, for each number of ranks.
    Table,
    /// The decision trees that it makes of that.
    Tree,
    /// The least predicted time on a network.
    Cost,
    /// The fixed tables of the literature.
    Literature,
    /// The fixed decisions of Open MPI, by Collie's algorithms of the same kind.
    OpenMpi,
    /// Those of MPICH.
    Mpich,
    /// The MPI library.
    Native,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Table, Self::Tree, Self::Cost, Self::Literature, Self::OpenMpi, Self::Mpich, Self::Native];

    /// Whether it decides by measurements, so that it matters what is left out of them.
    pub const fn is_made_of_measurements(self) -> bool {
        matches!(self, Self::Table | Self::Tree)
    }

    /// What people read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Tree => "tree",
            Self::Cost => "cost",
            Self::Literature => "literature",
            Self::OpenMpi => "Open MPI's",
            Self::Mpich => "MPICH's",
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
            // Calls of a class are tuned together, whatever their bytes on each communicator.
            Self::Size => cell.size_class.map_or(cell.cell.bytes, |(from, _)| from),
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
    // Nobody makes rules of what a single rank took.
    let several = |report: &Report| {
        let cells = report.cells.iter().filter(|cell| cell.ranks > 1).cloned().collect();
        Report { cells, ..report.clone() }
    };
    let reports: Vec<Report> = reports.iter().map(several).collect();
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
            Model::Table | Model::Tree => {
                let form = if model == Model::Tree { Form::Tree } else { Form::Table };
                let rest: Vec<_> = reports.iter().enumerate().map(rest).collect();
                Rules::new("", tune(&rest, Settings { form, ..settings })?.into_iter().flat_map(|block| block.rules))
            }
            Model::OpenMpi => FIXED[0].clone(),
            Model::Mpich => FIXED[1].clone(),
            _ => Rules::default(),
        };
        for (place, report) in reports.iter().enumerate() {
            for cell in report.cells.iter().filter(|cell| is_out(place, cell)) {
                let Some(best) = fastest(cell, settings.native) else { continue };
                let decided = match model {
                    Model::Native => cell.native(),
                    Model::Cost => by_cost(cell, network)?,
                    _ => by_rules(&rules, model.is_made_of_measurements(), report, cell),
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
    let most = regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(Some(Regret { cells, unknown, mean, p90: statistics::spread(&regrets).p90, most }))
}

/// Those that rules may choose; none over shared memory, which only some calls have.
fn rows(cell: &CellRow) -> impl Iterator<Item = &VariantRow> {
    cell.variants.iter().filter(|row| {
        row.transport == Transport::Messages
            && !row.is_mode()
            && !cell.wrong.contains(&row.variant)
            && row.seconds.median > 0.0
    })
}

/// Time of the best that was measured, with native or without; none if nothing of ours was.
fn fastest(cell: &CellRow, native: bool) -> Option<f64> {
    rows(cell).find(|row| row.variant != NATIVE)?;
    let allowed = rows(cell).filter(|row| native || row.variant != NATIVE);
    allowed.map(|row| row.seconds.median).min_by(f64::total_cmp)
}

/// What the rules, or else the tables of the literature, say; none if that was not measured. `first`: a rule whose
/// algorithm may not be used gives way to the tables, not to the next one, as in a rules file.
fn by_rules<'a>(rules: &Rules, first: bool, report: &Report, cell: &'a CellRow) -> Option<&'a VariantRow> {
    let nodes = nodes(&cell.ranks_per_node);
    let situation = Situation {
        oversubscribed: cell.oversubscribed,
        mpi: Mpi::of(&report.mpi_library),
        limits: report.limits(),
        ..Situation::plain(cell.ranks as usize).on(&nodes)
    };
    let Cell { operation, bytes, commutative, .. } = cell.cell;
    let call = Call { commutative, reduce_local: cell.cell.reduces_locally(), ..plain(operation, bytes, &nodes) };
    let accepted = |wanted: &Wanted| match wanted {
        Wanted::Algorithm(choice) if choice.accepts(&call, situation.ranks).is_ok() => Some(choice.to_string()),
        Wanted::Native => Some(NATIVE.to_owned()),
        _ => None,
    };
    let by = |rules: &Rules, most: usize| {
        let matching = rules.of(call.operation).iter().filter(|row| row.matches(&situation, &call));
        matching.take(most).find_map(|row| accepted(&row.wanted))
    };
    let most = if first { 1 } else { usize::MAX };
    let wanted = by(rules, most).or_else(|| by(defaults::literature(&situation), usize::MAX))?;
    let name = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let exactly = rows(cell).find(|row| row.algorithm == wanted);
    // Nobody measures every segment: with another one the algorithm may be faster, and is not slower than it could be.
    exactly.or_else(|| {
        let same = rows(cell).filter(|row| name(&row.algorithm) == name(&wanted));
        same.min_by(|one, other| one.seconds.median.total_cmp(&other.seconds.median))
    })
}

/// The one of those measured that is predicted to be the fastest.
fn by_cost<'a>(cell: &'a CellRow, network: Option<&Network>) -> Result<Option<&'a VariantRow>, ChoiceError> {
    let predicted = predicted_cell(cell, network)?;
    let may = |row: &&VariantRow| row.transport == Transport::Messages && !cell.wrong.contains(&row.variant);
    let times = predicted.variants.iter().filter(may);
    let best = times.min_by(|one, other| one.seconds.median.total_cmp(&other.seconds.median));
    Ok(best.and_then(|best| cell.variant(&best.variant)))
}
