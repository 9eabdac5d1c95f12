//! What a job measures: decided by rank 0 from the user's settings, and carried out by all ranks.

#![forbid(unsafe_code)]

use super::cell::{Cell, Datatype, grid};
use super::pattern::Pattern;
use super::plan;
use super::settings::{Scenario, Settings};
use crate::algorithm::{Call, Operation, counted, find, format_bytes, of, parse_choice};
use crate::monitor::Summary;
use crate::selection::{Transport, variables};
use crate::trial;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The native library's collective.
pub const NATIVE: &str = "native";
/// What Collie runs unless told otherwise.
pub const AUTO: &str = "auto";
/// Modes of Collie that are variants besides [`AUTO`], which is mode `replace`: what mode `best` runs, and mode
/// `learn`, which finds it out in the calls that are timed.
pub const MODES: [&str; 2] = ["best", LEARN];
/// The mode of which a whole job has to be.
pub const LEARN: &str = "learn";
/// Stands for each algorithm that mode `learn` would try in a cell.
pub const CANDIDATES: &str = "candidates";

/// The binary trees of Sinev's report, up and down again, the message in one piece.
const TREES: &str = "reduce_bcast:reduce=binary(segment=none),bcast=binary(segment=none)";
const TREE_RIVALS: [&str; 4] = ["reduce_bcast", "recursive_doubling", "ring", "rabenseifner"];
const TREE_ELEMENTS: usize = 10_000_000;
const STUDY: [&str; 3] = ["binomial", "fibonacci", "binary"];
const STUDY_ELEMENTS: [usize; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/// What a job measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The cells, in the order in which they are listed.
    pub cells: Vec<Cell>,
    /// For each operation, what is compared: [`NATIVE`], [`AUTO`], then algorithms as their users write them.
    pub variants: [Vec<String>; Operation::ALL.len()],
    /// Each of these carries the messages of all but native, side by side; what the variable says if there are none.
    pub transports: Vec<Transport>,
    /// Seconds per cell.
    pub seconds: f64,
    /// Most rounds per cell.
    pub rounds: usize,
    /// Whether every call takes other buffers.
    pub cold: bool,
    /// How calls follow one another.
    pub pattern: Pattern,
    /// Seed of all orders.
    pub seed: u64,
    /// Whether the cost of passing a call on is measured instead.
    pub overhead: bool,
    /// Share of the plan's time in collectives whose calls these cells stand for; absent without a plan.
    pub planned_share: Option<f64>,
}

/// Whether displacements of all blocks fit, each of which may be twice as long as they are in the mean.
fn counts_in_int(cell: &Cell, ranks: usize) -> bool {
    (cell.bytes / cell.datatype.size()).saturating_mul(2).saturating_mul(ranks) <= i32::MAX as usize
}

/// Refuses cells that mode `learn` takes for calls of one kind: what the first of them has cost, the second would not
/// cost again. Not where each rank passes counts of its own: calls of all lengths are one kind there.
fn learned_apart<'a>(cells: impl Iterator<Item = &'a Cell>, ranks: usize) -> Result<(), String> {
    let mut known = BTreeMap::new();
    for cell in cells.filter(|cell| !cell.operation.has_own_counts()) {
        if let Some(other) = known.insert(trial::Cell::of(&call(cell, &[]), ranks), cell) {
            let name = |cell: &Cell| {
                let root = if cell.operation.rooted() { format!(" from rank {}", cell.root) } else { String::new() };
                format!("{} {} {}{root}", cell.operation, format_bytes(cell.bytes), cell.datatype.name())
            };
            return Err(format!(
                "-a learn: {} and {} are one kind of calls to it, so that the second one measured would begin with what the \
                 first has learned; accepted: one root, one datatype and one size between two powers of 2",
                name(other),
                name(cell)
            ));
        }
    }
    Ok(())
}

impl Program {
    /// What `settings` ask of a job of `ranks` ranks; `report` is the one that the plan names.
    ///
    /// # Errors
    /// What cannot be measured, and what can.
    pub fn resolve(settings: &Settings, ranks: usize, report: Option<&Summary>) -> Result<Self, String> {
        settings.check()?;
        let mut operations = settings.operations();
        let mut algorithms = settings.algorithms.clone();
        let mut planned_share = None;
        let roots = match settings.roots.iter().find(|root| **root >= ranks) {
            Some(root) => return Err(format!("there is no root {root} among {}", counted(ranks, "rank"))),
            None => &settings.roots,
        };
        let cells = match (settings.scenario, report) {
            (Some(Scenario::TreeAllreduce), _) => {
                operations = vec![Operation::Allreduce];
                algorithms.splice(..0, [TREES].into_iter().chain(TREE_RIVALS).map(str::to_owned));
                grid(&operations, &[Datatype::Double], &[0], &[TREE_ELEMENTS * Datatype::Double.size()])
            }
            (Some(Scenario::ReduceStudy), _) => {
                operations = vec![Operation::Reduce];
                algorithms.splice(..0, STUDY.map(str::to_owned));
                let sizes = STUDY_ELEMENTS.map(|elements| elements * Datatype::Double.size());
                grid(&operations, &[Datatype::Double], roots, &sizes)
            }
            (Some(Scenario::Overhead), _) => grid(&operations, &[Datatype::Double], &[0], &[Datatype::Double.size()]),
            (None, Some(report)) => {
                let plan = plan::cells(report, &operations, &settings.datatypes, roots, ranks)?;
                planned_share = Some(plan.share);
                plan.cells
            }
            (None, None) => {
                let mut cells = grid(&operations, &settings.datatypes, roots, &settings.sizes());
                for cell in cells.iter_mut().filter(|cell| cell.operation.reduces()) {
                    cell.commutative = !settings.non_commutative;
                    cell.user_defined = settings.user_defined;
                }
                cells
            }
        };
        if cells.is_empty() {
            return Err("nothing to measure: reductions are not defined on the strided datatype".to_owned());
        }
        if let Some(cell) = cells.iter().find(|cell| cell.operation.has_own_counts() && !counts_in_int(cell, ranks)) {
            let most = format_bytes(i32::MAX as usize / (2 * ranks) * cell.datatype.size());
            let (operation, bytes) = (cell.operation, format_bytes(cell.bytes));
            return Err(format!(
                "{operation} of {bytes} among {}: its displacements are more than an int holds; accepted: up to {most}",
                counted(ranks, "rank")
            ));
        }
        let overhead = settings.scenario == Some(Scenario::Overhead);
        if overhead && !settings.transports.is_empty() {
            return Err("--transport: Collie sends no messages in the scenario overhead".to_owned());
        }
        let variants = variants(&operations, &algorithms)?;
        let learns = |cell: &&Cell| variants[cell.operation as usize].iter().any(|name| name == LEARN);
        learned_apart(cells.iter().filter(learns), ranks)?;
        let wanted = |transport: &Transport| settings.transports.contains(transport);
        let transports = Transport::ALL.into_iter().filter(wanted).collect();
        Ok(Self {
            variants,
            cells,
            transports,
            seconds: settings.seconds,
            rounds: settings.rounds,
            cold: settings.cold,
            pattern: settings.pattern,
            seed: settings.seed,
            overhead,
            planned_share,
        })
    }

    /// Whether something learns in the calls that are timed.
    pub fn learns(&self) -> bool {
        self.variants.iter().flatten().any(|name| name == LEARN)
    }

    /// What is compared in `cell`.
    pub fn variants(&self, cell: &Cell) -> &[String] {
        &self.variants[cell.operation as usize]
    }
}

/// The variables that a job for these settings has to have.
pub fn environment(settings: &Settings) -> Vec<(&'static str, &'static str)> {
    let learns = settings.algorithms.iter().any(|text| text.rsplit('=').next() == Some(LEARN));
    let mode = learns.then_some((variables::MODE, LEARN));
    // Where transports are told, each communicator is told its own.
    let transport = (!settings.transports.is_empty()).then_some((variables::TRANSPORT, Transport::Messages.name()));
    mode.into_iter().chain(transport).collect()
}

/// What a variant is called in reports where its messages travel as `transport` says; the transport alone where Collie
/// decides by itself.
pub fn over(transport: Option<Transport>, name: &str) -> String {
    match (transport.map(Transport::name), name) {
        (None, name) | (_, name @ NATIVE) => name.to_owned(),
        (Some(transport), AUTO) => transport.to_owned(),
        (Some(transport), name) => format!("{transport}: {name}"),
    }
}

/// The names of what Collie chooses by itself.
pub const AUTOS: [&str; 3] = [AUTO, Transport::Messages.name(), Transport::Shared.name()];

/// Whether that is the name of what Collie chooses by itself.
pub fn is_auto(name: &str) -> bool {
    AUTOS.contains(&name)
}

/// The call of a cell, as algorithms see it.
pub const fn call<'a>(cell: &Cell, nodes: &'a [u32]) -> Call<'a> {
    let unit = if cell.operation.reduces() { cell.datatype.size() } else { 1 };
    Call {
        root: cell.root,
        nodes,
        commutative: cell.commutative,
        reduce_local: cell.reduces_locally(),
        ..Call::plain(cell.operation, cell.bytes / unit, unit)
    }
}

/// Sorts what is asked for by operation.
fn variants(operations: &[Operation], algorithms: &[String]) -> Result<[Vec<String>; Operation::ALL.len()], String> {
    let mut variants: [Vec<String>; Operation::ALL.len()] = Default::default();
    for operation in operations {
        variants[*operation as usize] = vec![NATIVE.to_owned(), AUTO.to_owned()];
    }
    for text in algorithms {
        let prefixed = text.split_once('=').and_then(|(name, rest)| Some((Operation::from_name(name)?, rest)));
        let (wanted, text) = match prefixed {
            Some((operation, rest)) if operations.contains(&operation) => (vec![operation], rest),
            Some((operation, _)) => return Err(format!("--algorithm {text}: {operation} is not measured")),
            None => (operations.to_vec(), text.as_str()),
        };
        let name = text.split(':').next().unwrap_or_default().trim();
        if [NATIVE, AUTO].contains(&name) {
            continue;
        }
        let is_any = [&MODES[..], &[CANDIDATES, "all"]].concat().contains(&text.trim());
        let having = |operation: &&Operation| is_any || find(**operation, name).is_some();
        let having: Vec<_> = wanted.iter().filter(having).collect();
        if having.is_empty() {
            // The first operation's own words say what it would accept.
            let error = parse_choice(wanted[0], text).err();
            let more = [&["all", CANDIDATES][..], &MODES].concat().join(", ");
            return Err(error.map_or_else(String::new, |error| format!("--algorithm {text}: {error}, {more}")));
        }
        for operation in having {
            let list = &mut variants[*operation as usize];
            if name == "all" {
                list.extend(of(*operation).iter().map(|row| row.name.to_owned()));
            } else if is_any {
                list.push(name.to_owned());
            } else {
                parse_choice(*operation, text).map_err(|error| format!("--algorithm {text}: {error}"))?;
                list.push(text.to_owned());
            }
        }
    }
    for list in &mut variants {
        let mut seen = std::collections::HashSet::new();
        list.retain(|text| seen.insert(text.clone()));
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(operations: &[Operation], algorithms: &[&str]) -> Result<Vec<String>, String> {
        let algorithms: Vec<_> = algorithms.iter().map(|text| (*text).to_owned()).collect();
        variants(operations, &algorithms).map(|all| all[operations[0] as usize].clone())
    }

    #[test]
    fn algorithms_go_to_the_operations_that_have_them() {
        let both = [Operation::Bcast, Operation::Allreduce];
        assert_eq!(found(&both, &["binomial", "rabenseifner"]).unwrap(), ["native", "auto", "binomial"]);
        assert_eq!(found(&both, &["bcast=ring", "allreduce=ring"]).unwrap(), ["native", "auto", "ring"]);
        let all = found(&both, &["all", "linear", "auto"]).unwrap();
        assert_eq!(all.len(), 2 + of(Operation::Bcast).len());
        let inner = "reduce_bcast:reduce=binary(segment=none)";
        assert_eq!(found(&[Operation::Allreduce], &[inner]).unwrap()[2], inner);
    }

    #[test]
    fn modes_and_candidates_are_every_operations() {
        let both = [Operation::Bcast, Operation::Barrier];
        let named = ["learn", "best", "candidates", "learn"];
        assert_eq!(found(&both, &named).unwrap(), ["native", "auto", "learn", "best", "candidates"]);
        assert!(found(&both, &["learn:segment=1K"]).is_err());
        assert_eq!(found(&both, &["bcast=learn"]).unwrap(), ["native", "auto", "learn"]);
    }

    #[test]
    fn a_transport_takes_the_place_of_auto_and_stands_before_algorithms() {
        let named = |name| over(Some(Transport::Shared), name);
        assert_eq!([NATIVE, AUTO, "ring"].map(named), ["native", "shared", "shared: ring"]);
        assert_eq!(over(None, AUTO), AUTO);
        assert!(AUTOS.into_iter().all(is_auto) && !is_auto("shared: ring") && !is_auto(NATIVE));
    }

    #[test]
    fn what_learns_together_is_not_measured_apart() {
        let told = |sizes: &[usize], datatypes: &[Datatype], roots: &[usize]| {
            let operations = [Operation::Reduce, Operation::Barrier, Operation::Alltoallv];
            learned_apart(grid(&operations, datatypes, roots, sizes).iter(), 4)
        };
        assert_eq!(told(&[8, 64, 1024, 2048], &[Datatype::Double], &[0]), Ok(()));
        for refused in [
            told(&[1024, 1536], &[Datatype::Double], &[0]),
            told(&[1024], &[Datatype::Double, Datatype::Float], &[0]),
            told(&[1024], &[Datatype::Double], &[0, 1]),
        ] {
            assert!(refused.unwrap_err().starts_with("-a learn: reduce 1K "));
        }
    }

    #[test]
    fn what_nobody_has_is_refused() {
        let both = [Operation::Bcast, Operation::Allreduce];
        assert!(found(&both, &["binominal"]).unwrap_err().contains("accepted: "));
        assert!(found(&both, &["knomial:radix=1"]).unwrap_err().contains("radix"));
        assert!(found(&both, &["gather=linear"]).unwrap_err().contains("not measured"));
    }

    #[test]
    fn scenarios_name_what_is_in_the_catalogue() {
        for (operation, text) in TREE_RIVALS.into_iter().chain([TREES]).map(|text| (Operation::Allreduce, text)) {
            parse_choice(operation, text).unwrap();
        }
        for text in STUDY {
            parse_choice(Operation::Reduce, text).unwrap();
        }
    }
}
