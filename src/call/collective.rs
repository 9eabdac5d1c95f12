//! One collective call from its arguments to its record: who decides, what runs, what is counted.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::begin::{Outside, begin};
use super::cached::CachedCall;
use super::decisions::DecisionKey;
use super::hooks::{self, CallLog, LoggedCall, Waited, WaitedCall};
use super::line::log_call;
use super::local_arguments::LocalArguments;
use super::plan::{Candidate, Plan, Policy};
use super::play::ours;
use super::turns::{self, InTurn, LEARNED};
use super::{fast_path, program, ready};
use super::{registry, verify};
use crate::algorithm::{Call, Operation};
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{Bucket, CounterId, Epochs, Function, NATIVE};
use crate::mpi::error::Result;
use crate::mpi::{communicator, constants};
use crate::process::runtime::{self, Runtime};
use crate::process::{device, guard, sessions};
use crate::selection::{Decided, Mode, VerifyResult, decide_with};
use std::os::raw::c_int;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What decides in mode native, as [`By`](crate::selection::By) says it.
const NATIVE_MODE: &str = "COLLIE_MODE=native";
const SUCCESS: c_int = mpi_sys::MPI_SUCCESS as c_int;

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
    guard::enter(arguments.operation.row().mpi_name, native, || match runtime::get() {
        Some(runtime) if arguments.comm != constants::comm_null() => timed(runtime, arguments, native),
        Some(_) => native(),
        None => {
            let code = native();
            if code == SUCCESS {
                sessions::tell(arguments.comm);
            }
            code
        }
    })
}

/// What became of a call.
struct Outcome {
    code: c_int,
    counter: CounterId,
    bytes: usize,
    /// Place of datatype and operation in the log of calls, where there is one.
    elements: u16,
    /// The epoch and which calls take turns with it, in mode `compare`: their size, and whether their reduction is commutative.
    epoch: Option<(Bucket, bool, u32)>,
    /// The ticks to count, where the call's time is not all its own: in mode `verify`.
    ticks: Option<u64>,
    /// Whether another call ran before the one that counts and met the late ranks.
    is_second: bool,
    /// What was waited for late ranks, where waiting is told apart.
    waited: Option<Waited>,
}

impl Outcome {
    const fn plain(code: c_int, counter: CounterId, bytes: usize) -> Self {
        let (epoch, ticks, waited) = (None, None, None);
        Self { code, counter, bytes, elements: 0, epoch, ticks, is_second: false, waited }
    }
}

fn timed(runtime: &'static Runtime, arguments: &Arguments, native: &dyn Fn() -> c_int) -> c_int {
    let start = runtime.clock.raw();
    let Ok(attachment) = registry::of(runtime, arguments.comm) else { return native() };
    let function = Function::from(arguments.operation);
    // SAFETY: the communicator is alive while a call on it is; calls that other calls make do not come here.
    let (mut attached, _watching) = unsafe { begin(runtime, &*attachment, function, start) };
    let next = match decide(runtime, &mut attached, arguments) {
        Ok(next) => next,
        Err(error) => return guard::raise(arguments.comm, error, arguments.operation),
    };
    // SAFETY: just held; what was decided holds no reference into it, and what runs makes its own and changes nothing before it.
    let outside = unsafe { Outside::new(&*attachment, native) };
    let outcome = run(runtime, &attached.communicator, arguments, &next, outside);
    let waited = outcome.waited.map_or(0, |waited| waited.ticks);
    let ticks = match outcome.ticks {
        Some(ticks) => ticks + waited,
        None => runtime.clock.raw().saturating_sub(start),
    };
    if let Next::InTurn(in_turn) = &next {
        in_turn.took(runtime, ticks.saturating_sub(waited));
    }
    let communicator = &mut attached.communicator;
    if runtime.recording.load(Ordering::Relaxed) {
        communicator.tally.table.record(outcome.counter, outcome.bytes as u64, ticks);
        guard::count(1, ticks);
        if let Some(sites) = hooks::sites() {
            sites.count(function, outcome.bytes as u64, ticks);
        }
        if let Some(log) = hooks::log() {
            let root = if arguments.operation.rooted() { arguments.root } else { -1 };
            let (place, times) = (communicator.tally.place, (start, ticks));
            let Outcome { counter, bytes, elements, .. } = outcome;
            let counter = counter.number();
            log.push(runtime, LoggedCall { place, root, counter, bytes, elements, times });
        }
        if let Some((bucket, commutative, epoch)) = outcome.epoch {
            let epochs = &mut communicator.tally.alternation.get_mut().epochs;
            epochs.record((function, bucket, commutative), epoch, ticks.saturating_sub(waited));
        }
    }
    if let (Some(waited), Some(waiting)) = (outcome.waited, hooks::waiting()) {
        // The one that met the late ranks is not counted, and what is counted waited for nobody.
        let ticks = if outcome.is_second && waited.ticks == 0 { 0 } else { ticks };
        let call = WaitedCall { function, counter: outcome.counter, times: (start, ticks) };
        waiting.after(runtime, communicator, waited, (outcome.code == SUCCESS).then_some(call));
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

/// Decides, and keeps what was decided; the error is one from before the algorithm's first message.
#[inline]
fn decide(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments) -> Result<Next> {
    // Before anything is made of the arguments, which may mean different things on the ranks.
    ask_for_device_memory(runtime, attached, arguments)?;
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
        Err(fallback) => return pass(&mut communicator.tally, 0, fallback),
    };
    let bytes = local.bytes();
    if let Some(why) = communicator.stays_native() {
        let counter = communicator.tally.native_counter(arguments.operation, bytes, why.words());
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
    let key = DecisionKey { count: local.count, unit: local.unit, commutative, by_kernel, counted: bytes };
    let plan = match attached.decisions.recall(arguments.operation, &key) {
        Some(plan) => plan.clone(),
        None => {
            let plan = plan(runtime, attached, arguments, &key, local.root)?;
            attached.decisions.remember(arguments.operation, key, plan.clone());
            plan
        }
    };
    // The ranks may mean nothing by different means (no elements, or elements of no bytes): nothing to send or to compare.
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
    // Also where the call is only passed on, for an argument that is invalid on this rank perhaps: the others count it.
    let waited = hooks::waiting().and_then(|waiting| outside.wait(|| waiting.before(runtime, communicator)));
    let (call, place) = match next {
        Next::Pass(counter, bytes) => {
            return Outcome { waited, ..Outcome::plain(outside.native(), *counter, *bytes) };
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

/// The place of a call's datatype and operation in the log; 0 where it has none.
fn elements(log: &dyn CallLog, local: &LocalArguments) -> u16 {
    let Some(side) = local.send.or(local.receive) else { return 0 };
    let op = local.reduction.map_or_else(constants::op_null, |reduction| reduction.handle);
    log.elements(side.datatype.handle, op)
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
        let code = match (&candidate.choice, &prepared[place]) {
            (None, _) => outside.native(),
            (Some(_), None) => SUCCESS,
            (Some(choice), Some(prepared)) => {
                outside.play(arguments.operation, || ours(communicator, arguments, local, choice, prepared))
            }
        };
        Outcome::plain(code, candidate.counter, bytes)
    };
    match (plan.policy(), plan.candidates()) {
        (Policy::Alternate, _) => {
            // By what all ranks know, as they have to take turns alike.
            let bucket = Bucket::of(local.known_bytes() as u64);
            let commutative = local.reduction.is_none_or(|reduction| reduction.commutative);
            let epoch = communicator.next_epoch(arguments.operation, bucket, commutative);
            Outcome { epoch: Some((bucket, commutative, epoch)), ..by(usize::from(!Epochs::is_native(epoch))) }
        }
        (Policy::Both, [first, Candidate { choice: Some(choice), counter }]) => {
            let second = prepared[1].as_ref().expect("what has nothing to send is not compared");
            let local = local.at(arguments);
            let verified = verify::run(runtime, communicator, arguments, &local, (choice, second), outside);
            let is_second = verified.result == VerifyResult::Native;
            let counter = if is_second { first.counter } else { *counter };
            Outcome { ticks: Some(verified.ticks), is_second, ..Outcome::plain(verified.code, counter, bytes) }
        }
        _ => by(place),
    }
}

/// Where some rank has a GPU: finds out together whether the call has a buffer in memory of one, on any rank. If it has, this
/// call and all that follow on the communicator are the MPI library's.
#[inline]
fn ask_for_device_memory(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments) -> Result {
    let communicator = &mut attached.communicator;
    if !communicator.asks_for_device_memory() || arguments.operation == Operation::Barrier {
        return Ok(());
    }
    let Some(private) = communicator.private(runtime)? else { return Ok(()) };
    let on_host = !arguments.first_bytes(communicator.facts.rank, communicator.facts.size).any(device::owns);
    if !runtime.uncounted(|| communicator::all(private, on_host))? {
        attached.leave(Fallback::DeviceMemory);
    }
    Ok(())
}

/// Decides for a question that is new on this communicator. Collective, and alike on all ranks.
#[cold]
fn plan(
    runtime: &Runtime,
    attached: &mut Attached,
    arguments: &Arguments,
    key: &DecisionKey,
    root: usize,
) -> Result<Plan> {
    let operation = arguments.operation;
    if attached.communicator.agreed.is_none() {
        attached.agree(runtime)?;
        ask_for_device_memory(runtime, attached, arguments)?;
    }
    let program = attached.chosen(operation);
    let communicator = &mut attached.communicator;
    if let Some(waiting) = hooks::waiting() {
        waiting.prepare(runtime, communicator)?;
    }
    if let Some(why) = communicator.stays_native() {
        let counter = communicator.tally.native_counter(operation, key.counted, why.words());
        return Ok(Plan::native(counter));
    }
    if communicator.wants_shared_memory() {
        // What is decided rests on whether there is shared memory.
        communicator.private(runtime)?;
    }
    let shared = program::shared_memory(communicator, key.by_kernel);
    let numa = communicator.shared.numa().map(Arc::clone);
    let agreed = communicator.agreed.as_ref().expect("just agreed");
    let (configuration, nodes) = (Arc::clone(&agreed.configuration), Arc::clone(&agreed.nodes));
    let bytes = key.counted;
    let nothing_to_send = key.count * key.unit == 0 && operation.has_data() && !operation.has_own_counts();
    let call = Call {
        root,
        commutative: key.commutative,
        nodes: &nodes,
        half_bandwidth: agreed.half_bandwidth,
        shared,
        numa: numa.as_deref().map_or(&[], |numa| numa),
        ..Call::plain(operation, key.count, key.unit)
    };
    let (choice, by) = match decide_with(program.as_ref(), &configuration, &agreed.situation, &call) {
        Decided::Ours { choice, by } => (Some(Arc::new(choice.clone())), by),
        Decided::Native { by } => (None, by),
    };
    // What was asked for stays.
    let may_learn = configuration.mode == Mode::Learn && by.by.is_default() && !nothing_to_send;
    let decided_by = by.to_string();
    let (choice, decided_by) = match choice {
        Some(_) if communicator.private(runtime)?.is_none() => {
            (None, communicator.private.without().words().to_owned())
        }
        choice => (choice, decided_by),
    };
    let algorithm = choice.as_ref().map_or_else(|| NATIVE.to_owned(), ToString::to_string);
    let learner = match may_learn && communicator.private(runtime)?.is_some() {
        true => attached.trials.learner(communicator.agreed.as_ref().expect("just agreed"), &call, choice.as_deref()),
        false => None,
    };
    let tally = &mut communicator.tally;
    let counter = tally.counter(operation, bytes, &algorithm, &decided_by);
    let ours = choice.is_some();
    let candidate = Candidate { choice, counter };
    if let Some(learner) = learner {
        let default = learner.candidates()[0].clone();
        // The first call of a kind says who its default is: what is measured of that stands for all of them.
        let candidate = if default.as_deref() == candidate.choice.as_deref() {
            candidate
        } else {
            let name = default.as_ref().map_or_else(|| NATIVE.to_owned(), ToString::to_string);
            Candidate { counter: tally.counter(operation, bytes, &name, LEARNED), choice: default }
        };
        return Ok(Plan::learn(candidate, learner));
    }
    Ok(match configuration.mode {
        Mode::Compare if ours => Plan::alternate(tally.counter(operation, bytes, NATIVE, "native epoch"), candidate),
        // Counted as if it were ours.
        Mode::CompareSelf if ours => {
            let native = tally.counter(operation, bytes, NATIVE, "native epoch");
            Plan::alternate(native, Candidate { choice: None, counter })
        }
        Mode::Verify if ours => {
            let why = format!("mode verify, beside {algorithm}");
            Plan::both(tally.counter(operation, bytes, NATIVE, &why), candidate)
        }
        _ => Plan::fixed(candidate),
    })
}
