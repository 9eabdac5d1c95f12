//! Who is tried: what the tables say, the MPI library, and the best few by the cost model.

use super::state::MOST;
use crate::algorithm::{Call, Choice, Shape, of};
use crate::schedule::simulate::Network;
use crate::selection::{Configuration, Situation, Wanted};

/// Algorithms that are tried because the cost model says so, at most.
const BY_MODEL: usize = 4;
/// How much slower than the best by the cost model they may be: it is off by a factor of two now and then.
const WITHIN: f64 = 3.0;

const _: () = assert!(BY_MODEL + 2 <= MOST, "the default and the MPI library have a place too");

/// Those that may carry out calls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// The default first; `None` for the MPI library.
    pub choices: Vec<Option<Choice>>,
    /// Their times by the cost model over the default's; nothing is predicted of the MPI library, nor over it.
    pub predicted: Vec<Option<f64>>,
    /// Time of an exchange over that of a call, by the cost model.
    pub exchange: f64,
}

impl Candidates {
    /// Of calls like this one, which `default` carries out otherwise. Only the default where results must not depend on who
    /// does (`COLLIE_REPRODUCIBLE`) and something is reduced.
    pub fn of(configuration: &Configuration, situation: &Situation, call: &Call, default: Option<&Choice>) -> Self {
        let network = configuration.network(situation.one_node);
        let seconds = |choice: &Choice| seconds(&network, situation, call, choice);
        let of_default = default.map(seconds);
        let mut choices = vec![default.cloned()];
        let mut predicted = vec![of_default.map(|_| 1.0)];
        let mut by_model: Vec<(f64, Choice)> = of(call.operation)
            .iter()
            .map(|row| Choice::new(row))
            .filter(|choice| choice.accepts(call, situation.ranks).is_ok())
            .map(|choice| (seconds(&choice), choice))
            .collect();
        by_model.sort_by(|one, other| one.0.total_cmp(&other.0));
        let best = by_model.first().map_or(0.0, |(seconds, _)| *seconds);
        if !(configuration.reproducible && call.operation.reduces()) {
            if default.is_some() {
                choices.push(None);
                predicted.push(None);
            }
            let worth =
                by_model.into_iter().filter(|(seconds, choice)| *seconds <= best * WITHIN && Some(choice) != default);
            for (seconds, choice) in worth.take(BY_MODEL) {
                choices.push(Some(choice));
                predicted.push(of_default.filter(|of| *of > 0.0).map(|of| seconds / of));
            }
        }
        Self { choices, predicted, exchange: exchange(&network, situation, of_default.unwrap_or(best)) }
    }
}

impl Candidates {
    /// The place of the one that is written so, who gets one if there is room and the calls allow it; `None` otherwise.
    pub fn place_of(&mut self, call: &Call, ranks: usize, written: &str) -> Option<usize> {
        let choice = match Wanted::parse(call.operation, written).ok()? {
            Wanted::Native => None,
            Wanted::Algorithm(choice) => Some(choice),
            Wanted::Auto => return None,
        };
        if let Some(place) = self.choices.iter().position(|known| *known == choice) {
            return Some(place);
        }
        let accepted = choice.as_ref().is_none_or(|choice| choice.accepts(call, ranks).is_ok());
        // Where there is no choice nothing is learned.
        if !accepted || self.choices.len() == 1 || self.choices.len() == MOST {
            return None;
        }
        self.choices.push(choice);
        self.predicted.push(None);
        Some(self.choices.len() - 1)
    }
}

/// Seconds of a call by the cost model, from rank 0.
fn seconds(network: &Network, situation: &Situation, call: &Call, choice: &Choice) -> f64 {
    let shape = Shape { root: 0, ..Shape::of(call, situation.ranks) };
    network.seconds(choice.cost(&shape), situation.one_node, call.shared.is_some())
}

/// The time of an exchange, up a binomial tree and down again, over that of a call.
fn exchange(network: &Network, situation: &Situation, call: f64) -> f64 {
    let link = if situation.one_node { &network.on_node } else { &network.off_node };
    let rounds = 2 * situation.ranks.next_power_of_two().ilog2();
    let exchange = f64::from(rounds) * link.start_up();
    // Nothing is faster than the shortest call.
    if call > 0.0 { (exchange / call).clamp(0.0, 4.0) } else { 4.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Operation, SharedMemory};
    use crate::selection::{Decided, Mpi, decide};

    fn situation(ranks: usize) -> Situation {
        Situation { ranks, one_node: true, oversubscribed: false, mpi: Mpi::UNKNOWN }
    }

    fn found(configuration: &Configuration, ranks: usize, call: &Call) -> Candidates {
        let default = match decide(configuration, &situation(ranks), call) {
            Decided::Ours { choice, .. } => Some(choice.clone()),
            Decided::Native { .. } => None,
        };
        Candidates::of(configuration, &situation(ranks), call, default.as_ref())
    }

    #[test]
    fn the_default_comes_first_then_native_then_what_the_model_says_and_all_are_right() {
        let configuration = Configuration::default();
        for operation in Operation::ALL {
            for ranks in 2..=9 {
                for bytes in [8, 4096, 1 << 20] {
                    let unit = if operation.reduces() { 8 } else { 1 };
                    for commutative in if operation.reduces() { &[true, false][..] } else { &[true] } {
                        let count = if operation.has_data() { bytes / unit } else { 0 };
                        let call = Call { commutative: *commutative, ..Call::plain(operation, count, unit) };
                        let found = found(&configuration, ranks, &call);
                        assert_eq!(found.choices.iter().filter(|choice| choice.is_none()).count(), 1);
                        assert!(
                            (1..=MOST).contains(&found.choices.len()) && found.choices.len() == found.predicted.len()
                        );
                        for (place, choice) in found.choices.iter().enumerate() {
                            assert!(!found.choices[..place].contains(choice), "{operation}: {choice:?} twice");
                            let accepted = choice.as_ref().map_or(Ok(()), |choice| choice.accepts(&call, ranks));
                            assert_eq!(accepted, Ok(()), "{operation} of {bytes} among {ranks}: {choice:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn where_ranks_share_memory_what_lives_there_is_tried_beside_messages() {
        let configuration = Configuration::default();
        for operation in Operation::ALL {
            let of_memory = |shared| {
                let unit = if operation.reduces() { 8 } else { 1 };
                let call = Call { shared, ..Call::plain(operation, if operation.has_data() { 4096 } else { 0 }, unit) };
                let found = Candidates::of(&configuration, &situation(4), &call, None).choices;
                let shares =
                    |choice: &&Option<Choice>| choice.as_ref().is_some_and(|one| one.algorithm.needs.shared_memory);
                (found.iter().filter(shares).count(), found.len())
            };
            assert_eq!(of_memory(None).0, 0, "{operation}");
            let (shared, all) = of_memory(Some(SharedMemory::PLAIN));
            let has_rows = of(operation).iter().any(|row| row.needs.shared_memory);
            assert_eq!(shared > 0, has_rows, "{operation}");
            assert!(operation == Operation::Barrier || shared + 1 < all, "{operation}: {shared} of {all}");
        }
    }

    #[test]
    fn nothing_that_reduces_is_tried_where_results_must_not_change() {
        let configuration = Configuration { reproducible: true, ..Configuration::default() };
        for operation in Operation::ALL.into_iter().filter(|operation| operation.has_data()) {
            let call = Call::plain(operation, 1024, 8);
            assert_eq!(found(&configuration, 4, &call).choices.len() > 1, !operation.reduces(), "{operation}");
        }
    }
}
