//! Every row of the catalogue, verified symbolically for every number of ranks, root, count and setting that covers
//! it: one test per row, named `operation::algorithm`, and one that every file of the catalogue has its row.
//!
//! Verified are the algorithm's own steps, and what the actions come to that the player carries out: for every set of
//! passes that can occur (blocking or not, results in place, fragments within and between nodes, local reductions, kept
//! or streamed) among few ranks, for sets in turns among many.
//!
//! Sends are synchronous throughout: what is right then is right with buffered sends (`schedule::verify` says why, and
//! its own tests see it). `COLLIE_TEST_DEEP=1` adds every root and every setting up to 33 ranks, and
//! larger sizes.

use collie::algorithm::cover;
use collie::algorithm::{Algorithm, Blocks, Call, Choice, InPlace, Operation, SharedMemory, all, of, parse_choice};
use collie::schedule::fragments::Fragments;
use collie::schedule::limits::{Limit, ProtocolLimits, Way};
use collie::schedule::lower::{Combine, Form, lower_all, stream_all};
use collie::schedule::verify::{Fault, Mode, Sends, verify_programs, verify_sequence};
use collie::schedule::{Program, record_all};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Failures told per row; more of them rarely help.
const TOLD: usize = 5;

/// What is told of a row.
#[derive(Default)]
struct Failures {
    told: Vec<String>,
    /// What was wrong, and among how many ranks.
    faults: HashSet<(usize, String)>,
}

impl Failures {
    /// One wrong line shows in many forms of a call and under many settings: it is told once for a number of ranks.
    fn push(&mut self, choice: &Choice, call: &Call, size: usize, how: &str, fault: &Found) {
        if !self.are_enough() && self.faults.insert((size, fault.key())) {
            let how = if how.is_empty() { String::new() } else { format!(" {how}") };
            self.told.push(format!("{}{how}: {fault}", describe(choice, call, size)));
        }
    }

    fn are_enough(&self) -> bool {
        self.told.len() >= TOLD
    }

    fn result(self) -> Result<(), Failed> {
        if self.told.is_empty() { Ok(()) } else { Err(Failed::from(self.told.join("\n"))) }
    }
}

/// What is wrong with programs, or with the algorithm that should have made them.
#[derive(thiserror::Error, Debug)]
enum Found {
    #[error("panic: {0}")]
    Panic(String),
    #[error("{0}")]
    Fault(Fault),
}

impl Found {
    /// The same wherever in the programs it shows.
    fn key(&self) -> String {
        match self {
            Self::Panic(text) => text.clone(),
            Self::Fault(fault) => fault.what.to_string(),
        }
    }
}

fn main() {
    let trials = all().map(|row| Trial::test(format!("{}::{}", row.operation, row.name), move || verify_row(row)));
    let long = Trial::test("reductions_of_long_vectors", verify_long_reductions);
    let files = Trial::test("files_and_rows_are_one", files_and_rows_are_one);
    let nodes = Trial::test("steps_and_costs_know_of_the_same_nodes", steps_and_costs_know_of_the_same_nodes);
    libtest_mimic::run(&Arguments::from_args(), trials.chain([long, files, nodes]).collect()).exit();
}

/// Rows that [know of nodes](Algorithm::knows_nodes) by their costs are those whose steps depend on them.
fn steps_and_costs_know_of_the_same_nodes() -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for row in all() {
        let choice = Choice::new(row);
        let is_placed = |size: usize, placement: &[u32]| {
            let call = Call { shared: Some(SharedMemory::PLAIN), ..Call::plain(row.operation, 8, 8) };
            let placed = match row.needs.shared_memory {
                true => Call { numa: placement, ..call },
                false => Call { nodes: placement, ..call },
            };
            let accepted = choice.accepts(&placed, size).is_ok() && choice.accepts(&call, size).is_ok();
            accepted && record_all(&choice, &placed, size) != record_all(&choice, &call, size)
        };
        let by_steps = [4, 6].into_iter().any(|size| {
            cover::placements(size).iter().filter(|placement| !placement.is_empty()).any(|one| is_placed(size, one))
        });
        if by_steps != row.knows_nodes() {
            let [steps, cost] =
                [by_steps, !by_steps].map(|depends| if depends { "depends" } else { "does not depend" });
            let what = format!("what it does {steps} on the nodes of the ranks, its cost {cost}");
            wrong.push(format!("{}::{}: {what}", row.operation, row.name));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
}

/// A file of the catalogue is a row of that name, and the other way round.
fn files_and_rows_are_one() -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for operation in Operation::ALL {
        let folder = format!("src/algorithm/{operation}");
        let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder))?;
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        let stems = paths.iter().filter_map(|path| path.file_stem()?.to_str());
        let files: BTreeSet<&str> = stems.filter(|stem| *stem != "mod").collect();
        let rows: BTreeSet<&str> = of(operation).iter().map(|row| row.name).collect();
        let without_file: Vec<&str> = rows.difference(&files).copied().collect();
        let or_called = match &without_file[..] {
            [] => String::new(),
            names => format!(", or its row is called {}", names.join(" or ")),
        };
        wrong.extend(files.difference(&rows).map(|file| format!("{folder}/{file}.rs: not in mod.rs{or_called}")));
        if rows.len() > files.len() {
            wrong.push(format!("{folder}: rows without a file of that name: {}", without_file.join(", ")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
}

fn deep() -> bool {
    std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1")
}

fn verify_row(row: &'static Algorithm) -> Result<(), Failed> {
    let mut failures = Failures::default();
    let sizes = cover::sizes().chain([100, 128, 129].into_iter().filter(|_| deep()));
    for size in sizes {
        for placement in cover::placements(size) {
            for root in roots(row.operation, size, &placement) {
                for count in cover::counts(row.operation, size) {
                    verify_call(row, size, root, count, &placement, &mut failures);
                }
                if row.operation.has_own_counts() && placement.is_empty() {
                    verify_own_blocks(row, size, &placement, &mut failures);
                }
                if failures.are_enough() {
                    return failures.result();
                }
            }
        }
    }
    failures.result()
}

/// Folds whose sides are moved out of the way do so in pieces where they are long.
fn verify_long_reductions() -> Result<(), Failed> {
    let mut failures = Failures::default();
    for row in all().filter(|row| row.operation.reduces() && !row.needs.shared_memory) {
        for size in [2, 3, 4, 5] {
            let (choice, plain) = (Choice::new(row), Call::plain(row.operation, 20_011, 8));
            for call in [false, true].map(|commutative| Call { commutative, ..plain }) {
                if choice.accepts(&call, size).is_ok() {
                    verify_lowered(&choice, &call, &record_all(&choice, &call, size), &mut failures);
                }
            }
        }
    }
    failures.result()
}

/// Blocks of which each rank knows its own, in place and not.
fn verify_own_blocks(row: &'static Algorithm, size: usize, placement: &[u32], failures: &mut Failures) {
    for in_place in [false, true] {
        for (name, blocks) in &cover::own_blocks(size, in_place) {
            let blocks = Blocks::All(blocks);
            let call = Call { blocks, in_place, nodes: placement, ..Call::plain(row.operation, 7, 1) };
            for choice in settings(row, &call, size) {
                let before = failures.told.len();
                match caught(|| record_all(&choice, &call, size)) {
                    Err(panic) => failures.push(&choice, &call, size, "", &panic),
                    Ok(programs) => {
                        verify_in(&choice, &call, &programs, &[in_place], "", failures);
                        verify_lowered(&choice, &call, &programs, failures);
                    }
                }
                failures.told[before..].iter_mut().for_each(|told| *told = format!("{name}: {told}"));
            }
        }
    }
}

/// Every root that covers the size; a few where nodes are set, since most rows never look at them.
fn roots(operation: Operation, size: usize, placement: &[u32]) -> Vec<usize> {
    if deep() && operation.rooted() && size <= 33 {
        return (0..size).collect();
    }
    let mut roots = cover::roots(operation, size);
    if !placement.is_empty() && roots.len() > 2 {
        roots = vec![0, size / 2, size - 1];
    }
    roots
}

fn verify_call(
    row: &'static Algorithm,
    size: usize,
    root: usize,
    count: usize,
    placement: &[u32],
    failures: &mut Failures,
) {
    let unit = if row.operation.reduces() { 4 } else { 1 };
    // Small enough for messages to go through it several times, and in several calls among few ranks. Ranks that share
    // it are on one node, and placed on NUMA nodes; or on several, where what runs inside nodes may share theirs.
    let (window, last_step) = ((3 * unit * size).max(128), 8 * size);
    let in_memory = row.needs.shared_memory;
    let shared = Some(SharedMemory { window, last_step, ..SharedMemory::PLAIN });
    let [nodes, numa] = if in_memory { [&[], placement] } else { [placement, &[]] };
    let call = Call { root, nodes, shared, numa, ..Call::plain(row.operation, count, unit) };
    for choice in settings(row, &call, size) {
        let [not_commuting, commuting] = [false, true].map(|commutative| Call { commutative, ..call });
        let in_place = Call { in_place: true, ..call };
        let in_place = row.operation.tells_in_place().then_some(in_place);
        let mut seen: Vec<Vec<Program>> = Vec::new();
        if !placement.is_empty() {
            // Most algorithms do the same wherever the ranks are, and that is verified already.
            let unplaced = Call { nodes: &[], numa: &[], ..call };
            seen.extend(caught(|| record_all(&choice, &unplaced, size)).ok());
        }
        // Without commutativity first: its demands include the others, as long as the programs are the same.
        for call in [not_commuting, commuting].into_iter().chain(in_place) {
            if failures.are_enough() {
                return;
            }
            if choice.accepts(&call, size).is_err() {
                continue;
            }
            match caught(|| record_all(&choice, &call, size)) {
                Err(panic) => failures.push(&choice, &call, size, "", &panic),
                Ok(programs) if seen.contains(&programs) && !call.in_place => {
                    // Which sides change rests on where data lies, for which few ranks are enough.
                    if size > 5 && !deep() {
                        continue;
                    }
                    let swapped = Combine::ReduceLocal { may_swap: true };
                    let forms =
                        forms(&choice, &call).into_iter().filter(|(_, form, _)| form.combine == swapped).collect();
                    verify_forms(&choice, &call, &programs, forms, failures);
                }
                Ok(programs) => {
                    let modes = modes(&call, &[false, true]);
                    verify_in(&choice, &call, &programs, modes, "", failures);
                    verify_lowered(&choice, &call, &programs, failures);
                    // All ranks do alike beyond so many.
                    let on_board = row.needs.shared_memory || !placement.is_empty() && choice.shares_memory();
                    if on_board && (size <= 6 || size == 16 && call.root == 0 || deep()) {
                        verify_in_turns(&choice, &call, &programs, failures);
                    }
                    seen.push(programs);
                }
            }
        }
    }
}

/// The call beside others in shared memory: what one leaves there, and who may still read it, must not disturb the
/// next, with the same root and another one, after what waits for nobody and after what fills both banks.
fn verify_in_turns(choice: &Choice, call: &Call, programs: &[Program], failures: &mut Failures) {
    let size = programs.len();
    let moved = Call { root: if call.operation.rooted() { (call.root + 1) % size } else { 0 }, ..*call };
    let turned = record_all(choice, &moved, size);
    let other = |operation: Operation, name: &str, count: usize| {
        let inside = format!("hierarchical:node={name}");
        let name = if call.nodes.is_empty() { name } else { &inside };
        let choice = parse_choice(operation, name).expect("in the catalogue");
        let Call { nodes, shared, .. } = *call;
        let call = Call { root: size / 2, nodes, shared, ..Call::plain(operation, count, 1) };
        (record_all(&choice, &call, size), call)
    };
    let window = call.shared.map_or(0, |shared| shared.window);
    let others = [
        other(Operation::Bcast, "shared_queue", window + 1),
        other(Operation::Gather, "shared_copy", window),
        other(Operation::Reduce, "shared_slices", 7),
        other(Operation::Scatter, "shared_copy", 3 * window / size + 1),
        other(Operation::Bcast, "shared_queue", 8),
        other(Operation::Barrier, "flat_tree", 0),
    ];
    let mut calls: Vec<(&[Program], Call)> =
        vec![(programs, *call), (programs, *call), (&turned, moved), (programs, *call)];
    for (other, of_other) in &others {
        calls.extend([(&other[..], *of_other), (programs, *call), (&turned, moved)]);
    }
    // As many one after another as there are lines.
    calls.extend(std::iter::repeat_n((programs, *call), SharedMemory::LINES as usize + 1));
    if let Err((number, fault)) = verify_sequence(&calls, Mode::STRICT) {
        failures.push(choice, call, size, &format!("as call {number} of several"), &Found::Fault(fault));
    }
}

/// What the actions come to, under the sets of passes that the player's calls are lowered with.
fn verify_lowered(choice: &Choice, call: &Call, steps: &[Program], failures: &mut Failures) {
    verify_forms(choice, call, steps, forms(choice, call), failures);
}

/// What the actions come to in some forms.
fn verify_forms(choice: &Choice, call: &Call, steps: &[Program], forms: Vec<NamedForm>, failures: &mut Failures) {
    let size = steps.len();
    let few = size <= 6 || deep();
    let turn = size + call.root + call.count;
    let mut seen: Vec<(bool, Vec<Program>)> = Vec::new();
    for (number, (name, form, streamed)) in forms.iter().enumerate() {
        if failures.are_enough() {
            return;
        }
        if form.apart && call.in_place {
            continue;
        }
        if !few && forms.len() > 2 && (turn + number) % forms.len() > 1 {
            continue;
        }
        // Which sends are under way while something is folded shows among few ranks.
        if size > 5 && !deep() && !form.blocking && !streamed && form.combine != Combine::Kernel {
            continue;
        }
        let lowered = caught(|| match streamed {
            true => stream_all(choice, call, size, form),
            false => lower_all(choice, call, size, form),
        });
        match lowered {
            Err(panic) => failures.push(choice, call, size, name, &panic),
            Ok(programs) if programs == steps || seen.contains(&(form.apart, programs.clone())) => {}
            Ok(programs) => {
                // Buffers that share memory are lowered for as such.
                let modes = modes(call, if form.apart { &[false] } else { &[false, true] });
                verify_in(choice, call, &programs, modes, name, failures);
                seen.push((form.apart, programs));
            }
        }
    }
}

/// A set of passes, with a name, and whether the actions are carried out as they come.
type NamedForm = (&'static str, Form, bool);

/// The sets of passes.
fn forms(choice: &Choice, call: &Call) -> Vec<NamedForm> {
    let bytes = call.count * call.unit;
    let fragments = Fragments {
        between_nodes: Some((bytes / 3).max(call.unit)),
        within_node: ProtocolLimits::of([Limit {
            bytes: (bytes / 3).max(call.unit).max(1),
            pieces: 4,
            way: Way::Both,
        }])
        .unwrap(),
    };
    let shared = Form { apart: false, ..Form::PLAIN };
    let started = Form { blocking: false, ..shared };
    let mut forms = vec![
        ("blocking", Form { fragments, ..Form::PLAIN }, false),
        ("blocking, buffers shared", Form { fragments, ..shared }, false),
        ("blocking, whole messages", shared, false),
        ("started", Form { fragments, ..started }, false),
        ("started, buffers apart", Form { apart: true, ..started }, false),
        ("streamed", Form { fragments, ..shared }, true),
    ];
    if call.operation.reduces() {
        let combine = Combine::local(choice, call, false);
        forms.push(("blocking, reduced locally", Form { combine, ..Form::PLAIN }, false));
        forms.push(("started, reduced locally", Form { combine, fragments, ..started }, false));
        forms.push(("streamed, reduced locally", Form { combine, fragments, ..started }, true));
    }
    forms
}

/// All settings where calls are small and plain; else the defaults and one that changes every parameter.
fn settings(row: &'static Algorithm, call: &Call, size: usize) -> Vec<Choice> {
    let choices = cover::choices(row, call, size);
    let plain = size <= 9 && (call.root <= 1 || call.root + 1 == size) || size == 16 && call.root == 0;
    if deep() && size <= 33 || plain || choices.len() <= 2 {
        return choices;
    }
    let turn = 1 + (size + call.root + call.count) % (choices.len() - 1);
    vec![choices[0].clone(), choices[turn].clone()]
}

fn caught<T>(action: impl FnOnce() -> T) -> Result<T, Found> {
    catch_unwind(AssertUnwindSafe(action)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Found::Panic(text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    })
}

/// Those of `modes` that the programs are for: an algorithm that knows whether it is in place runs in that mode only.
fn modes<'a>(call: &Call, modes: &'a [bool]) -> &'a [bool] {
    match (call.operation.tells_in_place(), call.in_place) {
        (false, _) => modes,
        (true, true) => &[true],
        (true, false) => &[false],
    }
}

fn verify_in(choice: &Choice, call: &Call, programs: &[Program], modes: &[bool], name: &str, failures: &mut Failures) {
    for in_place in modes.iter().copied() {
        if in_place && call.operation.row().in_place == InPlace::Never {
            continue;
        }
        let verified = verify_programs(programs, call, Mode { in_place, sends: Sends::Synchronous });
        if let Err(fault) = verified {
            let how = [name, if in_place { "in place" } else { "" }].join(" ");
            failures.push(choice, call, programs.len(), how.trim(), &Found::Fault(fault));
        }
    }
}

fn describe(choice: &Choice, call: &Call, size: usize) -> String {
    let order = if call.operation.reduces() && !call.commutative { " not commutative" } else { "" };
    let places =
        |what: &str, nodes: &[u32]| if nodes.is_empty() { String::new() } else { format!(" {what} {nodes:?}") };
    let nodes = places("nodes", call.nodes) + &places("NUMA nodes", call.numa);
    format!("{choice} p={size} root={} count={}{order}{nodes}", call.root, call.count)
}
