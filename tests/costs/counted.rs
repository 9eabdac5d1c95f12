//! Formulas against the counted critical path.
//!
//! A formula is an upper bound that is not much too high: counted ≤ formula ≤ 1.25·counted + two of the longest steps,
//! for rounds, bytes and folded bytes each. By default it is exact at powers of two where each message goes in one
//! piece, unless it is printed as a bound ("at most").
//!
//! Where a message goes in several segments or blocks, ranks may wait for one of them longer than the formula says,
//! once: one step more is allowed there. The formula of such a row charges a fold to every round: with γ alone the folds
//! of different segments overlap, so there the bytes sent bound it as well.
//!
//! Blocks, halves and segments of different lengths are charged as the longest of them. What is counted is then less by
//! a unit at most for each block that a rank sends and for each that it receives, 2p of them: so much is allowed where
//! 2p does not divide the count, as for 3 and for 1009 units. Rounds are not less for it.
//!
//! Among few ranks this is so for all roots at the ends, for operations in which order matters, where the row keeps it,
//! and for short messages. Rows that know nodes are held to their formulas on nodes of equal width.
//!
//! Bytes packed are no path that one can see in the steps' order: their formula is never exact, and it may exceed what is
//! counted by two of the longest messages. Formulas leave out the copy of a rank's own block; those that have none packed
//! may move each block of the call once.
//!
//! Raising a flag costs nothing in this model, as others see it meanwhile: no rank raises more flags than the formula
//! has seen, but for the stores that it names.

use collie::algorithm::cover;
use collie::algorithm::engine::windows::READ_FROM;
use collie::algorithm::{Algorithm, Call, Choice, Cost, Kind, Operation, Shape, SharedMemory, Value};
use collie::schedule::count::count;
use collie::schedule::{Buffer, Program, Shared, Step, record_all};
use libtest_mimic::Failed;

/// Disagreements told per row.
const TOLD: usize = 6;
/// Rounding, relative.
const TINY: f64 = 1e-9;

const FOLDED: &str = "folded bytes";

/// Numbers of ranks among which roots, orders and short messages are tried as well.
const FEW: [usize; 13] = [2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 32, 33];

pub fn check_row(row: &'static Algorithm) -> Result<(), Failed> {
    let mut failures = Vec::new();
    for size in 1..=64 {
        let call = long_call(row.operation);
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
        if FEW.contains(&size) {
            check_variants(row, &call, size, &mut failures);
        }
        check_on_nodes(row, &call, size, &choices[..taken.min(choices.len())], &mut failures);
        if failures.len() >= TOLD {
            break;
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// Whether a row's formula is printed as a bound and depends on a number of segments.
pub fn is_bound_by_segments(row: &Algorithm) -> bool {
    row.formula.starts_with("at most") && row.parameters.iter().any(|parameter| parameter.name == "segment")
}

/// Among few ranks, what is printed as a bound holds for any number of segments, without a step more.
pub fn check_bound(row: &'static Algorithm) -> Result<(), Failed> {
    let mut failures = Vec::new();
    let unit = if row.operation.reduces() { 4 } else { 1 };
    for (size, segments) in (2..=9).flat_map(|size| (1..=24).map(move |segments| (size, segments))) {
        let mut choice = Choice::new(row);
        choice.set("segment", Value::Number(4 * unit));
        // So many segments in each half.
        let call = Call::plain(row.operation, 8 * segments, unit);
        let formula = choice.cost(&Shape::of(&call, size)).rounds;
        match count(&choice, &call, size) {
            Ok(counted) if counted.rounds <= formula => {}
            Ok(counted) => failures.push(format!(
                "{} rounds, where '{}' says {formula} at most: p={size}, {segments} segments a half",
                counted.rounds, row.formula
            )),
            Err(broken) => failures.push(format!("p={size}, {segments} segments a half: {broken}")),
        }
    }
    failures.truncate(TOLD);
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// A call of so much data that the bytes of no message are few.
fn long_call(operation: Operation) -> Call<'static> {
    let unit = if operation.reduces() { 4 } else { 1 };
    let bytes = match (operation.has_data(), operation.has_blocks()) {
        (false, _) => 0,
        (true, false) => 1 << 18,
        (true, true) => 1 << 12,
    };
    let count = bytes / unit;
    Call { shared: Some(SharedMemory::PLAIN), ..Call::plain(operation, count, unit) }
}

/// Other roots, operations in which order matters, and messages of few units.
fn check_variants(row: &'static Algorithm, call: &Call, size: usize, failures: &mut Vec<String>) {
    let operation = row.operation;
    let mut roots = if operation.rooted() { vec![0, 1, size - 1] } else { vec![0] };
    roots.dedup();
    let orders = if operation.reduces() { &[true, false][..] } else { &[true] };
    let mut variants = Vec::new();
    for root in roots {
        variants.extend(orders.iter().map(|commutative| Call { root, commutative: *commutative, ..*call }));
    }
    // The first one is `call` itself.
    variants.remove(0);
    if operation.has_data() {
        variants.extend([3, 1009].map(|count| Call { count, ..*call }));
    }
    for variant in variants {
        let default = Choice::new(row);
        let choices = if size <= 8 { cover::choices(row, &variant, size) } else { vec![whole(&default), default] };
        for choice in choices.iter().filter(|choice| choice.accepts(&variant, size).is_ok()) {
            check(choice, &variant, size, failures);
        }
    }
}

/// Nodes of equal width: formulas know the widest only.
fn check_on_nodes(row: &Algorithm, call: &Call, size: usize, choices: &[Choice], failures: &mut Vec<String>) {
    for width in [1, 2, 3, 4, 8].into_iter().filter(|width| row.knows_nodes() && size.is_multiple_of(*width)) {
        let nodes: Vec<_> = (0..size).map(|rank| (rank / width) as u32).collect();
        let on_nodes = match row.needs.shared_memory {
            true => Call { numa: &nodes, ..*call },
            false => Call { nodes: &nodes, ..*call },
        };
        let last = if row.operation.rooted() && size <= 16 { size - 1 } else { 0 };
        for root in if last > 0 { vec![0, last] } else { vec![0] } {
            let on_nodes = Call { root, ..on_nodes };
            for choice in choices.iter().filter(|choice| choice.accepts(&on_nodes, size).is_ok()) {
                check(choice, &on_nodes, size, failures);
            }
        }
    }
}

fn check(choice: &Choice, call: &Call, size: usize, failures: &mut Vec<String>) {
    let formula = choice.cost(&Shape::of(call, size));
    let told = || {
        let order = if call.commutative { "" } else { " in order" };
        format!("{} units of {choice} p={size} root={}{order}", call.count, call.root)
    };
    let counted = match count(choice, call, size) {
        Ok(counted) => counted,
        Err(broken) => return failures.push(format!("{}: {broken}", told())),
    };
    if choice.algorithm.needs.shared_memory {
        check_stores(choice, call, size, formula, failures);
    }
    let cut = is_cut(choice, call, size);
    let is_bound = choice.algorithm.formula.starts_with("at most");
    let exact = size.is_power_of_two() && !cut && !is_bound && *choice == Choice::new(choice.algorithm);
    // Each of the blocks or halves that a rank sends is charged as the longest one, which has a unit more.
    let is_even = call.count.is_multiple_of(2 * size);
    let uneven = if is_even { 0.0 } else { (2 * size * call.unit) as f64 };
    let longest = longest_steps(choice, call, size);
    check_packed(choice, call, size, (formula, counted), failures);
    let parts = |cost: Cost| [cost.rounds, cost.bytes, cost.folded, cost.notified, cost.copied, cost.arrived];
    let names = ["rounds", "bytes", FOLDED, "flags seen", "copied bytes", "arrivals"];
    let sent = counted.bytes;
    for (((name, formula), counted), longest) in
        names.into_iter().zip(parts(formula)).zip(parts(counted)).zip(parts(longest))
    {
        let on_path = if name == FOLDED && cut { counted.max(sent) } else { counted };
        let pipe = if cut { longest } else { 0.0 };
        let uneven = if name.contains("bytes") { uneven } else { 0.0 };
        let what = if counted > formula * (1.0 + TINY) + pipe {
            "formula too low"
        } else if exact && (formula - counted).abs() > counted * TINY + uneven {
            "formula not exact at a power of two"
        } else if formula > 1.25 * on_path + 2.0 * longest + uneven {
            "formula too high"
        } else {
            continue;
        };
        failures.push(format!("{}: {name} counted {counted}, formula {formula}: {what}", told()));
    }
}

/// Copies inside a rank.
fn check_packed(
    choice: &Choice,
    call: &Call,
    size: usize,
    (formula, counted): (Cost, Cost),
    failures: &mut Vec<String>,
) {
    let own = call.bytes() as f64;
    let blocks = if call.operation.has_blocks() { size as f64 * own } else { own };
    let left_out = match formula.packed {
        0.0 => blocks,
        _ if call.operation.has_blocks() => own,
        _ => 0.0,
    };
    let Cost { bytes: longest, .. } = longest_steps(choice, call, size);
    // Where blocks differ in length by a unit, the longest ones stand for all.
    let uneven = (4 * size * call.unit) as f64;
    let what = if counted.packed > formula.packed * (1.0 + TINY) + left_out {
        "formula too low"
    } else if formula.packed > 1.25 * counted.packed + 2.0 * longest + uneven {
        "formula too high"
    } else {
        return;
    };
    let (root, nodes) = (call.root, call.nodes.last().map_or(1, |last| last + 1));
    failures.push(format!(
        "{} units of {choice} p={size} root={root} nodes={nodes}: packed bytes counted {}, formula {}: {what}",
        call.count, counted.packed, formula.packed
    ));
}

/// Whether some message goes in several segments or blocks.
fn is_cut(choice: &Choice, call: &Call, size: usize) -> bool {
    let whole = whole(choice);
    let messages = |choice: &Choice| {
        let programs = record_all(choice, call, size);
        let sends = programs.iter().flat_map(|program| &program.steps);
        sends.filter(|step| matches!(step, Step::Isend { .. })).count()
    };
    whole != *choice && messages(&whole) != messages(choice)
}

/// The same algorithm with each message in one piece.
fn whole(choice: &Choice) -> Choice {
    let mut whole = choice.clone();
    for (parameter, (name, value)) in choice.algorithm.parameters.iter().zip(choice.parameters.iter()) {
        match (parameter.kind, value) {
            (Kind::Segment, _) | (Kind::Bytes, _) if name == "segment" => whole.set(name, Value::Number(usize::MAX)),
            (Kind::Blocks, _) => whole.set(name, Value::Number(1)),
            (_, Value::Inner(inner)) => whole.set(name, Value::Inner(Box::new(self::whole(inner)))),
            _ => {}
        }
    }
    whole
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
