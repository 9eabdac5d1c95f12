//! From measured cells to rules: for each operation and number of ranks the fewest rows that lose little.
//!
//! Of each cell every forced algorithm counts with its median over the best one's, as the geometric mean over reports
//! (which may be of different MPI libraries), datatypes and roots. Along the sizes, rows are chosen so that what they
//! lose against the best of each size, plus a fixed price per change of the algorithm, is least: noise alone then
//! changes nothing. What a row loses to native counts once more, and not as a mean, but where it is most: being fast under
//! one library does not make up for being slower than without Collie under another.

#![forbid(unsafe_code)]

use super::program::{AUTO, NATIVE};
use super::result::{CellRow, Report, VariantRow};
use crate::algorithm::{ChoiceError, Operation, parse_choice};
use crate::selection::{BytesOf, Condition, Implementation, Mpi, Rule, Span, Versions, Wanted};
use std::collections::{BTreeMap, BTreeSet};

/// What the rows may be made of.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Loss in which one change of the algorithm has to pay, as a share of one size's time: 0.05 is 5 %.
    pub price: f64,
    /// Whether a row may leave calls to the native library.
    pub native: bool,
    /// Whether each MPI library and minor release gets rows of its own, which hold for it alone.
    pub by_mpi: bool,
    /// Whether rows hold for numbers of ranks near the measured ones as well.
    pub extend: bool,
}

/// Rows for one operation and number of ranks, with what they rest on.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What was measured, in words.
    pub evidence: String,
    /// In order.
    pub rules: Vec<Rule>,
}

/// Calls that are measured together and get rules of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    operation: Operation,
    one_node: bool,
    oversubscribed: bool,
    several_per_node: bool,
    /// None where all MPI libraries count alike.
    mpi: Option<(Implementation, Versions)>,
    ranks: u32,
}

/// Of one size: what each candidate loses; and the logarithm of native's time over the best candidate's.
struct Size {
    bytes: usize,
    losses: BTreeMap<String, Loss>,
    native: Option<f64>,
}

/// What one candidate loses, in logarithms of times.
#[derive(Clone, Copy)]
struct Loss {
    /// Over the best candidate's, mean over cells.
    to_best: f64,
    /// The same with losses below [`LEVEL`] left out.
    noticed: f64,
    /// Over native's, of the cell where that is most; 0 if it is nowhere slower.
    to_native: f64,
}

/// What is slower by no more than this share is level: over many sizes, differences that are but noise would add up to
/// the price of a change.
const LEVEL: f64 = 0.02;

impl Loss {
    /// In one of a number of cells of which it is `share`.
    fn of(time: f64, best: f64, native: Option<f64>, share: f64) -> Self {
        let noticed = |loss: f64| if loss < LEVEL { 0.0 } else { loss };
        let to_native = native.map_or(0.0, |native| noticed(time - native));
        Self { to_best: share * (time - best), noticed: share * noticed(time - best), to_native }
    }

    fn and(self, other: Self) -> Self {
        Self {
            to_best: self.to_best + other.to_best,
            noticed: self.noticed + other.noticed,
            to_native: self.to_native.max(other.to_native),
        }
    }

    /// Of rows that are level, the faster one.
    fn cost(self) -> f64 {
        self.noticed + self.to_native + self.to_best / 100.0
    }
}

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
    let places: BTreeSet<_> = groups.keys().map(Group::place).collect();
    let counts = |group: &Group| -> Vec<u32> {
        let kind = |group: &Group| (group.operation, group.place(), group.mpi);
        let alike = groups.keys().filter(|other| kind(other) == kind(group));
        alike.map(|other| other.ranks).collect()
    };
    let blocks = groups.iter().filter_map(|(group, cells)| {
        let sizes: Vec<_> = cells.iter().filter_map(|(bytes, cells)| Size::of(*bytes, cells, settings)).collect();
        let ranks = if settings.extend { nearest(&counts(group), group.ranks) } else { exactly(group.ranks) };
        let conditions = group.conditions(places.iter().copied());
        (!sizes.is_empty()).then(|| block(group, &sizes, ranks, &conditions, settings))
    });
    blocks.collect()
}

impl Group {
    fn of(cell: &CellRow, mpi: Option<(Implementation, Versions)>) -> Self {
        Self {
            operation: cell.cell.operation,
            one_node: cell.ranks_per_node.len() == 1,
            oversubscribed: cell.oversubscribed,
            several_per_node: cell.ranks_per_node.iter().any(|ranks| *ranks > 1),
            mpi,
            ranks: cell.ranks,
        }
    }

    /// (one node, oversubscribed, several ranks on a node): what tables and conditions tell apart.
    const fn place(&self) -> (bool, bool, bool) {
        (self.one_node, self.oversubscribed, self.several_per_node && !self.one_node)
    }

    /// What has to hold for calls of this group, as far as the reports hold calls for which it does not.
    fn conditions(&self, places: impl Iterator<Item = (bool, bool, bool)>) -> Vec<Condition> {
        let all: Vec<_> = places.collect();
        let mut conditions = Vec::new();
        if all.iter().any(|place| place.0 != self.one_node) {
            conditions.push(if self.one_node { Condition::OneNode } else { Condition::SeveralNodes });
        }
        if all.iter().any(|place| place.1 != self.oversubscribed) {
            conditions.push(match self.oversubscribed {
                true => Condition::Oversubscribed,
                false => Condition::NotOversubscribed,
            });
        }
        // The others come last and need no condition.
        if !self.one_node && !self.several_per_node && all.iter().any(|place| place.2) {
            conditions.push(Condition::OnePerNode);
        }
        if let Some((implementation, versions)) = self.mpi {
            conditions.extend([Condition::Mpi(implementation), Condition::MpiVersion(versions)]);
        }
        conditions
    }
}

const fn exactly(ranks: u32) -> Span {
    Span { least: ranks as usize, most: ranks as usize }
}

/// The numbers of ranks that are nearest to `ranks` among those measured, in ratio; none further away than a factor of
/// two, beyond which a measurement says little.
fn nearest(counts: &[u32], ranks: u32) -> Span {
    let middle = |one: u32, other: u32| f64::from(one * other).sqrt() as usize;
    let place = counts.iter().position(|count| *count == ranks).expect("a count is among the counts");
    let after = place.checked_sub(1).map_or(0, |before| middle(counts[before], ranks) + 1);
    let until = counts.get(place + 1).map_or(usize::MAX, |next| middle(ranks, *next));
    Span { least: after.max(ranks.div_ceil(2) as usize), most: until.min(2 * ranks as usize) }
}

impl Size {
    /// Nothing if no candidate was measured in every cell.
    fn of(bytes: usize, cells: &[&CellRow], settings: Settings) -> Option<Self> {
        let mut losses: Option<BTreeMap<String, Loss>> = None;
        let mut natives = Vec::new();
        let share = 1.0 / cells.len() as f64;
        for cell in cells {
            let candidates = cell.variants.iter().filter(|row| {
                row.variant != AUTO
                    && (settings.native || row.variant != NATIVE)
                    && !cell.wrong.contains(&row.variant)
                    && !is_flat_anyway(cell, row)
                    && row.seconds.median > 0.0
            });
            let times: BTreeMap<_, _> =
                candidates.map(|row| (row.algorithm.clone(), row.seconds.median.ln())).collect();
            let best = times.values().copied().fold(f64::INFINITY, f64::min);
            let native = cell.native().map(|row| row.seconds.median.ln());
            natives.extend(native.map(|native| native - best));
            let here = times.into_iter().map(|(name, time)| (name, Loss::of(time, best, native, share)));
            losses = Some(match losses {
                None => here.collect(),
                Some(known) => {
                    let both = here.filter_map(|(name, loss)| {
                        let before = known.get(&name)?;
                        Some((name, before.and(loss)))
                    });
                    both.collect()
                }
            });
        }
        let losses = losses?;
        let native = (!natives.is_empty()).then(|| natives.iter().sum::<f64>() / natives.len() as f64);
        (!losses.is_empty()).then_some(Self { bytes, losses, native })
    }
}

/// Whether it takes nodes for what one rank each already is: then the leaders' algorithm does the same by itself.
fn is_flat_anyway(cell: &CellRow, row: &VariantRow) -> bool {
    row.algorithm.starts_with("hierarchical") && cell.ranks_per_node.iter().all(|ranks| *ranks == 1)
}

/// The candidate for each size such that losses and changes together cost least.
fn cheapest<'a>(sizes: &'a [Size], settings: Settings) -> Vec<&'a str> {
    // Cost so far and the choices that lead to it, by last choice.
    let mut paths: BTreeMap<&'a str, (f64, Vec<&'a str>)> = BTreeMap::new();
    for size in sizes {
        let cheapest = paths.values().min_by(|one, other| one.0.total_cmp(&other.0)).cloned();
        paths = size
            .losses
            .iter()
            .map(|(name, loss)| {
                let stay = paths.get(name.as_str()).cloned();
                let change = cheapest.clone().map(|(cost, path)| (cost + settings.price, path));
                let (cost, mut path) = match (stay, change) {
                    (Some(stay), Some(change)) => {
                        if stay.0 <= change.0 {
                            stay
                        } else {
                            change
                        }
                    }
                    (stay, change) => stay.or(change).unwrap_or_default(),
                };
                path.push(name.as_str());
                (name.as_str(), (cost + loss.cost(), path))
            })
            .collect();
    }
    paths.into_values().min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, path)| path).unwrap_or_default()
}

fn block(
    group: &Group,
    sizes: &[Size],
    ranks: Span,
    conditions: &[Condition],
    settings: Settings,
) -> Result<Block, ChoiceError> {
    let path = cheapest(sizes, settings);
    let mut rules: Vec<Rule> = Vec::new();
    let mut ratios = Vec::new();
    let mut least = 0;
    for (place, (size, name)) in sizes.iter().zip(&path).enumerate() {
        let middle = |next: &Size| ((size.bytes.max(1) as f64) * next.bytes as f64).sqrt() as usize;
        let most = sizes.get(place + 1).map_or(usize::MAX, middle);
        if let Some(native) = size.native {
            let ratio = (native - size.losses[*name].to_best).exp();
            ratios.push(match group.operation.has_own_counts() {
                true => format!("{ratio:.2} over all sizes"),
                false => format!("{} {ratio:.2}", size.bytes),
            });
        }
        let wanted = match *name {
            NATIVE => Wanted::Native,
            name => Wanted::Algorithm(parse_choice(group.operation, name)?),
        };
        match rules.last_mut() {
            Some(last) if last.wanted == wanted => last.bytes.most = most,
            _ => rules.push(Rule {
                operation: group.operation,
                ranks,
                bytes: Span { least, most },
                bytes_of: BytesOf::Rank,
                wanted,
                conditions: conditions.to_vec(),
                line: 0,
            }),
        }
        least = most.saturating_add(1);
    }
    for rule in &mut rules {
        if rule.bytes.least == 0 && rule.bytes.most == usize::MAX {
            rule.bytes = Span::ALL;
        }
    }
    let evidence =
        format!("{}, {} ranks; native over this: {}", group.operation.name(), group.ranks, ratios.join(", "));
    Ok(Block { evidence, rules })
}

/// The blocks as a rules file; each line of `header` becomes a comment.
pub fn text(blocks: &[Block], header: &str) -> String {
    let comment = |line: &str| format!("# {line}").trim_end().to_owned() + "\n";
    let mut text: String = header.lines().map(comment).collect();
    for block in blocks {
        text.push('\n');
        text.push_str(&comment(&block.evidence));
        for rule in &block.rules {
            text.push_str(&format!("{rule}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::result::tests::{report, row};
    use crate::selection::parse_rules;

    const SETTINGS: Settings = Settings { price: 0.05, native: false, by_mpi: false, extend: true };

    /// A cell of allreduce with times of algorithms in microseconds; native takes ten.
    fn cell(bytes: usize, ranks: u32, times: &[(&str, f64)]) -> CellRow {
        let mut cell = row(Operation::Allreduce, bytes, ranks, 1.0);
        let auto = cell.variants.pop().expect("auto");
        cell.variants.extend(times.iter().map(|(name, time)| {
            let mut row = VariantRow { variant: (*name).to_owned(), algorithm: (*name).to_owned(), ..auto.clone() };
            row.seconds.median = time / 1e6;
            row
        }));
        cell
    }

    fn lines(reports: &[Report], settings: Settings) -> Vec<String> {
        let blocks = tune(reports, settings).unwrap();
        let all = blocks.iter().flat_map(|block| &block.rules);
        all.map(|rule| rule.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_row_ends_where_another_algorithm_wins() {
        let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
        let cells = vec![times(64, 5.0, 8.0), times(4096, 9.0, 9.2), times(16384, 30.0, 15.0)];
        let found = lines(&[report(cells)], SETTINGS);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("allreduce 2-8 0-8K recursive_doubling"), "{found:?}");
        assert!(found[1].starts_with("allreduce 2-8 8193-inf ring"), "{found:?}");
    }

    #[test]
    fn sizes_that_no_rank_knows_decide_nothing() {
        let times = |bytes, linear, bruck| {
            let mut cell = cell(bytes, 4, &[("linear", linear), ("two_phase_bruck", bruck)]);
            cell.cell.operation = Operation::Alltoallv;
            cell
        };
        let cells = vec![times(64, 9.0, 8.0), times(4096, 9.0, 12.0)];
        let written = text(&tune(&[report(cells.clone())], SETTINGS).unwrap(), "");
        assert!(written.contains("native over this: 1.11 over all sizes"), "{written}");
        assert_eq!(lines(&[report(cells)], SETTINGS), ["alltoallv 2-8 * linear:max_requests=32"]);
    }

    #[test]
    fn what_noise_could_have_done_changes_nothing() {
        let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
        let cells = vec![times(64, 5.0, 8.0), times(512, 9.1, 9.0), times(4096, 30.0, 31.0)];
        let found = lines(&[report(cells)], SETTINGS);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("allreduce 2-8 * recursive_doubling"), "{found:?}");
    }

    #[test]
    fn reports_of_two_libraries_count_alike() {
        let one = report(vec![cell(64, 4, &[("recursive_doubling", 1.0), ("ring", 1.5)])]);
        let other = report(vec![cell(64, 4, &[("recursive_doubling", 400.0), ("ring", 200.0)])]);
        let found = lines(&[one, other], SETTINGS);
        assert!(found[0].contains("ring"), "{found:?}");
    }

    #[test]
    fn each_library_gets_rows_of_its_own_where_that_is_asked_for() {
        let of = |library: &str, name| Report {
            mpi_library: library.to_owned(),
            ..report(vec![cell(64, 4, &[(name, 1.0)])])
        };
        let reports = [of("MPICH Version: 4.0.2", "recursive_doubling"), of("Open MPI v4.1.4, package: x", "ring")];
        let found = lines(&reports, Settings { by_mpi: true, extend: false, ..SETTINGS });
        let expected = [
            "allreduce 4 * ring if mpi=openmpi and mpi_version=4.1",
            "allreduce 4 * recursive_doubling if mpi=mpich and mpi_version=4.0",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn small_differences_do_not_add_up() {
        let times = |bytes, tree, ring| cell(bytes, 4, &[("recursive_doubling", tree), ("ring", ring)]);
        let level = (10..20).map(|power| times(1 << power, 9.0, 9.1));
        let cells = std::iter::once(times(64, 9.0, 5.0)).chain(level).collect();
        let found = lines(&[report(cells)], SETTINGS);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("* ring"), "{found:?}");
    }

    #[test]
    fn being_slower_than_native_counts_once_more() {
        let one = report(vec![cell(64, 4, &[("recursive_doubling", 7.0), ("ring", 9.0)])]);
        let other = report(vec![cell(64, 4, &[("recursive_doubling", 12.0), ("ring", 10.0)])]);
        let found = lines(&[one, other], SETTINGS);
        assert!(found[0].contains("ring"), "{found:?}");
    }

    #[test]
    fn native_is_a_candidate_where_that_is_asked_for() {
        let cells = || vec![cell(64, 4, &[("recursive_doubling", 20.0)])];
        assert!(lines(&[report(cells())], SETTINGS)[0].contains("recursive_doubling"));
        let found = lines(&[report(cells())], Settings { native: true, ..SETTINGS });
        assert!(found[0].ends_with("native"), "{found:?}");
    }

    #[test]
    fn numbers_of_ranks_that_were_not_measured_follow_the_nearest() {
        let of = |ranks, name| cell(64, ranks, &[(name, 1.0)]);
        let cells = vec![of(2, "recursive_doubling"), of(8, "ring")];
        let found = lines(&[report(cells.clone())], SETTINGS);
        assert!(found[0].starts_with("allreduce 1-4") && found[1].starts_with("allreduce 5-16"), "{found:?}");
        let found = lines(&[report(cells)], Settings { extend: false, ..SETTINGS });
        assert!(found[0].starts_with("allreduce 2 ") && found[1].starts_with("allreduce 8 "), "{found:?}");
    }

    #[test]
    fn places_are_told_apart_where_the_reports_hold_several() {
        let mut crowded = cell(64, 4, &[("ring", 1.0)]);
        crowded.oversubscribed = true;
        let found = lines(&[report(vec![cell(64, 4, &[("recursive_doubling", 1.0)]), crowded])], SETTINGS);
        assert!(found[0].ends_with("recursive_doubling if not_oversubscribed"), "{found:?}");
        assert!(found[1].ends_with("if oversubscribed"), "{found:?}");
    }

    #[test]
    fn an_unknown_algorithm_is_refused() {
        let error = tune(&[report(vec![cell(64, 4, &[("rong", 1.0)])])], SETTINGS).unwrap_err();
        assert!(error.to_string().contains("rong"), "{error}");
    }

    #[test]
    fn the_file_is_read_back() {
        let cells = vec![cell(64, 4, &[("recursive_doubling", 1.0)]), cell(1 << 20, 4, &[("ring", 1.0)])];
        let written = text(&tune(&[report(cells)], SETTINGS).unwrap(), "Measured on\n\none machine");
        let read = parse_rules("tuned.rules", &written).unwrap();
        assert_eq!(read.of(Operation::Allreduce).len(), 2, "{written}");
        assert!(written.starts_with("# Measured on\n#\n# one machine\n"), "{written}");
    }
}
