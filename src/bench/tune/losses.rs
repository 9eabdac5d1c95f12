//! What each candidate loses at one size.

use super::compared::{Compared, Measured, ours};
use super::group::Group;
use super::settings::Settings;
use crate::algorithm::{Call, Choice, ChoiceError, Operation, SharedMemory, counted, parse_choice};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, VariantRow};
use crate::bench::statistics::{Ratio, over_kinds, over_reports};
use crate::schedule::lower::Form;
use crate::schedule::simulate::{Beat, Tapes};
use std::collections::{BTreeMap, BTreeSet};

/// What is slower by no more than this share is level: over many sizes, differences that are but noise would add up to
/// the price of a change.
pub const LEVEL: f64 = 0.02;

/// What is slower by no more than this share is level too, where the intervals meet. A greater difference counts
/// however wide they are: of two that nobody can tell apart, the one that was faster is the better guess.
const NOISE: f64 = 0.05;

/// Steps of a call beyond which its messages are not counted.
const STEPS: usize = 1 << 18;

/// Ranks up to which they are: each of them may look at all others to find those of its node.
const MOST_RANKS: usize = 4096;

/// Of one size: what each candidate loses.
#[derive(Clone, Debug)]
pub struct Size {
    /// What one rank contributes.
    pub bytes: usize,
    /// Whether it was measured, and not estimated from those around it.
    pub is_measured: bool,
    /// The fewest and the most bytes of calls that were taken together.
    pub class: Option<(usize, usize)>,
    /// By name, each with its parameters.
    pub candidates: BTreeMap<String, Candidate>,
    /// Native's time over that of the best of ours, mean of the logarithms; none where native was not measured.
    pub native: Option<f64>,
    /// What of the cells is not compared, in words; empty if all is.
    pub left_out: String,
}

/// Something that could carry calls of a size out.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// None for the native library.
    pub choice: Option<Choice>,
    /// What it loses.
    pub loss: Loss,
    /// Native's time over its own, mean of the logarithms, over cells in which native was measured.
    pub against_native: f64,
    /// Its time over that of the best of ours, mean of the logarithms, noise included.
    pub behind: f64,
    /// Messages of all ranks; none where it is not level with the best, so that no tie is to be broken, of the native
    /// library, and where counting them takes too long.
    pub messages: Option<f64>,
    /// Whether it differs from native (native: the best of ours does) by more than what counts as noise though the
    /// interval of their ratio includes 1, or is not known.
    pub is_undecided: bool,
}

impl Candidate {
    /// Whether it is level with the best, and has nothing that its messages could be compared by.
    pub fn is_uncounted(&self) -> bool {
        self.messages.is_none() && self.loss.is_level()
    }
}

/// What a candidate loses, in logarithms of times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss {
    /// Over the best candidate's, mean over cells, without what is noise.
    pub noticed: f64,
    /// Over native's, of the MPI library where that is most, in the mean of its cells; 0 if it is nowhere slower.
    pub to_native: f64,
}

impl Loss {
    /// All together.
    pub fn total(self) -> f64 {
        self.noticed + self.to_native
    }

    fn is_level(self) -> bool {
        self.total() < NOISE
    }
}

/// What is known of a candidate over MPI libraries.
#[derive(Clone, Copy, Default)]
struct Found {
    loss: Loss,
    against_native: f64,
    behind: f64,
    is_undecided: bool,
}

impl Found {
    fn and(self, more: Self) -> Self {
        Self {
            loss: Loss {
                noticed: self.loss.noticed + more.loss.noticed,
                to_native: self.loss.to_native.max(more.loss.to_native),
            },
            against_native: self.against_native + more.against_native,
            behind: self.behind + more.behind,
            is_undecided: self.is_undecided || more.is_undecided,
        }
    }
}

/// One candidate in the cells of one MPI library.
struct Time<'a> {
    name: &'a str,
    /// Mean over these.
    log: f64,
    /// Whether it was measured beside native, so that there is noise in it; none is in what was predicted.
    is_measured: bool,
    ratio: Option<Ratio>,
}

impl Time<'_> {
    /// What it is slower than `other`, both of ours, without what is noise: where their ratios to native could be the
    /// same, or no intervals tell.
    fn noticed_over(&self, other: &Self) -> f64 {
        let loss = self.log - other.log;
        let meet = |(own, other): (Ratio, Ratio)| own.high.zip(other.low).is_none_or(|(high, low)| high >= low);
        let may_be_noise = self.is_measured && self.ratio.zip(other.ratio).is_none_or(meet);
        if loss < LEVEL || (may_be_noise && loss < NOISE) { 0.0 } else { loss }
    }

    /// Whether its ratio to native could be 1: it could be anything where no interval is known.
    fn may_be_native(&self) -> bool {
        let limits = self.ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        limits.is_none_or(|(low, high)| low <= 1.0 && 1.0 <= high)
    }

    /// What it is slower than native, whose time is `native`; below 0 if faster. 0 if that may be noise.
    fn noticed_over_native(&self, native: f64) -> f64 {
        let loss = self.log - native;
        if loss.abs() < LEVEL || (self.may_be_native() && loss.abs() < NOISE) { 0.0 } else { loss }
    }

    /// Whether that counts though their ratio could be 1.
    fn is_undecided(&self, native: f64) -> bool {
        self.may_be_native() && self.noticed_over_native(native) != 0.0
    }
}

impl Size {
    /// Its bytes, or the fewest and the most of them.
    pub fn name(&self) -> String {
        self.class.map_or_else(|| self.bytes.to_string(), |(from, to)| format!("{from}-{to}"))
    }

    /// The fewest bytes of its calls.
    pub fn shortest(&self) -> usize {
        self.class.map_or(self.bytes, |(from, _)| from)
    }

    /// The most.
    pub fn longest(&self) -> usize {
        self.class.map_or(self.bytes, |(_, to)| to)
    }

    /// What of its cells is not compared, in words; none if all is.
    pub fn left_out(&self, group: &Group) -> Option<String> {
        let place = || {
            let unit = if self.name() == "1" { "byte" } else { "bytes" };
            format!("{}, {}, {} {unit}", group.operation, counted(group.ranks as usize, "rank"), self.name())
        };
        (!self.left_out.is_empty()).then(|| format!("{}: compared {}", place(), self.left_out))
    }

    /// That of calls of `bytes` in the mean, from the fewest to the most of `class`. Nothing if no cell holds an
    /// algorithm of ours.
    ///
    /// # Errors
    /// An algorithm that this catalogue does not have.
    pub fn of<'a>(
        bytes: usize,
        class: (usize, usize),
        cells: &[Measured<'a>],
        settings: Settings,
    ) -> Result<Option<Self>, ChoiceError> {
        let Compared { mut cells, candidates: compared, left_out } = Compared::of(cells).beside_native();
        // Those of one MPI library say together whether it is faster: the worst of many is worse by noise alone. Not those
        // of different sizes, where all count as one.
        let kind =
            |cell: &Measured<'a>| (cell.library, cell.cell.operation.has_own_counts().then_some(cell.cell.bytes));
        cells.sort_by_key(kind);
        let mut all: Option<BTreeMap<String, Found>> = None;
        let mut native = None;
        for of_one in cells.chunk_by(|one, other| kind(one) == kind(other)) {
            let share = of_one.len() as f64 / cells.len() as f64;
            let (here, over_best) = in_library(of_one, &compared, share, settings);
            native = over_best.map(|over_best| native.unwrap_or(0.0) + share * over_best);
            all = Some(match all {
                None => here,
                Some(known) => {
                    let both = known.into_iter().filter_map(|(name, found)| Some((found.and(*here.get(&name)?), name)));
                    both.map(|(found, name)| (name, found)).collect()
                }
            });
        }
        let Some(cell) = cells.first() else { return Ok(None) };
        let mut candidates = BTreeMap::new();
        for (name, Found { loss, against_native, behind, is_undecided }) in all.unwrap_or_default() {
            let choice = if name == NATIVE { None } else { Some(parse_choice(cell.cell.operation, &name)?) };
            // Nothing else is ever as good as another one.
            let level = choice.as_ref().filter(|_| loss.is_level());
            let messages = level.and_then(|choice| messages(choice, cell));
            candidates.insert(name, Candidate { choice, loss, against_native, behind, messages, is_undecided });
        }
        let class = Some(class).filter(|(from, to)| from < to);
        Ok(Some(Self { bytes, is_measured: true, class, candidates, native, left_out }))
    }
}

/// What is known of each candidate by the cells of one MPI library, which are `share` of all; and native's time over that of
/// the best of those that are compared.
fn in_library<'a>(
    cells: &[Measured<'a>],
    compared: &BTreeSet<&str>,
    share: f64,
    settings: Settings,
) -> (BTreeMap<String, Found>, Option<f64>) {
    let native: Option<Vec<f64>> = cells.iter().map(|cell| Some(cell.native()?.seconds.median)).collect();
    let native = native.filter(|times| times.iter().all(|time| *time > 0.0));
    let native = native.map(|times| mean(times.into_iter().map(f64::ln)));
    let is_measured = native.is_some();
    let times: Vec<_> = compared
        .iter()
        .map(|name| {
            // In a cell that has it under several names, the mean.
            let rows = |cell: &Measured<'a>| ours(cell.row).filter(|row| row.algorithm == *name).collect::<Vec<_>>();
            let rows: Vec<_> = cells.iter().map(rows).collect();
            let logs = rows.iter().map(|rows| mean(rows.iter().map(|row| row.seconds.median.ln())));
            Time { name, log: mean(logs), is_measured, ratio: joined(cells, &rows) }
        })
        .collect();
    let best = times.iter().min_by(|one, other| one.log.total_cmp(&other.log)).expect("it holds what is compared");
    // By how much native beats the best of ours, where it does by more than the noise.
    let lost = native.map_or(0.0, |native| best.noticed_over_native(native));
    let ahead = if settings.native { lost.max(0.0) } else { 0.0 };
    let mut all = BTreeMap::new();
    for time in &times {
        let to_native = native.map_or(0.0, |native| time.noticed_over_native(native).max(0.0));
        let found = Found {
            loss: Loss { noticed: share * (time.noticed_over(best) + ahead), to_native },
            against_native: share * native.map_or(0.0, |native| native - time.log),
            behind: share * (time.log - best.log),
            is_undecided: native.is_some_and(|native| time.is_undecided(native)),
        };
        all.insert(time.name.to_owned(), found);
    }
    if let Some(native) = native.filter(|_| settings.native) {
        let loss = Loss { noticed: share * (-lost).max(0.0), to_native: 0.0 };
        let behind = share * (native - best.log);
        let found = Found { loss, behind, is_undecided: best.is_undecided(native), ..Found::default() };
        all.insert(NATIVE.to_owned(), found);
    }
    (all, native.map(|native| native - best.log))
}

/// The ratio of native's time to that of a candidate, of which these are the rows in each of the cells: over the jobs that
/// measured the same, then over different datatypes and roots. None where a cell has none, or several.
fn joined(cells: &[Measured], rows: &[Vec<&VariantRow>]) -> Option<Ratio> {
    let mut same: BTreeMap<_, Vec<(Ratio, u32)>> = BTreeMap::new();
    for (cell, rows) in cells.iter().zip(rows) {
        let [row] = rows[..] else { return None };
        let jobs = row.jobs.unwrap_or(cell.runs).max(1);
        same.entry((cell.cell.key(), &cell.ranks_per_node)).or_default().push((row.against_native?, jobs));
    }
    let of_each: Option<Vec<Ratio>> = same.values().map(|reports| over_reports(reports)).collect();
    over_kinds(&of_each?)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, number) = values.fold((0.0, 0.0), |(sum, number), value| (sum + value, number + 1.0));
    sum / number
}

/// Messages of all ranks in a call of the cell, where they can be counted.
fn messages(choice: &Choice, cell: &CellRow) -> Option<f64> {
    let ranks = cell.ranks as usize;
    if ranks > MOST_RANKS {
        return None;
    }
    let nodes = nodes(&cell.ranks_per_node);
    let shared = choice.algorithm.needs.shared_memory.then_some(SharedMemory::PLAIN);
    let call =
        Call { shared, commutative: cell.cell.commutative, ..plain(cell.cell.operation, cell.cell.bytes, &nodes) };
    choice.accepts(&call, ranks).ok()?;
    let tapes = Tapes::record(choice, &call, ranks, &Form::PLAIN, STEPS)?;
    let sends = |rank| tapes.rank(rank).iter().filter(|beat| matches!(beat, Beat::Send { .. })).count();
    Some((0..ranks).map(sends).sum::<usize>() as f64)
}

/// A call of about so many bytes.
pub fn plain<'a>(operation: Operation, bytes: usize, nodes: &'a [u32]) -> Call<'a> {
    // Elements as long as they can be: of doubles, of other numbers, of characters.
    let unit =
        if operation.reduces() { [8, 4].into_iter().find(|unit| bytes.is_multiple_of(*unit)).unwrap_or(1) } else { 1 };
    Call { nodes, ..Call::plain(operation, bytes.div_ceil(unit), unit) }
}

/// Node of each rank, consecutive ones on each; none for one node.
pub fn nodes(ranks_per_node: &[u32]) -> Vec<u32> {
    if ranks_per_node.len() < 2 {
        return Vec::new();
    }
    (0..).zip(ranks_per_node).flat_map(|(node, ranks)| std::iter::repeat_n(node, *ranks as usize)).collect()
}
