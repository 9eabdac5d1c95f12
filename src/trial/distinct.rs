//! Algorithms that are the same program: among few ranks many are, and to try more than one of them would cost time for
//! nothing.

use crate::algorithm::{Blocks, Call, Choice};
use crate::schedule::action::Lowered;
use crate::schedule::lower::{Form, Part, lower};

/// Among more ranks the programs of different algorithms are hardly ever the same, and take longer to make.
const MOST_RANKS: usize = 8;
/// The same of programs with more actions.
const MOST_ACTIONS: usize = 64;

/// The programs of those that are tried, for one call.
pub struct Distinct<'a> {
    call: Call<'a>,
    ranks: usize,
    known: Vec<Tried>,
}

struct Tried {
    seconds: f64,
    choice: Choice,
    /// Made when another one is predicted to take as long.
    programs: Option<Programs>,
}

/// Those of all ranks; none if one of them is long.
type Programs = Option<Vec<Lowered>>;

impl<'a> Distinct<'a> {
    /// For calls like this one. `default` is tried in any case; with its time by the cost model.
    pub fn new(call: &Call<'a>, ranks: usize, default: Option<(&Choice, f64)>) -> Self {
        let known = default.map(|(choice, seconds)| Tried { seconds, choice: choice.clone(), programs: None });
        // What all ranks see alike: another root would number the same ranks differently.
        Self { call: Call { root: 0, in_place: false, ..*call }, ranks, known: known.into_iter().collect() }
    }

    /// Whether none that was asked for before is the same program; keeps it in mind if so. `seconds` is its time by the
    /// cost model, which is the same for the same program.
    pub fn is_new(&mut self, choice: &Choice, seconds: f64) -> bool {
        let Self { call, ranks, known } = self;
        let mut tried = Tried { seconds, choice: choice.clone(), programs: None };
        // A rank knows its own blocks only: others' programs would not be the ones that they have.
        if *ranks <= MOST_RANKS && !matches!(call.blocks, Blocks::Own { .. }) {
            for other in known.iter_mut().filter(|other| (other.seconds - seconds).abs() <= 1e-9 * seconds) {
                let own = tried.programs(call, *ranks);
                if own.is_some() && other.programs(call, *ranks) == own {
                    return false;
                }
            }
        }
        known.push(tried);
        true
    }
}

impl Tried {
    fn programs(&mut self, call: &Call, ranks: usize) -> &Programs {
        let choice = &self.choice;
        self.programs.get_or_insert_with(|| {
            let of_rank = |rank| lower(&Part { choice, call, rank, size: ranks }, &Form::PLAIN, MOST_ACTIONS);
            (0..ranks).map(of_rank).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Operation, parse_choice};

    fn new_ones(operation: Operation, count: usize, ranks: usize, written: &[&str]) -> Vec<bool> {
        let call = Call::plain(operation, count, 8);
        let mut distinct = Distinct::new(&call, ranks, None);
        let choice = |text: &&str| parse_choice(operation, text).expect("an algorithm");
        written.iter().map(|text| distinct.is_new(&choice(text), 1e-6)).collect()
    }

    #[test]
    fn one_message_between_two_ranks_is_tried_once_and_between_three_ranks_each_way_is() {
        let trees = ["linear", "binomial:segment=none", "knomial:radix=4,segment=none", "chain:chains=4,segment=none"];
        assert_eq!(new_ones(Operation::Bcast, 100, 2, &trees), [true, false, false, false]);
        assert_eq!(
            new_ones(Operation::Bcast, 100, 3, &["linear", "pipeline:segment=none", "linear"]),
            [true, true, false]
        );
    }

    #[test]
    fn what_takes_another_time_by_the_cost_model_is_another_program() {
        let call = Call::plain(Operation::Allreduce, 100, 8);
        let of = |text| parse_choice(Operation::Allreduce, text).expect("an algorithm");
        let (doubling, multiplying) = (of("recursive_doubling"), of("recursive_multiplying:radix=4"));
        let mut distinct = Distinct::new(&call, 2, Some((&doubling, 1e-6)));
        assert!(!distinct.is_new(&doubling, 1e-6) && distinct.is_new(&multiplying, 2e-6));
    }
}
