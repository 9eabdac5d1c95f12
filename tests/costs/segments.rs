//! What `auto` makes of a message's segments or blocks: no other number of them is clearly better by the row's formula.

use collie::algorithm::{Algorithm, Call, Choice, Default, Kind, Parameter, Shape, Value};
use collie::schedule::simulate::Network;
use libtest_mimic::Failed;

/// How much less another number of segments may take.
const CLEARLY: f64 = 1.02;

/// Disagreements told per row.
const TOLD: usize = 6;

/// The parameter of a row that has an optimum of the formula.
pub fn cutting(row: &Algorithm) -> Option<&Parameter> {
    let has_optimum = |parameter: &&Parameter| {
        matches!((parameter.kind, parameter.default), (Kind::Segment | Kind::Blocks, Default::Auto))
    };
    row.parameters.iter().find(has_optimum)
}

/// Folds are left out, as `auto` leaves them out.
pub fn check_row(row: &'static Algorithm) -> Result<(), Failed> {
    let parameter = cutting(row).expect("a row with an optimum");
    let unit = if row.operation.reduces() { 4 } else { 1 };
    let mut failures = Vec::new();
    for network in Network::presets() {
        for (one_node, link) in [(true, &network.on_node), (false, &network.off_node)] {
            for size in (2..=17).chain([23, 24, 31, 32, 33, 48, 63, 64]) {
                for bytes in [1 << 10, 3000, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22] {
                    let half_bandwidth = network.half_bandwidth(one_node);
                    let call = Call { half_bandwidth, ..Call::plain(row.operation, bytes / unit, unit) };
                    let shape = Shape::of(&call, size);
                    let seconds = |value: Value| {
                        let mut choice = Choice::new(row);
                        choice.set(parameter.name, value);
                        choice.cost(&shape).seconds(link.start_up(), link.per_byte, 0.0, 0.0)
                    };
                    let auto = seconds(Value::Auto);
                    for number in numbers().take_while(|number| *number <= call.count) {
                        let other = match parameter.kind {
                            Kind::Blocks => number,
                            _ => call.count.div_ceil(number) * unit,
                        };
                        let least = seconds(Value::Number(other));
                        if auto > least * CLEARLY {
                            failures.push(format!(
                                "{} p={size} n={bytes} {}: {auto:e} s, but {least:e} s with {}={other}",
                                row.name, network.name, parameter.name
                            ));
                        }
                    }
                    if failures.len() >= TOLD {
                        return Err(Failed::from(failures.join("\n")));
                    }
                }
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// One segment, two, and so on, then ever fewer of the larger numbers.
fn numbers() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |number| Some(number + 1 + number / 6)).take_while(|number| *number <= 4096)
}
