//! `collie tune --network`: cells like those of a benchmark for numbers of ranks that nobody can measure, by
//! simulation; and what of them was not come to.

use super::simulation_pool::{Plan, Progress, Time, simulated};
use crate::algorithm::{Choice, Operation, counted, counted_bytes, of};
use crate::bench::cell::{Cell, Datatype};
use crate::bench::result::{CellRow, Report, SCHEMA_VERSION, VariantRow};
use crate::bench::statistics::Spread;
use crate::bench::tune::Block;
use crate::operation::RankNeed;
use crate::schedule::simulate::Network;
use crate::selection::Transport;
use std::collections::BTreeSet;
use std::time::Duration;

/// Sizes that are simulated: what one rank contributes.
const BYTES: [usize; 8] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20];

/// What is to be predicted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// On which network.
    pub network: &'a Network,
    /// Of which operations.
    pub operations: &'a [Operation],
    /// Among so many ranks.
    pub ranks: &'a [usize],
    /// Steps up to which a call is simulated; beyond them the cost formula tells the time.
    pub steps: usize,
    /// After so long the cost formula tells the rest; each operation has its share.
    pub patience: Duration,
}

/// What was.
pub struct Predicted {
    /// Cells in which every algorithm has a time that can be used there.
    pub report: Report,
    /// Times that were told, and those among them that the cost formula told.
    pub times: (usize, usize),
    /// Of each operation that is not complete, what is missing, in words.
    pub missing: Vec<String>,
    /// Of each number of ranks at which an operation is not complete, the most bytes up to which it is.
    ends: Vec<(Operation, usize, usize)>,
}

impl Predicted {
    /// Has rows end where simulations did, if they were ended.
    pub fn limit(&self, blocks: &mut [Block]) {
        for rules in blocks.iter_mut().map(|block| &mut block.rules) {
            for rule in rules.iter_mut() {
                let of_rule = |(operation, ranks, _): &&(Operation, usize, usize)| {
                    *operation == rule.operation && (rule.ranks.least..=rule.ranks.most).contains(ranks)
                };
                let end = self.ends.iter().filter(of_rule).map(|(.., bytes)| *bytes).min();
                rule.bytes.most = rule.bytes.most.min(end.unwrap_or(usize::MAX));
            }
            rules.retain(|rule| rule.bytes.least <= rule.bytes.most);
        }
    }
}

/// Each algorithm that works among any number of ranks, since rules hold for the numbers between as well, and without
/// shared memory, which messages do not need; as far as it came when somebody ends it.
///
/// # Errors
/// Programs that do not fit together.
pub fn report(wanted: &Wanted, progress: &Progress) -> Result<Predicted, String> {
    let Wanted { network, operations, ranks, steps, .. } = *wanted;
    let (mut cells, mut missing, mut ends, mut counts) = (Vec::new(), Vec::new(), Vec::new(), (0, 0));
    for (place, &operation) in operations.iter().enumerate() {
        let rows = of(operation).iter().filter(|row| row.needs.ranks == RankNeed::Any && !row.needs.shared_memory);
        let choices: Vec<_> = rows.map(|row| Choice::new(row)).collect();
        // What no rank knows decides nothing.
        let bytes = match operation {
            _ if !operation.has_data() => vec![0],
            _ if operation.has_own_counts() => vec![512],
            _ => BYTES.to_vec(),
        };
        let patience = progress.share_of(wanted.patience, operations.len() - place);
        let plan = Plan { operation, choices: &choices, ranks, bytes: &bytes, network, shares: false, steps, patience };
        let times = simulated(&plan, progress)?;
        let told = times.iter().flatten().filter_map(|time| time.prediction());
        counts = told.fold(counts, |(all, formula), time| (all + 1, formula + usize::from(!time.simulated)));
        let all: Vec<_> = ranks.iter().flat_map(|ranks| bytes.iter().map(move |bytes| (*ranks, *bytes))).collect();
        let (whole, partial): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|cell| times.iter().all(|times| times[*cell] != Time::NotReached));
        if let Some((ranks, bytes)) = partial.first().map(|first| all[*first]) {
            let size = if operation.has_data() { format!(" on {}", counted_bytes(bytes)) } else { String::new() };
            let (number, all) = (partial.len(), all.len());
            missing.push(format!(
                "{operation}: {number} of {}, the first of them{size} among {}",
                counted(all, "cell"),
                counted(ranks, "rank")
            ));
        }
        let last =
            |ranks: usize| whole.iter().map(|cell| all[*cell]).filter(|cell| cell.0 == ranks).map(|cell| cell.1).max();
        let ended: BTreeSet<usize> = partial.iter().map(|cell| all[*cell].0).collect();
        ends.extend(ended.into_iter().filter_map(|ranks| Some((operation, ranks, last(ranks)?))));
        for (ranks, bytes, cell_of) in whole.into_iter().map(|cell| (all[cell].0, all[cell].1, cell)) {
            let told = |(choice, times): (&Choice, &Vec<Time>)| {
                Some(variant(&choice.to_string(), times[cell_of].prediction()?.time))
            };
            let variants: Vec<_> = choices.iter().zip(&times).filter_map(told).collect();
            cells.push(cell(network, operation, bytes, ranks, variants));
        }
    }
    let report = Report {
        schema_version: SCHEMA_VERSION,
        collie_version: env!("CARGO_PKG_VERSION").to_owned(),
        mpi_library: format!("predicted on the network {}", network.name),
        runs: 1,
        cells,
        ..Report::default()
    };
    Ok(Predicted { report, times: counts, missing, ends })
}

fn variant(name: &str, time: f64) -> VariantRow {
    let seconds = Spread { median: time, p10: time, p90: time, min: time, mean: time };
    VariantRow {
        jobs: None,
        variant: name.to_owned(),
        algorithm: name.to_owned(),
        transport: Transport::Messages,
        seconds,
        against_native: None,
    }
}

fn cell(network: &Network, operation: Operation, bytes: usize, ranks: usize, variants: Vec<VariantRow>) -> CellRow {
    let each = network.ranks_per_node.min(ranks);
    let ranks_per_node = (0..ranks.div_ceil(each)).map(|node| each.min(ranks - node * each) as u32).collect();
    CellRow {
        cell: Cell {
            operation,
            datatype: Datatype::Byte,
            root: 0,
            bytes,
            commutative: true,
            user_defined: false,
            calls: None,
            share: None,
        },
        size_class: None,
        ranks: ranks as u32,
        ranks_per_node,
        oversubscribed: false,
        rounds: 0,
        bound_seconds: None,
        variants,
        left_out: Vec::new(),
        wrong: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parse_choice;

    const OPERATIONS: [Operation; 2] = [Operation::Bcast, Operation::Barrier];

    fn wanted(network: &Network) -> Wanted<'_> {
        Wanted { network, operations: &OPERATIONS, ranks: &[16, 32], steps: 1, patience: Duration::MAX }
    }

    #[test]
    fn what_needs_shared_memory_is_not_among_messages() {
        let network = Network::find("ethernet").unwrap();
        let wanted = Wanted { ranks: &[16], operations: &OPERATIONS[..1], ..wanted(&network) };
        let found = report(&wanted, &Progress::start()).unwrap().report;
        assert!(found.cells.iter().all(|cell| cell.ranks_per_node == [16]), "one node, whose ranks could share memory");
        let names = found.cells.iter().flat_map(|cell| &cell.variants).map(|row| &row.algorithm);
        let needs = |name: &String| parse_choice(Operation::Bcast, name).unwrap().algorithm.needs.shared_memory;
        let (shared, messages): (Vec<_>, Vec<_>) = names.partition(|name| needs(name));
        assert!(shared.is_empty() && !messages.is_empty(), "{shared:?}");
    }

    #[test]
    fn what_is_not_whole_is_missing() {
        let network = Network::find("ethernet").unwrap();
        let progress = Progress::start();
        let whole = report(&wanted(&network), &progress).unwrap();
        assert_eq!((whole.report.cells.len(), whole.missing.len()), (18, 0));
        assert!(
            whole.times.0 > 0 && whole.times.1 == whole.times.0,
            "one step is too little for any: {:?}",
            whole.times
        );
        progress.end();
        let none = report(&wanted(&network), &progress).unwrap();
        let expected = [
            "bcast: 16 of 16 cells, the first of them on 8 bytes among 16 ranks",
            "barrier: 2 of 2 cells, the first of them among 16 ranks",
        ];
        assert_eq!((none.report.cells.len(), none.missing), (0, expected.map(str::to_owned).to_vec()));
    }
}
