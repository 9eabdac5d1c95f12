//! What a call costs that is one of many in a row: not the way from its first message to its last, but what the busiest
//! rank has to do for it. Where no rank waits for others that wait for it, the next call begins while this one is still
//! under way elsewhere: a bcast by `pipeline` takes as many rounds as there are ranks, and one message of each rank's
//! time.

use crate::algorithm::{Blocks, Call, Choice, Cost, Shape};
use crate::schedule::simulate::Network;
use crate::schedule::{Step, record};

/// Ranks that are looked at, at most: the root, the last one, and others evenly between them. Trees keep their root
/// busiest, and elsewhere all ranks do much the same. For each candidate the steps of eight of 1,024 ranks take 1 to 4 ms
/// to write down where each sends a thousand messages.
const LOOKED_AT: usize = 8;

/// Where a call alone takes more rounds, the steps are too many to be looked at.
const MOST_ROUNDS: f64 = 10_000.0;

/// Seconds that the busiest rank has to do for a call from rank 0 whose messages travel between nodes; `None` where its
/// steps depend on what other ranks alone know, or are too many.
pub fn busiest(network: &Network, ranks: usize, call: &Call, choice: &Choice) -> Option<f64> {
    if matches!(call.blocks, Blocks::Own { .. }) {
        return None;
    }
    // What all ranks see alike, as in the cost model.
    let call = Call { root: 0, in_place: false, ..*call };
    if choice.cost(&Shape::of(&call, ranks)).rounds > MOST_ROUNDS {
        return None;
    }
    let looked_at = ranks.min(LOOKED_AT);
    let rank = |number| number * (ranks - 1) / (looked_at - 1).max(1);
    let seconds = |rank| network.seconds(of_rank(choice, &call, rank, ranks), false, call.shared_by_all().is_some());
    (0..looked_at).map(rank).map(seconds).max_by(f64::total_cmp)
}

/// What one rank does, whenever it does it. A message costs either end half of its start-up, and a rank sends while it
/// receives.
fn of_rank(choice: &Choice, call: &Call, rank: usize, ranks: usize) -> Cost {
    let bytes = |units: usize| (units * call.unit) as f64;
    let (mut sent, mut received, mut cost) = (0.0, 0.0, Cost::default());
    for step in record(choice, call, rank, ranks).steps {
        match step {
            Step::Isend { from, .. } => (cost.rounds, sent) = (cost.rounds + 0.5, sent + bytes(from.len)),
            Step::Irecv { into, .. } => (cost.rounds, received) = (cost.rounds + 0.5, received + bytes(into.len)),
            Step::Fold { into, .. } => cost.folded += bytes(into.len),
            Step::Copy { into, .. } => cost.packed += bytes(into.len),
            // Memory is shared within nodes only, where calls in a row overlap less than messages do.
            Step::Wait { .. } | Step::Shared(_) => {}
        }
    }
    cost.bytes = sent.max(received);
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Operation, parse_choice};

    fn cost(operation: Operation, algorithm: &str, rank: usize) -> Cost {
        let call = Call::plain(operation, 800, 1);
        of_rank(&parse_choice(operation, algorithm).unwrap(), &call, rank, 8)
    }

    #[test]
    fn a_tree_keeps_its_root_busy_and_a_chain_nobody() {
        let of = |algorithm, rank| {
            let cost = cost(Operation::Bcast, algorithm, rank);
            (cost.rounds, cost.bytes)
        };
        assert_eq!(of("binomial:segment=none", 0), (1.5, 2400.0));
        assert_eq!(of("pipeline:segment=none", 0), (0.5, 800.0));
        assert_eq!(of("pipeline:segment=none", 3), (1.0, 800.0), "it passes on what it receives");
        assert_eq!(of("linear", 0), (3.5, 5600.0));
    }

    #[test]
    fn programs_that_are_too_long_are_not_written_down() {
        let network = crate::selection::Configuration::default().network(false);
        let is_known = |segment: &str, bytes| {
            let choice = parse_choice(Operation::Bcast, &format!("pipeline:segment={segment}")).unwrap();
            busiest(&network, 8, &Call::plain(Operation::Bcast, bytes, 1), &choice).is_some()
        };
        assert!(is_known("1K", 1 << 20) && !is_known("1K", 1 << 30) && is_known("1M", 1 << 30));
    }

    #[test]
    fn the_busiest_rank_counts_and_of_many_some_are_looked_at() {
        let network = crate::selection::Configuration::default().network(false);
        let seconds = |algorithm, ranks| {
            let choice = parse_choice(Operation::Bcast, algorithm).unwrap();
            busiest(&network, ranks, &Call::plain(Operation::Bcast, 8, 1), &choice).unwrap()
        };
        for ranks in [2usize, 8, 1000] {
            let rounds = f64::from(ranks.next_power_of_two().ilog2());
            let [chain, tree] = ["pipeline:segment=none", "binomial:segment=none"].map(|name| seconds(name, ranks));
            let [chain_rounds, tree_rounds] = [if ranks > 2 { 1.0 } else { 0.5 }, 0.5 * rounds.max(1.0)];
            let ratio = tree / chain / (tree_rounds.max(0.5) / chain_rounds);
            assert!((0.9..1.1).contains(&ratio), "{ranks} ranks: {tree} s, {chain} s");
        }
    }
}
