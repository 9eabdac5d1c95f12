//! Predictions in the place of measurements: the same cells, with what each of Collie's algorithms takes on a network.

use super::losses::{nodes, plain};
use crate::algorithm::{Call, ChoiceError, parse_choice};
use crate::bench::program::NATIVE;
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics::Spread;
use crate::schedule::simulate::{Network, predict};
use crate::selection::Transport;

/// Steps up to which a time is simulated; beyond them the cost formula tells it.
pub const STEPS: usize = 1 << 18;

/// The reports with predicted times, of the algorithms that were measured; nothing is predicted of the native library.
/// Without a network each cell has the preset of its place.
///
/// # Errors
/// An algorithm in a report that this catalogue does not have.
pub fn predicted(reports: &[Report], network: Option<&Network>) -> Result<Vec<Report>, ChoiceError> {
    let of = |report: &Report| {
        let cells = report.cells.iter().map(|cell| predicted_cell(cell, network)).collect::<Result<_, _>>()?;
        Ok(Report { cells, ..report.clone() })
    };
    reports.iter().map(of).collect()
}

/// One cell with predicted times, of those algorithms that can be predicted.
pub fn predicted_cell(cell: &CellRow, network: Option<&Network>) -> Result<CellRow, ChoiceError> {
    let nodes = nodes(&cell.ranks_per_node);
    let preset = if nodes.is_empty() { "shared_memory" } else { "ethernet" };
    let preset = Network::preset(preset).expect("it is a preset");
    let network = network.unwrap_or(&preset);
    let half_bandwidth = network.half_bandwidth(nodes.is_empty());
    let call = Call {
        half_bandwidth,
        commutative: cell.cell.commutative,
        ..plain(cell.cell.operation, cell.cell.bytes, &nodes)
    };
    let mut variants = Vec::new();
    for row in cell.variants.iter().filter(|row| row.variant != NATIVE && !row.is_mode()) {
        let choice = parse_choice(cell.cell.operation, &row.algorithm)?;
        let shared = choice.shares_memory() || row.transport == Transport::Shared;
        let call = if shared { network.with_shared_memory(&call, &[]) } else { call };
        if let Some(prediction) = predict(&choice, &call, cell.ranks as usize, network, STEPS).ok().flatten() {
            let time = prediction.time;
            let seconds = Spread { median: time, p10: time, p90: time, min: time, mean: time };
            variants.push(VariantRow { seconds, against_native: None, ..row.clone() });
        }
    }
    Ok(CellRow { variants, ..cell.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Operation;
    use crate::bench::result::tests::row;

    #[test]
    fn what_went_through_shared_memory_is_predicted_to() {
        let mut cell = row(Operation::Allreduce, 64 << 10, 8, 1.0);
        let ring = |variant: &str, transport| VariantRow {
            variant: variant.to_owned(),
            algorithm: "ring".to_owned(),
            transport,
            ..cell.variants[1].clone()
        };
        let rings = [ring("messages: ring", Transport::Messages), ring("shared: ring", Transport::Shared)];
        cell.variants.extend(rings);
        let predicted = predicted_cell(&cell, None).unwrap();
        let times: Vec<_> = predicted.variants.iter().map(|row| row.seconds.median).collect();
        assert!(times.len() == 2 && times[0] > times[1], "{times:?}");
    }
}
