//! What was learned of a cell, for other communicators of the same shape.

use super::cell::{Cell, CommunicatorShape};
use super::samples::Samples;
use super::state::Trial;
use crate::algorithm::{Choice, Operation, parse_choice};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What stands for the MPI library among candidates.
const NATIVE: &str = "native";

/// What was learned of a cell, and who can carry out its calls.
#[derive(Clone, Debug)]
pub struct Known {
    /// By place in the trial; `None` for the MPI library.
    pub candidates: Arc<[Option<Arc<Choice>>]>,
    /// As they are written.
    pub names: Arc<[Arc<str>]>,
    /// How they stand, alike on all ranks that have learned it together.
    pub trial: Trial,
    /// What the order of its rounds rests on, alike on all ranks: a round that goes on elsewhere keeps its order, so that
    /// each candidate has as many calls.
    pub seed: u64,
    /// What this rank has measured of the round that the trial is in.
    pub samples: Samples,
}

impl Known {
    /// Of these candidates, of which nothing has been measured in the round that the trial is in.
    pub fn new(candidates: Arc<[Option<Arc<Choice>>]>, trial: Trial, seed: u64) -> Self {
        let name = |choice: &Option<Arc<Choice>>| {
            choice.as_ref().map_or_else(|| Arc::from(NATIVE), |choice| choice.to_string().into())
        };
        let names = candidates.iter().map(name).collect();
        Self { candidates, names, trial, seed, samples: Samples::default() }
    }

    /// Whether both are the same but for what this rank alone has measured.
    #[cfg(test)]
    fn is_like(&self, other: &Self) -> bool {
        self.candidates == other.candidates && self.trial == other.trial && self.seed == other.seed
    }

    /// Whether this tells more than the other: of a later search, or else a winner, or else of more calls.
    fn tells_more(&self, than: &Self) -> bool {
        let key = |of: &Trial| (of.begun(), of.is_won(), of.calls());
        key(&self.trial) > key(&than.trial)
    }

    /// Whether this is a winner of the same candidates as `trial`'s that was found since that search began.
    pub fn is_winner_for(&self, trial: &Trial, candidates: &[Option<Arc<Choice>>]) -> bool {
        self.trial.is_won() && self.trial.begun() >= trial.begun() && *self.candidates == *candidates
    }

    /// From what [`Knowledge::encode`] wrote.
    fn of(operation: Operation, texts: &[String], (trial, seed): (Trial, u64)) -> Option<Self> {
        let choice = |text: &String| match text.as_str() {
            NATIVE => Some(None),
            text => parse_choice(operation, text).ok().map(|choice| Some(Arc::new(choice))),
        };
        let candidates: Option<Vec<_>> = texts.iter().map(choice).collect();
        let candidates = candidates.filter(|found| found.len() == trial.standings().len())?;
        Some(Self::new(candidates.into(), trial, seed))
    }
}

/// What a rank knows, by shape.
#[derive(Debug, Default)]
pub struct Knowledge(HashMap<CommunicatorShape, BTreeMap<Cell, Known>>);

impl Knowledge {
    /// What is known of a cell.
    pub fn get(&self, shape: &CommunicatorShape, cell: &Cell) -> Option<&Known> {
        self.0.get(shape)?.get(cell)
    }

    /// Keeps what was learned, unless more is known already.
    pub fn put(&mut self, shape: CommunicatorShape, cell: Cell, learned: Known) {
        let cells = self.0.entry(shape).or_default();
        if cells.get(&cell).is_none_or(|known| !known.tells_more(&learned)) {
            cells.insert(cell, learned);
        }
    }

    /// All that is known of a shape.
    pub fn of(&self, shape: &CommunicatorShape) -> BTreeMap<Cell, Known> {
        self.0.get(shape).cloned().unwrap_or_default()
    }
}

/// Cells as bytes: equal ones where ranks know the same.
pub fn encode(cells: &BTreeMap<Cell, Known>) -> Vec<u8> {
    let cells: Vec<_> = cells.iter().map(|(cell, known)| (cell, &*known.names, (&known.trial, known.seed))).collect();
    postcard::to_stdvec(&cells).expect("numbers and texts can be written to memory")
}

/// What [`encode`] wrote; nothing of bytes that it never writes.
pub fn decode(bytes: &[u8]) -> BTreeMap<Cell, Known> {
    let cells: Vec<(Cell, Vec<String>, (Trial, u64))> = postcard::from_bytes(bytes).unwrap_or_default();
    let known = |(cell, texts, trial): (Cell, Vec<String>, (Trial, u64))| {
        Known::of(cell.operation, &texts, trial).map(|known| (cell, known))
    };
    cells.into_iter().filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Call;
    use crate::trial::Times;
    use crate::trial::{Expected, Foreseen};

    fn known(calls: u64) -> Known {
        let texts = ["ring", "native", "recursive_doubling"].map(str::to_owned);
        let mut trial = crate::trial::simulated::trial(&[Some(1.0), None, Some(1.5)], 5_000, 1_000, 1_000);
        trial.rested(calls);
        Known::of(Operation::Allreduce, &texts, (trial, 7)).unwrap()
    }

    #[test]
    fn what_one_rank_writes_another_reads() {
        let cell = Cell::of(&Call::plain(Operation::Allreduce, 512, 8), 4);
        let cells = BTreeMap::from([(cell, known(3))]);
        let read = decode(&encode(&cells));
        assert!(read.len() == 1 && read[&cell].is_like(&cells[&cell]), "{read:?}");
        assert_eq!(encode(&read), encode(&cells));
        assert!(decode(&[7; 40]).is_empty());
    }

    #[test]
    fn a_winner_from_before_the_search_began_again_does_not_come_back() {
        let (shape, cell) = (CommunicatorShape::default(), Cell::of(&Call::plain(Operation::Allreduce, 1, 8), 4));
        let mut known = known(0);
        let foreseen = [Foreseen::default(); 3];
        known.trial =
            Trial::won(&foreseen, Expected { call_ns: 10, budget: 2, ..Expected::default() }, 0, &[10, 15, 12]);
        let mut knowledge = Knowledge::default();
        knowledge.put(shape, cell, known.clone());
        let mut looks = 0;
        while known.trial.is_won() {
            known.trial.rested(known.trial.rest());
            while !known.trial.is_due() {
                known.trial.next(1);
            }
            // The winner takes four times as long.
            let times = Times::of_words(&Times::words([40, 0, 0, 0, 0, 0, 0, 0]));
            known.trial.commit(&times, 0, 1);
            let before = knowledge.get(&shape, &cell).cloned().unwrap();
            let taken = before.is_winner_for(&known.trial, &known.candidates);
            assert!(!taken || known.trial.begun() == 0, "the old winner is taken for the new search's");
            knowledge.put(shape, cell, known.clone());
            looks += 1;
        }
        assert!((1..10).contains(&looks), "{looks}");
        let now = knowledge.get(&shape, &cell).unwrap();
        assert!(now.is_like(&known) && now.trial.begun() == 1);
    }

    #[test]
    fn what_tells_more_stays() {
        let (shape, cell) = (CommunicatorShape::default(), Cell::of(&Call::plain(Operation::Allreduce, 1, 8), 4));
        let mut knowledge = Knowledge::default();
        for (calls, stays) in [(5, 5), (3, 5), (6, 6)] {
            knowledge.put(shape, cell, known(calls));
            assert_eq!(knowledge.get(&shape, &cell).unwrap().trial.calls(), stays);
        }
        assert_eq!(knowledge.of(&shape).len(), 1);
    }
}
