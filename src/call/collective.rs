//! One collective call from its arguments to its record: who decides, what runs, what is counted.

use super::arguments::{Arguments, is_in_place};
use super::attachment::Attached;
use super::begin::{Outside, begin};
use super::cached::CachedCall;
use super::counting::Counting;
use super::decisions::DecisionKey;
use super::hooks::{self, CallLog, LoggedCall, Waited, WaitedCall, Waiting};
use super::line::log_call;
use super::local_arguments::LocalArguments;
use super::plan::{Candidate, Plan, Policy};
use super::play::{Played, ours};
use super::recording::{RecordedCall, record};
use super::turns::{self, InTurn};
use super::{device_memory, fast_path, new_plan, program, ready, registry, verify};
use crate::communicator::failures;
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{Bucket, CounterId, Epochs, FoldKind, Function};
use crate::mpi::communicator::all_groups_are_in_world;
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::mpi::{constants, datatype};
use crate::process::floating_point::apart;
use crate::process::runtime::{self, Runtime};
use crate::process::{guard, sessions};
use crate::selection::{Mode, VerifyResult};
use std::cell::Cell;
use std::os::raw::c_int;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// What decides in mode native, as [`By`](crate::selection::By) says it.
const NATIVE_MODE: &str = "COLLIE_MODE=native";

/// Carries a collective out; `native` passes it to PMPI as it came. Gives the code to return to the program.
#[inline(always)]
pub fn carry_out(arguments: &Arguments, native: impl Fn() -> c_int + Copy) -> c_int {
    fast_path::carry_out(arguments, native).unwrap_or_else(|| {
        // Copies: what others may look at has to lie in memory.
        let (arguments, native) = (*arguments, native);
        slow_path(&arguments, &native)
    })
}

/// Compiled once for all entries, of which there are some fifty.
#[inline(never)]
fn slow_path(arguments: &Arguments, native: &dyn Fn() -> c_int) -> c_int {
    let hidden = Cell::new(false);
    let code = guard::enter_call(arguments.operation.row().mpi_name, native, || match runtime::get() {
        Some(runtime) if arguments.comm != constants::comm_null() => timed(runtime, arguments, native, &hidden),
        Some(_) => guard::pass_on(native),
        None => {
            let code = guard::pass_on(native);
            if code == SUCCESS {
                sessions::tell(arguments.comm);
            }
            code
        }
    });
    // Its handler knows by now.
    if hidden.get() { SUCCESS } else { code }
}

/// What became of a call.
struct Outcome {
    code: c_int,
    counter: CounterId,
    bytes: usize,
    /// Place of datatype and operation in the log of calls, where there is one.
    elements: u16,
    /// The epoch and which calls take turns with it, in mode `compare`: their size, and what they reduce with.
    epoch: Option<(Bucket, FoldKind, u32)>,
    /// The ticks to count, where the call's time is not all its own: in mode `verify`.
    ticks: Option<u64>,
    /// What the MPI library took, where the call was only passed on.
    passed_on: Option<u64>,
    /// What was waited for late ranks, where waiting is told apart.
    waited: Option<Waited>,
    /// Where an algorithm had copies of buffers that a GPU owns: its place in the plan.
    copied: Option<usize>,
}

impl Outcome {
    const fn plain(code: c_int, counter: CounterId, bytes: usize) -> Self {
        let (epoch, ticks, passed_on, waited) = (None, None, None, None);
        Self { code, counter, bytes, elements: 0, epoch, ticks, passed_on, waited, copied: None }
    }
}

/// `hidden` becomes true where the program is to hear of an error from its handler alone, as it does natively.
fn timed(runtime: &'static Runtime, arguments: &Arguments, native: &dyn Fn() -> c_int, hidden: &Cell<bool>) -> c_int {
    let start = runtime.clock.raw();
    let attachment = match registry::of(runtime, arguments.comm) {
        Ok(attachment) => attachment,
        Err(unknown) => return unknown.end(native),
    };
    // SAFETY: the communicator is alive while a call on it is.
    if unsafe { &*attachment }.is_in_use() {
        return native();
    }
    let function = Function::from(arguments.operation);
    // SAFETY: the communicator is alive while a call on it is; calls that other calls make do not come here.
    let (mut attached, _watching) = unsafe { begin(runtime, &*attachment, function, start) };
    let calls_left = attached.communicator.calls_left();
    let mut talked = false;
    let next = match apart(|| decide(runtime, &mut attached, arguments, &mut talked)) {
        Ok(next) => next,
        Err(error) => {
            let error = failures::noticed(arguments.comm, error);
            device_memory::count(&attached.communicator, arguments.operation);
            return guard::raise(arguments.comm, error, arguments.operation.row().mpi_name);
        }
    };
    let communicator = &mut attached.communicator;
    // What is only passed on may be what the MPI library refuses: then it is not known yet whether it counts.
    let may_be_refused = matches!(next, Next::Pass(..));
    if !may_be_refused {
        device_memory::count(communicator, arguments.operation);
    }
    let is_met = hooks::waiting().is_some() || communicator.asks_for_device_memory();
    let counting = Counting::begin(communicator, calls_left, is_met && may_be_refused);
    // What decides may make communicators, and memory that the ranks share: nothing that the candidate whose turn it is
    // has taken.
    let decided = if matches!(next, Next::InTurn(_)) { runtime.clock.raw() } else { start };
    // SAFETY: just held; what was decided holds no reference into it, and what runs makes its own and changes nothing
    // before it.
    let outside = unsafe { Outside::new(&*attachment, native) };
    let outcome = run(runtime, &attached.communicator, arguments, &next, outside);
    let outcome = match outcome.copied {
        None => outcome,
        Some(place) => Outcome { counter: counter_of_copied(&mut attached, arguments, &next, place), ..outcome },
    };
    let waited = outcome.waited.map_or(0, |waited| waited.ticks);
    // Finding out that a call has only to be passed on is no time of the MPI library's, and may take many times as long
    // as a short call.
    let passed_on = outcome.passed_on.filter(|_| !talked);
    let ticks = match outcome.ticks.or(passed_on) {
        Some(ticks) => ticks + waited,
        None => runtime.clock.raw().saturating_sub(start),
    };
    if let Next::InTurn(in_turn) = &next {
        let of_candidate = (start + ticks).saturating_sub(decided + waited);
        apart(|| in_turn.took(runtime, of_candidate));
    }
    let communicator = &mut attached.communicator;
    let ended = counting.end(communicator, outcome.code);
    if ended.is_hidden {
        hidden.set(true);
        guard::raise(arguments.comm, Error(outcome.code), arguments.operation.row().mpi_name);
    }
    match (ended.is_refused, may_be_refused) {
        (false, true) => device_memory::count(communicator, arguments.operation),
        (true, false) => device_memory::take_back(communicator, arguments.operation),
        (false, false) | (true, true) => {}
    }
    if runtime.recording.load(Ordering::Relaxed) {
        let Tally { place, table, .. } = &mut communicator.tally;
        let Outcome { counter, bytes, elements, .. } = outcome;
        let root = if arguments.operation.rooted() { arguments.root } else { -1 };
        let (place, number, times) = (*place, counter.number(), (start, ticks));
        let logged = LoggedCall { place, root, counter: number, bytes, elements, times };
        let called = Some(function);
        record(runtime, table, &RecordedCall { counter, moved: bytes as u64, ticks, called, logged });
        if let Some((bucket, kind, epoch)) = outcome.epoch {
            let epochs = &mut communicator.tally.alternation.get_mut().epochs;
            epochs.record((function, bucket, kind), epoch, ticks.saturating_sub(waited));
        }
    }
    let waiting = outcome.waited.zip(hooks::waiting());
    if let (Some((waited, waiting)), true) = (waiting, ended.is_refused) {
        waiting.refused(runtime, communicator, waited);
    } else if let Some((waited, waiting)) = waiting {
        let call = WaitedCall { function, counter: outcome.counter, times: (start, ticks) };
        apart(|| waiting.after(runtime, communicator, waited, (outcome.code == SUCCESS).then_some(call)));
    }
    if log::log_enabled!(log::Level::Trace) {
        let (name, call) = (arguments.operation.row().mpi_name, (outcome.counter, outcome.bytes));
        log_call(runtime, communicator, name, arguments.root, call, ticks);
    }
    outcome.code
}

/// What is to be done.
enum Next {
    /// Only to be passed on: where it is counted, and its bytes.
    Pass(CounterId, usize),
    /// To be carried out as it was made ready.
    Call(Rc<CachedCall>),
    /// The same by who was found to be next, in mode `learn`.
    InTurn(InTurn),
}

/// Whether the MPI library carries out all calls on a communicator, and the ranks need not agree on anything: an observer
/// makes no rank wait for another that would not have waited.
fn is_only_observed(runtime: &Runtime, communicator: &mut Communicator) -> Result<bool> {
    if let Some(known) = communicator.only_observed {
        return Ok(known);
    }
    let facts = &communicator.facts;
    let found = runtime.configuration_here().mode == Mode::Native
        // Where the ranks wait for each other, they need a communicator of Collie's.
        && hooks::waiting().is_none()
        // All have the mode from rank 0.
        && runtime.init_took().is_some()
        && all_groups_are_in_world(facts.comm)?
        // What nobody saw being made has a name that the ranks agree on.
        && facts.is_named_alike();
    communicator.only_observed = Some(found);
    Ok(found)
}

/// Decides, and keeps what was decided; the error is one from before the algorithm's first message. Says if the ranks
/// talk to each other about it: then late ones are waited for here, which is a part of the call's time.
#[inline]
fn decide(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments, talked: &mut bool) -> Result<Next> {
    attached.communicator.private.begin_call();
    // Before anything is made of the arguments, which may mean different things on the ranks.
    *talked |= device_memory::tell(runtime, attached, arguments)?;
    if let Some(known) = attached.calls.find(arguments).filter(|known| known.local.fits(arguments)) {
        let known = Rc::clone(known);
        return in_turn(runtime, attached, arguments, known);
    }
    let pass = |tally: &mut Tally, bytes: usize, fallback: Fallback| {
        Ok(Next::Pass(tally.native_counter(arguments.operation, bytes, fallback.words()), bytes))
    };
    // Counted before any argument is looked at: what arguments mean may differ between the ranks.
    let communicator = &mut attached.communicator;
    let first_calls = communicator.is_new();
    if communicator.facts.inter {
        // Which arguments count depends on the side, and arrays have an entry for each rank of the other group.
        return pass(&mut communicator.tally, 0, Fallback::Intercommunicator);
    }
    let local = match LocalArguments::of(arguments, communicator.facts.rank, communicator.facts.size) {
        Ok(local) => local,
        // MPI libraries carry some such calls out all the same.
        Err(fallback @ (Fallback::UndefinedOperation | Fallback::ByPrecision)) => {
            let side = if is_in_place(arguments.send.address) { &arguments.receive } else { &arguments.send };
            let count = usize::try_from(side.count).unwrap_or(0);
            let size = datatype::size_of_predefined(side.datatype).or_else(|| datatype::ask_size(side.datatype));
            let bytes = size.map_or(0, |size| size.saturating_mul(count));
            return pass(&mut communicator.tally, bytes, fallback);
        }
        Err(fallback) => return pass(&mut communicator.tally, 0, fallback),
    };
    let bytes = local.bytes();
    let why = match communicator.stays_native() {
        None if is_only_observed(runtime, communicator)? => Some(NATIVE_MODE),
        why => why.map(Fallback::words),
    };
    if let Some(why) = why {
        let counter = communicator.tally.native_counter(arguments.operation, bytes, why);
        let plan = Plan::native(counter);
        let call = Rc::new(ready::call(attached, arguments.operation, local, plan));
        ready::keep(attached, arguments, &call);
        return Ok(Next::Call(call));
    }
    if first_calls {
        // In mode native no later one will be replaced either.
        let is_native = runtime.configuration_here().mode == Mode::Native;
        let why = if is_native { NATIVE_MODE } else { Fallback::FirstCalls.words() };
        let counter = communicator.tally.native_counter(arguments.operation, bytes, why);
        let plan = Plan::native(counter);
        // Not kept: the next one may be one that the ranks agree in.
        return Ok(Next::Call(Rc::new(ready::call(attached, arguments.operation, local, plan))));
    }
    let commutative = local.reduction.is_none_or(|reduction| reduction.commutative);
    let by_kernel = program::folds_by_kernel(&local);
    let reduce_local = local.reduction.is_some_and(|reduction| reduction.kernel.is_none());
    let (count, unit) = (local.count, local.unit);
    let key = DecisionKey { count, unit, commutative, by_kernel, reduce_local, counted: bytes };
    let plan = match attached.decisions.recall(arguments.operation, &key) {
        Some(plan) => plan.clone(),
        None => {
            *talked = true;
            let plan = new_plan::make(runtime, attached, arguments, &key, local.root)?;
            if attached.communicator.private.is_postponed() {
                // The next one may be one that it can be made in.
                return Ok(Next::Call(Rc::new(ready::call(attached, arguments.operation, local, plan))));
            }
            attached.decisions.remember(arguments.operation, key, plan.clone());
            plan
        }
    };
    // The ranks may mean nothing by different means (no elements, or elements of no bytes): nothing to send or to
    // compare.
    let plan = if ready::is_empty(arguments.operation, &local) { plan.of_last() } else { plan };
    let call = Rc::new(ready::call(attached, arguments.operation, local, plan));
    if call.plan.policy() != Policy::Learn {
        // Otherwise it is kept when the one whose turn it is has been made ready.
        ready::keep(attached, arguments, &call);
    }
    in_turn(runtime, attached, arguments, call)
}

/// A call that has been made ready; finds who is next where that is a matter of turns.
#[inline]
fn in_turn(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments, call: Rc<CachedCall>) -> Result<Next> {
    if call.plan.policy() != Policy::Learn {
        return Ok(Next::Call(call));
    }
    turns::take(runtime, attached, arguments, call).map(Next::InTurn)
}

/// Runs what was decided.
#[inline]
fn run(
    runtime: &Runtime,
    communicator: &Communicator,
    arguments: &Arguments,
    next: &Next,
    outside: Outside,
) -> Outcome {
    // Also where the call is only passed on, for an argument that is invalid on this rank perhaps: nobody knows yet whether
    // the MPI library takes it, and the others wait.
    let may_be_refused = matches!(next, Next::Pass(..));
    let before = |waiting: &dyn Waiting| waiting.before(runtime, communicator, may_be_refused);
    let waited = hooks::waiting().and_then(|waiting| outside.wait(|| before(waiting)));
    let (call, place) = match next {
        Next::Pass(counter, bytes) => {
            return Outcome { waited, ..passed_on(runtime, outside, *counter, *bytes) };
        }
        Next::Call(call) => (call, 0),
        Next::InTurn(in_turn) => (&in_turn.call, in_turn.turn.place),
    };
    let outcome = Outcome { waited, ..run_alone(runtime, communicator, arguments, (call, place), outside) };
    match hooks::log() {
        None => outcome,
        Some(log) => Outcome { elements: elements(log, &call.local), ..outcome },
    }
}

/// Where a call is counted of which this rank had copies of its buffers, and which the candidate at `place` carried out.
#[cold]
fn counter_of_copied(attached: &mut Attached, arguments: &Arguments, next: &Next, place: usize) -> CounterId {
    let (Next::Call(call) | Next::InTurn(InTurn { call, .. })) = next else {
        unreachable!("it was carried out by ours")
    };
    let name = call.plan.candidates()[place].choice.as_ref().map_or_else(String::new, ToString::to_string);
    attached.communicator.tally.counter(arguments.operation, call.local.bytes(), &name, device_memory::COPIED)
}

/// The place of a call's datatype and operation in the log; 0 where it has none.
fn elements(log: &dyn CallLog, local: &LocalArguments) -> u16 {
    let Some(side) = local.send.or(local.receive) else { return 0 };
    let op = local.reduction.map_or_else(constants::op_null, |reduction| reduction.handle);
    log.elements(side.datatype.handle, op)
}

/// Passes a call on, and times that alone.
#[inline]
fn passed_on(runtime: &Runtime, outside: Outside, counter: CounterId, bytes: usize) -> Outcome {
    let start = runtime.clock.raw();
    let code = outside.native();
    let ticks = runtime.clock.raw().saturating_sub(start);
    Outcome { passed_on: Some(ticks), ..Outcome::plain(code, counter, bytes) }
}

/// The same without waiting for the other ranks first.
#[inline]
fn run_alone(
    runtime: &Runtime,
    communicator: &Communicator,
    arguments: &Arguments,
    (call, place): (&CachedCall, usize),
    outside: Outside,
) -> Outcome {
    let CachedCall { local, plan, prepared, .. } = call;
    let bytes = local.bytes();
    let by = |place: usize| {
        let candidate = &plan.candidates()[place];
        let (code, copied) = match (&candidate.choice, &prepared[place]) {
            (None, _) => (outside.native(), false),
            (Some(_), None) => (SUCCESS, false),
            (Some(choice), Some(prepared)) => {
                let play = || ours(communicator, arguments, local, choice, prepared);
                let Played { code, copied } = outside.play(arguments.operation, play);
                (code, copied)
            }
        };
        Outcome { copied: copied.then_some(place), ..Outcome::plain(code, candidate.counter, bytes) }
    };
    match (plan.policy(), plan.candidates()) {
        (Policy::Alternate, _) => {
            // By what all ranks know, as they have to take turns alike.
            let bucket = Bucket::of(local.known_bytes() as u64);
            let kind = local.reduction.map_or(FoldKind::USUAL, |reduction| FoldKind {
                in_order: !reduction.commutative,
                locally: reduction.kernel.is_none(),
            });
            let epoch = communicator.next_epoch(arguments.operation, bucket, kind);
            Outcome { epoch: Some((bucket, kind, epoch)), ..by(usize::from(!Epochs::is_native(epoch))) }
        }
        (Policy::Both, [first, Candidate { choice: Some(choice), counter }]) => {
            let second = prepared[1].as_ref().expect("what has nothing to send is not compared");
            let local = local.at(arguments);
            let verified = verify::run(runtime, communicator, arguments, &local, (choice, second), outside);
            let counter = if verified.result == VerifyResult::Native { first.counter } else { *counter };
            Outcome { ticks: Some(verified.ticks), ..Outcome::plain(verified.code, counter, bytes) }
        }
        // Where several take turns, what precedes them is the same for each.
        (Policy::Fixed, [Candidate { choice: None, counter }]) => passed_on(runtime, outside, *counter, bytes),
        _ => by(place),
    }
}
