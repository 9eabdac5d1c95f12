//! `collie tune --network`: cells like those of a benchmark for numbers of ranks that nobody can measure, by simulation.

use super::simulating::{Plan, Progress, simulated};
use crate::algorithm::{Choice, Operation, of};
use crate::bench::cell::{Cell, Datatype};
use crate::bench::result::{CellRow, Report, SCHEMA_VERSION, VariantRow};
use crate::bench::statistics::Spread;
use crate::operation::RankNeed;
use crate::schedule::simulate::Network;
use crate::selection::Transport;
use std::time::Duration;

/// Sizes that are simulated: what one rank contributes.
const BYTES: [usize; 8] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20];

/// Each algorithm that works among any number of ranks, since rules hold for the numbers between as well, and without shared
/// memory, which messages do not need; as far as it came when somebody ends it.
///
/// # Errors
/// Programs that do not fit together.
pub fn report(
    network: &Network,
    operations: &[Operation],
    ranks: &[usize],
    steps: usize,
    progress: &Progress,
) -> Result<Report, String> {
    let mut cells = Vec::new();
    for &operation in operations {
        let rows = of(operation).iter().filter(|row| row.needs.ranks == RankNeed::Any && !row.needs.shared_memory);
        let choices: Vec<_> = rows.map(|row| Choice::new(row)).collect();
        // What no rank knows decides nothing.
        let bytes = match operation {
            _ if !operation.has_data() => vec![0],
            _ if operation.has_own_counts() => vec![512],
            _ => BYTES.to_vec(),
        };
        let patience = Duration::MAX;
        let plan = Plan { operation, choices: &choices, ranks, bytes: &bytes, network, steps, patience };
        let times = simulated(&plan, progress)?;
        for (place, count) in ranks.iter().enumerate() {
            for (nth, bytes) in bytes.iter().enumerate() {
                let told = |(choice, times): (&Choice, &Vec<_>)| {
                    let time: super::simulating::Time = times[place * plan.bytes.len() + nth];
                    Some(variant(&choice.to_string(), time.told()?.time))
                };
                let variants: Vec<_> = choices.iter().zip(&times).filter_map(told).collect();
                cells.push(cell(network, operation, *bytes, *count, variants));
            }
        }
    }
    Ok(Report {
        schema_version: SCHEMA_VERSION,
        collie_version: env!("CARGO_PKG_VERSION").to_owned(),
        mpi_library: format!("predicted on the network {}", network.name),
        runs: 1,
        cells,
        ..Report::default()
    })
}

fn variant(name: &str, time: f64) -> VariantRow {
    let seconds = Spread { median: time, p10: time, p90: time, min: time, mean: time };
    VariantRow {
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
        cell: Cell { operation, datatype: Datatype::Byte, root: 0, bytes, calls: None },
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

    #[test]
    fn what_needs_shared_memory_is_not_among_messages() {
        let network = Network::find("ethernet").unwrap();
        let found = report(&network, &[Operation::Bcast], &[16], 1, &Progress::start()).unwrap();
        assert!(found.cells.iter().all(|cell| cell.ranks_per_node == [16]), "one node, whose ranks could share memory");
        let names = found.cells.iter().flat_map(|cell| &cell.variants).map(|row| &row.algorithm);
        let needs = |name: &String| parse_choice(Operation::Bcast, name).unwrap().algorithm.needs.shared_memory;
        let (shared, messages): (Vec<_>, Vec<_>) = names.partition(|name| needs(name));
        assert!(shared.is_empty() && !messages.is_empty(), "{shared:?}");
    }
}
