//! The plan of calls of a kind that is new on its communicator: who is to carry them out by what is configured, and
//! what the mode makes of that. Collective, and alike on all ranks.

use super::arguments::Arguments;
use super::attachment::Attached;
use super::decisions::DecisionKey;
use super::learner::Learner;
use super::plan::{Candidate, Plan};
use super::turns::LEARNED;
use super::{device_memory, hooks, program};
use crate::communicator::fallback::Fallback;
use crate::communicator::state::Communicator;
use crate::communicator::tally::Tally;
use crate::monitor::{CounterId, NATIVE, NATIVE_EPOCH, OTHER_NATIVE_EPOCH, SharedList};
use crate::mpi::error::Result;
use crate::operation::{Call, Choice, Operation, SharedMemory};
use crate::process::runtime::Runtime;
use crate::selection::{Configuration, Decided, Mode, Wanted, decide_with};
use std::rc::Rc;
use std::sync::Arc;

/// Why what was agreed on is there.
const AGREED: &str = "just agreed";

/// Makes the plan, of calls with this root.
///
/// # Errors
/// What PMPI returned.
#[cold]
pub fn make(
    runtime: &Runtime,
    attached: &mut Attached,
    arguments: &Arguments,
    key: &DecisionKey,
    root: usize,
) -> Result<Plan> {
    let operation = arguments.operation;
    if let Some(why) = agree(runtime, attached, arguments)? {
        let counter = attached.communicator.tally.native_counter(operation, key.counted, why.words());
        return Ok(Plan::native(counter));
    }
    let basis = Basis::of(&attached.communicator, key);
    let call = basis.call(operation, key, root);
    let Decision { choice, by, may_learn } = decide(runtime, attached, &basis, &call)?;
    let learner = match may_learn && attached.communicator.private(runtime)?.is_some() {
        true => {
            let agreed = attached.communicator.agreed.as_ref().expect(AGREED);
            attached.trials.as_mut().and_then(|trials| trials.learner(agreed, &call, choice.as_deref()))
        }
        false => None,
    };
    let mut counters = Counters { tally: &mut attached.communicator.tally, operation, bytes: key.counted };
    let candidate = Candidate { counter: counters.counter(choice.as_deref(), &by), choice };
    Ok(match learner {
        Some(learner) => by_learner(&mut counters, candidate, learner),
        None => by_mode(&mut counters, candidate, basis.configuration.mode),
    })
}

/// Makes the ranks agree, and has made what decisions rest on; why all calls are the MPI library's, if they are.
fn agree(runtime: &Runtime, attached: &mut Attached, arguments: &Arguments) -> Result<Option<Fallback>> {
    let is_first = attached.communicator.agreed.is_none();
    attached.agree(runtime)?;
    if is_first {
        device_memory::tell(runtime, attached, arguments)?;
    }
    let is_chosen = attached.chosen(arguments.operation).is_some_and(|chosen| chosen != Wanted::Auto);
    let communicator = &mut attached.communicator;
    if let Some(waiting) = hooks::waiting() {
        waiting.prepare(runtime, communicator)?;
    }
    let why = communicator.stays_native();
    let configuration = communicator.agreed.as_ref().map(|agreed| &agreed.configuration);
    let is_native = configuration.is_some_and(|known| known.forced[arguments.operation as usize] == Wanted::Native);
    if why.is_none() && communicator.wants_shared_memory() && (is_chosen || !is_native) {
        // What is decided rests on whether there is shared memory, unless a variable leaves it to the MPI library
        // and the program does not choose otherwise.
        communicator.private(runtime)?;
    }
    Ok(why)
}

/// What a decision rests on beside the call itself.
struct Basis {
    configuration: Arc<Configuration>,
    nodes: Arc<SharedList>,
    numa: Option<Arc<SharedList>>,
    half_bandwidth: usize,
    shared: Option<SharedMemory>,
}

impl Basis {
    fn of(communicator: &Communicator, key: &DecisionKey) -> Self {
        let agreed = communicator.agreed.as_ref().expect(AGREED);
        Self {
            configuration: Arc::clone(&agreed.configuration),
            nodes: Arc::clone(&agreed.nodes),
            numa: communicator.shared.numa().map(Arc::clone),
            half_bandwidth: agreed.half_bandwidth,
            shared: program::shared_memory(communicator, key.by_kernel),
        }
    }

    fn call(&self, operation: Operation, key: &DecisionKey, root: usize) -> Call<'_> {
        Call {
            root,
            commutative: key.commutative,
            reduce_local: key.reduce_local,
            nodes: &self.nodes,
            half_bandwidth: self.half_bandwidth,
            shared: self.shared,
            numa: self.numa.as_deref().map_or(&[], |numa| numa),
            ..Call::plain(operation, key.count, key.unit)
        }
    }
}

/// Who is to carry a call out, before the mode has its say.
struct Decision {
    /// None for the native library.
    choice: Option<Arc<Choice>>,
    /// What decided so.
    by: String,
    /// Whether others may be tried in its place.
    may_learn: bool,
}

fn decide(runtime: &Runtime, attached: &mut Attached, basis: &Basis, call: &Call) -> Result<Decision> {
    let operation = call.operation;
    let program = attached.chosen(operation);
    let communicator = &mut attached.communicator;
    let agreed = communicator.agreed.as_ref().expect(AGREED);
    let (choice, by) = match decide_with(program.as_ref(), &basis.configuration, &agreed.situation, call) {
        Decided::Ours { choice, by } => (Some(Arc::new(choice.clone())), by),
        Decided::Native { by } => (None, by),
    };
    let nothing_to_send = call.count * call.unit == 0 && operation.has_data() && !operation.has_own_counts();
    // What was asked for stays.
    let may_learn = basis.configuration.mode == Mode::Learn && by.by.is_default() && !nothing_to_send;
    let by = by.to_string();
    if choice.is_some() && communicator.private(runtime)?.is_none() {
        let by = communicator.private.without().words().to_owned();
        return Ok(Decision { choice: None, by, may_learn });
    }
    Ok(Decision { choice, by, may_learn })
}

/// Where the calls of the kind are counted.
struct Counters<'a> {
    tally: &'a mut Tally,
    operation: Operation,
    bytes: usize,
}

impl Counters<'_> {
    /// The counter of those that `choice` carries out, or the native library, because of `by`.
    fn counter(&mut self, choice: Option<&Choice>, by: &str) -> CounterId {
        let name = choice.map_or_else(|| NATIVE.to_owned(), ToString::to_string);
        self.tally.counter(self.operation, self.bytes, &name, by)
    }
}

/// As the ranks learn together, from the first call of the kind on.
fn by_learner(counters: &mut Counters, candidate: Candidate, learner: Rc<Learner>) -> Plan {
    // The first call of a kind says who its default is: what is measured of that stands for all of them.
    let default = learner.candidates()[0].clone();
    let candidate = if default.as_deref() == candidate.choice.as_deref() {
        candidate
    } else {
        Candidate { counter: counters.counter(default.as_deref(), LEARNED), choice: default }
    };
    Plan::learn(candidate, learner)
}

/// What is decided alone, or beside the native library where the mode holds an algorithm of ours against it.
fn by_mode(counters: &mut Counters, candidate: Candidate, mode: Mode) -> Plan {
    let Some(choice) = &candidate.choice else { return Plan::fixed(candidate) };
    match mode {
        Mode::Compare => Plan::alternate(counters.counter(None, NATIVE_EPOCH), candidate),
        Mode::CompareSelf => {
            let [native, other] = [NATIVE_EPOCH, OTHER_NATIVE_EPOCH].map(|by| counters.counter(None, by));
            Plan::alternate(native, Candidate { choice: None, counter: other })
        }
        Mode::Verify => {
            let why = format!("mode verify, beside {choice}");
            Plan::both(counters.counter(None, &why), candidate)
        }
        _ => Plan::fixed(candidate),
    }
}
