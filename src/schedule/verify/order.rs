//! In which order a reduction combines the contributions of the ranks: what decides how its result rounds.
//!
//! It is read from the schedule, not listed by hand: all ranks' programs run on symbolic contents, and what each unit
//! of each result holds in the end is a tree of folds. Two choices whose trees are the same for a call give the same
//! result to the last bit, whatever the data. What moves data on its way, in which messages and when, does not matter.
//!
//! Which side of a fold stands left counts, also where the operation commutes: a maximum of a number and a NaN, or of two
//! zeros of either sign, has the bits of one of them, and a user's operation need only commute as far as its user cares.

use super::boards::Boards;
use super::machine::Machine;
use super::memory::Run;
use super::mode::{Mode, Sends};
use super::terms::{Term, Terms};
use crate::operation::{Call, Choice};
use crate::schedule::{Program, record};

/// Schedules of more steps, all ranks and roots together, are not looked at: that would take longer than what anybody
/// gains by it.
pub const MOST_STEPS: usize = 1 << 16;

/// The order in which one choice combines, for one call: equal to another one of the same [`Orders`] if both combine
/// alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order(Vec<Part>);

/// Units of a rank's result that are combined in one way: where they end, and the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    rank: usize,
    end: usize,
    term: Term,
}

/// Orders of different choices for one call.
pub struct Orders<'a> {
    call: Call<'a>,
    size: usize,
    terms: Terms,
    most_steps: usize,
}

impl<'a> Orders<'a> {
    /// For this call among `size` ranks.
    pub fn new(call: &Call<'a>, size: usize) -> Self {
        Self { call: *call, size, terms: Terms::new(size), most_steps: MOST_STEPS }
    }

    /// That of a choice which accepts the call; `None` if it takes more than [`MOST_STEPS`] or is at fault.
    pub fn of(&mut self, choice: &Choice) -> Option<Order> {
        let programs = self.programs(choice)?;
        let mode = Mode { in_place: self.call.in_place, sends: Sends::Buffered };
        let mut board = Boards::new(self.size, &self.call);
        let mut machine = Machine::new(&programs, &self.call, mode, &mut board).ok()?;
        std::mem::swap(&mut machine.terms, &mut self.terms);
        let ran = machine.run();
        std::mem::swap(&mut machine.terms, &mut self.terms);
        ran.ok()?;
        let mut order = Vec::new();
        for (rank, of) in machine.buffers.iter().enumerate() {
            for range in self.call.results(rank, self.size) {
                let mut runs = Vec::new();
                of.read(range, &mut runs).ok()?;
                runs.iter().for_each(|run| add(&mut order, rank, run));
            }
        }
        Some(Order(order))
    }

    fn programs(&self, choice: &Choice) -> Option<Vec<Program>> {
        let mut steps = 0;
        let program = |rank| {
            let program = record(choice, &self.call, rank, self.size);
            steps += program.steps.len();
            (steps <= self.most_steps).then_some(program)
        };
        (0..self.size).map(program).collect()
    }
}

fn add(order: &mut Vec<Part>, rank: usize, run: &Run) {
    let term = run.term;
    match order.last_mut() {
        // Where a unit comes from is none of the order's business: every result has it where it belongs.
        Some(last) if (last.rank, last.term) == (rank, term) && run.start > 0 => last.end = run.end(),
        _ => order.push(Part { rank, end: run.end(), term }),
    }
}

/// Which choices may take the place of one without changing how results round, whichever rank is the root: the same
/// choice carries out the calls of all roots.
pub struct SameOrder<'a> {
    /// For each root; none if that of the one is not known.
    roots: Vec<(Orders<'a>, Order)>,
}

impl<'a> SameOrder<'a> {
    /// Those that combine the contributions to calls like this one as `choice` does.
    pub fn new(call: &Call<'a>, size: usize, choice: &Choice) -> Self {
        let roots = if call.operation.rooted() { size } else { 1 };
        let of = |root| {
            let call = Call { root, ..*call };
            let mut orders = Orders { most_steps: MOST_STEPS / roots, ..Orders::new(&call, size) };
            let order = orders.of(choice)?;
            Some((orders, order))
        };
        Self { roots: (0..roots).map(of).collect::<Option<_>>().unwrap_or_default() }
    }

    /// Whether this one does, as far as can be told.
    pub fn has(&mut self, choice: &Choice) -> bool {
        !self.roots.is_empty() && self.roots.iter_mut().all(|(orders, order)| orders.of(choice).as_ref() == Some(order))
    }
}
