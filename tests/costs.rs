//! Every row's cost formula against the counted critical path: one test per row, named `operation::algorithm`.
//!
//! A formula is an upper bound that is not much too high: counted ≤ formula ≤ 1.25·counted + two of the longest steps,
//! for rounds, bytes and folded bytes each, and for rows without a segment it is exact at powers of two. Where a
//! message goes in segments, ranks may wait for one of them longer than the formula says, once: one step more is
//! allowed there. The formula of such a row charges a fold to every round: with γ alone the folds of different segments
//! overlap, so there the bytes sent bound it as well. Rows that know nodes are held to their formulas on nodes of equal
//! width.
//!
//! Raising a flag costs nothing in this model, as others see it meanwhile: no rank raises more flags than the formula
//! has seen, but for the stores that it names.

use collie::algorithm::cover;
use collie::algorithm::engine::windows::READ_FROM;
use collie::algorithm::{Algorithm, Call, Choice, Cost, Kind, Operation, Shape, SharedMemory, all};
use collie::schedule::count::count;
use collie::schedule::{Buffer, Program, Shared, Step, record_all};
use libtest_mimic::{Arguments, Failed, Trial};

/// Disagreements told per row.
const TOLD: usize = 6;
/// What cutting a count into uneven blocks may add, relative.
const TINY: f64 = 2e-3;

const FOLDED: &str = "folded bytes";

fn main() {
    let trials = all().map(|row| Trial::test(format!("{}::{}", row.operation, row.name), move || check_row(row)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn check_row(row: &'static Algorithm) -> Result<(), Failed> {
    let mut failures = Vec::new();
    for size in 1..=64 {
        let (unit, count) = match row.operation {
            Operation::Barrier => (1, 0),
            Operation::Bcast => (1, 1 << 18),
            Operation::Reduce | Operation::Allreduce => (4, 1 << 16),
            _ => (1, 1 << 12),
        };
        let call = Call { shared: Some(SharedMemory::PLAIN), ..Call::plain(row.operation, count, unit) };
        let choices = cover::choices(row, &call, size);
        let taken = if size <= 16 || size.is_power_of_two() { choices.len() } else { 1 };
        for choice in choices.iter().take(taken) {
            check(choice, &call, size, &mut failures);
        }
        // Blocks that are so long that by default their ranks' memory is read.
        if row.parameters.iter().any(|parameter| parameter.name == READ_FROM.name) {
            let long = Call { count: 2 * SharedMemory::LENT_FROM, ..call };
            check(&Choice::new(row), &long, size, &mut failures);
        }
        // Nodes of equal width: formulas know the widest only.
        for width in [1, 2, 3, 4, 8].into_iter().filter(|width| row.name.ends_with("hierarchical") && size % width == 0)
        {
            let nodes: Vec<_> = (0..size).map(|rank| (rank / width) as u32).collect();
            let on_nodes = match row.needs.shared_memory {
                true => Call { numa: &nodes, ..call },
                false if width == 1 => continue,
                false => Call { nodes: &nodes, ..call },
            };
            for choice in choices.iter().take(taken).filter(|choice| choice.accepts(&on_nodes, size).is_ok()) {
                check(choice, &on_nodes, size, &mut failures);
            }
        }
        if failures.len() >= TOLD {
            break;
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

fn check(choice: &Choice, call: &Call, size: usize, failures: &mut Vec<String>) {
    let formula = choice.cost(&Shape::of(call, size));
    let counted = match count(choice, call, size) {
        Ok(counted) => counted,
        Err(broken) => return failures.push(format!("{choice} p={size}: {broken}")),
    };
    if choice.algorithm.needs.shared_memory {
        check_stores(choice, call, size, formula, failures);
    }
    let segmented = choice
        .algorithm
        .parameters
        .iter()
        .any(|row| matches!(row.kind, Kind::Segment | Kind::Blocks | Kind::Inner(_) | Kind::OnNode(_)));
    let exact = size.is_power_of_two() && !segmented && *choice == Choice::new(choice.algorithm);
    let longest = longest_steps(choice, call, size);
    let parts = |cost: Cost| [cost.rounds, cost.bytes, cost.folded, cost.notified, cost.copied, cost.arrived];
    let names = ["rounds", "bytes", FOLDED, "flags seen", "copied bytes", "arrivals"];
    let sent = counted.bytes;
    for (((name, formula), counted), longest) in
        names.into_iter().zip(parts(formula)).zip(parts(counted)).zip(parts(longest))
    {
        let on_path = if name == FOLDED && segmented { counted.max(sent) } else { counted };
        let pipe = if segmented { longest } else { 0.0 };
        let what = if counted > formula * (1.0 + TINY) + pipe {
            "formula too low"
        } else if exact && (formula - counted).abs() > counted * 1e-9 {
            "formula not exact at a power of two"
        } else if formula > 1.25 * on_path + 2.0 * longest {
            "formula too high"
        } else {
            continue;
        };
        failures.push(format!("{choice} p={size}: {name} counted {counted}, formula {formula}: {what}"));
    }
}

/// Stores to flags, beside the one with which a rank enters, of the rank that makes the most.
fn check_stores(choice: &Choice, call: &Call, size: usize, formula: Cost, failures: &mut Vec<String>) {
    let of_rank = |program: &Program| {
        let stores =
            |step: &&Step| matches!(step, Step::Shared(Shared::Signal { .. } | Shared::Post | Shared::Release { .. }));
        program.steps.iter().filter(stores).count()
    };
    let programs = record_all(choice, call, size);
    let stores = programs.iter().map(of_rank).max().unwrap_or(0);
    let are_used = programs[0].steps.iter().any(|step| matches!(step, Step::Shared(_)));
    let named = if are_used && choice.algorithm.formula.contains("p−1 stores") { size - 1 } else { 0 };
    if stores < named || stores as f64 > named as f64 + formula.notified {
        failures.push(format!(
            "{choice} p={size}: {stores} stores to flags, where the formula has {named} named and {} seen",
            formula.notified
        ));
    }
}

/// One round, flag and arrival, and the bytes of the longest message, fold and copy in shared memory.
fn longest_steps(choice: &Choice, call: &Call, size: usize) -> Cost {
    let (mut sent, mut folded, mut copied) = (0, 0, 0);
    for step in record_all(choice, call, size).iter().flat_map(|program| &program.steps) {
        match step {
            Step::Isend { from, .. } => sent = sent.max(from.len * call.unit),
            Step::Fold { into, .. } => folded = folded.max(into.len * call.unit),
            Step::Copy { from, into } if [from.buffer, into.buffer].contains(&Buffer::Shared) => {
                copied = copied.max(into.len * call.unit);
            }
            _ => {}
        }
    }
    let memory = Cost { notified: 1.0, copied: copied as f64, arrived: 1.0, ..Cost::default() };
    Cost { rounds: 1.0, bytes: sent as f64, folded: folded as f64, ..memory }
}
