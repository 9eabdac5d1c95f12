//! What is learned on one communicator in mode `learn`, by kind of call.

use super::learner::{KNOWLEDGE, Learner};
use crate::communicator::agreement::Agreed;
use crate::communicator::facts::Facts;
use crate::monitor::{LearnedRecord, LearnedRow, NATIVE};
use crate::mpi::error::Result;
use crate::mpi::limits::SHORT;
use crate::mpi::{bytes, communicator};
use crate::operation::{Call, Choice};
use crate::process::runtime::Runtime;
use crate::selection::{Configuration, LearnFile};
use crate::trial::{
    Candidates, Cell, CommunicatorShape, Evidence, Examined, Known, Trial, decode, encode, keeps_order, may_carry_out,
    read_here,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// What is learned on one communicator.
#[derive(Debug, Default)]
pub struct Trials {
    shape: CommunicatorShape,
    /// What all its ranks know of communicators before it, and it has not come to use.
    known: BTreeMap<Cell, Known>,
    kinds: HashMap<Cell, Kind>,
}

/// One kind of call.
#[derive(Debug)]
struct Kind {
    /// None where there is no choice.
    learner: Option<Rc<Learner>>,
    examined: Examined,
}

impl Trials {
    /// Of a communicator whose ranks have just agreed: they come to know alike what was learned on others of its shape,
    /// or what its rank 0 knows of that. `shares_memory`: whether messages within a node go through memory. Collective
    /// over it.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn agree(runtime: &Runtime, facts: &Facts, agreed: &Agreed, shares_memory: bool) -> Result<Self> {
        let shape = CommunicatorShape::of(&agreed.situation, &agreed.nodes, shares_memory);
        let mut known = KNOWLEDGE.lock().of(&shape);
        let mut encoded = encode(&known);
        let mut hasher = DefaultHasher::new();
        encoded.hash(&mut hasher);
        // Below 2^63, as words whose order counts have to be.
        let own = hasher.finish() >> 1;
        runtime.uncounted(|| {
            let [least, complement] = communicator::least(facts.comm, [own, u64::MAX / 2 - own])?;
            if least != u64::MAX / 2 - complement {
                bytes::broadcast(facts.comm, 0, &mut encoded)?;
                if facts.rank != 0 {
                    known = decode(&encoded);
                }
            }
            Ok(())
        })?;
        Ok(Self { shape, known, kinds: HashMap::new() })
    }

    /// Who learns of calls like this one, which `default` carries out otherwise; `None` where there is no choice. Alike
    /// on all ranks.
    pub fn learner(&mut self, agreed: &Agreed, call: &Call, default: Option<&Choice>) -> Option<Rc<Learner>> {
        let ranks = agreed.situation.ranks;
        let cell = Cell::of(call, ranks);
        let Self { shape, known, kinds } = self;
        if shape.shared_memory && agreed.nodes.is_empty() && call.shared.is_none() {
            // What cannot lie there has other candidates than the rest of its kind.
            return None;
        }
        let Kind { learner, examined } = kinds.entry(cell).or_insert_with(|| {
            let known = known.remove(&cell).or_else(|| begin(agreed, (shape, &cell), call, default));
            let learner = known.map(|known| Rc::new(Learner::new(*shape, cell, known)));
            Kind { learner, examined: Examined::default() }
        });
        let learner = learner.as_ref()?;
        let may_all = || {
            let candidates = learner.candidates().iter().map(Option::as_deref);
            may_carry_out(&agreed.configuration, ranks, call, default, candidates)
        };
        let may = if keeps_order(&agreed.configuration, call) {
            let default = default.map_or_else(String::new, ToString::to_string);
            examined.may(call.count, call.unit, default, learner.calls(), may_all)
        } else {
            may_all()
        };
        may.then(|| Rc::clone(learner))
    }

    /// What was learned, for the report.
    pub fn records(&self) -> impl Iterator<Item = LearnedRecord> {
        self.learners().filter_map(|learner| learner.record())
    }

    /// The communicator goes away: what it has learned stays.
    pub fn keep(&self) {
        self.learners().for_each(|learner| learner.keep());
    }

    fn learners(&self) -> impl Iterator<Item = &Rc<Learner>> {
        self.kinds.values().filter_map(|kind| kind.learner.as_ref())
    }
}

/// The beginning of a trial, or its end if a run before has learned it; `None` where there is no choice.
fn begin(
    agreed: &Agreed,
    (shape, cell): (&CommunicatorShape, &Cell),
    call: &Call,
    default: Option<&Choice>,
) -> Option<Known> {
    let mut found = Candidates::of(&agreed.configuration, &agreed.situation, call, default);
    found.expect_messages_of(agreed.message_ns, SHORT);
    let name = |choice: &Option<Choice>| choice.as_ref().map_or_else(|| NATIVE.to_owned(), ToString::to_string);
    let learned = learned_before(&agreed.configuration, shape, cell);
    let winner = learned.as_ref().and_then(|row| found.place_of(call, agreed.situation.ranks, &row.algorithm));
    let trial = match (&learned, winner) {
        (Some(row), Some(winner)) if found.choices.len() > 1 => {
            let seconds = |choice| row.candidates.iter().find(|tried| tried.algorithm == name(choice))?.seconds;
            let ns = |choice| (seconds(choice).unwrap_or(0.0) * 1e9).round() as u64;
            let ns: Vec<u64> = found.choices.iter().map(ns).collect();
            Trial::won(&found.foreseen, found.expected, winner, &ns)
        }
        _ if found.choices.len() > 1 => Trial::new(&found.foreseen, found.expected),
        _ => return None,
    };
    let candidates = found.choices.into_iter().map(|choice| choice.map(Arc::new)).collect();
    Some(Known::new(candidates, trial, agreed.seed ^ cell.number()))
}

/// What a run before has learned of a cell.
fn learned_before(configuration: &Arc<Configuration>, shape: &CommunicatorShape, cell: &Cell) -> Option<LearnedRow> {
    let file = configuration.learn.as_ref()?;
    let mut last = READ.lock();
    if !last.0.as_ref().is_some_and(|known| Arc::ptr_eq(known, file)) {
        *last = (Some(Arc::clone(file)), read_here(file));
    }
    last.1.iter().find(|evidence| evidence.is_of(shape, cell)).map(|evidence| evidence.row.clone())
}

/// The file that was read last, and what was in it.
static READ: Mutex<(Option<Arc<LearnFile>>, Vec<Evidence>)> = Mutex::new((None, Vec::new()));
