//! Who is tried: what the tables say, the MPI library, and the best few by the cost model.

use super::busy::busiest;
use super::distinct::Distinct;
use super::standing::Foreseen;
use super::state::Expected;
use super::times::MOST;
use crate::algorithm::{Call, Choice, Shape, of};
use crate::schedule::simulate::Network;
use crate::schedule::verify::SameOrder;
use crate::selection::{Configuration, Situation, Wanted};

/// Algorithms that are tried because the cost model says so, at most.
const BY_MODEL: usize = 4;
/// So many of them live in memory that the ranks share, where they have it. Of few ranks most algorithms are the same
/// messages, which the cost model cannot tell apart; only these do something else.
const IN_MEMORY: usize = 2;
/// How much slower than the best by the cost model they may be: it is off by a factor of two now and then.
const WITHIN: f64 = 3.0;

/// Nanoseconds that it takes to make an algorithm ready for a kind of call: to lower it, and to find its code and
/// tables in no cache. 3 to 12 µs on 2 cores of an AMD EPYC, for programs of few actions.
const READY_NS: u64 = 5_000;
/// Exchanges that a first call between nodes takes besides: MPI libraries connect to a rank when it is sent something
/// for the first time. A first bcast of 8 bytes among 8 nodes over TCP took 0.7 to 1.6 ms, later ones 0.05, an exchange
/// 0.3.
const CONNECTING: u64 = 2;
/// Nanoseconds of what the ranks do before and after an exchange. With the exchange itself 3 to 12 µs there.
const COMPARING_NS: u64 = 5_000;

/// Time of a message that the MPI library sends whole over that of its pieces, where these were found to pay: 1.5 to 4
/// for two to thirty-two pieces on 2 cores of an AMD EPYC. Who is known to be slow there is tried last.
const WHOLE: f64 = 2.0;

/// The part of the calls' time that trying may take unless the user says otherwise, percent.
const BUDGET: u32 = 2;

const _: () = assert!(BY_MODEL + 2 <= MOST, "the default and the MPI library have a place too");

/// Those that may carry out calls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// The default first; `None` for the MPI library.
    pub choices: Vec<Option<Choice>>,
    /// What is foreseen of each. Of the MPI library nothing is predicted but that it sends messages whole that travel
    /// in pieces.
    pub foreseen: Vec<Foreseen>,
    /// Times by the cost model.
    pub expected: Expected,
    /// Whether all of them have to combine in the same order.
    keeps_order: bool,
    /// Start-up time within a node and time per byte by the cost model.
    on_node: Option<(f64, f64)>,
}

impl Candidates {
    /// Of calls like this one, which `default` carries out otherwise. Only those that combine in the same order where
    /// the result of a reduction must not depend on who is fastest (`COLLIE_REPRODUCIBLE`); in which the MPI library
    /// does, nobody knows.
    pub fn of(configuration: &Configuration, situation: &Situation, call: &Call, default: Option<&Choice>) -> Self {
        let network = configuration.network(situation.one_node);
        let seconds = |choice: &Choice| seconds(&network, situation, call, choice);
        let of_default = default.map(seconds);
        let mut choices = vec![default.cloned()];
        // The default is ready when trying begins.
        let one = of_default.map(|_| 1.0);
        // Between nodes alone it is measured whether calls overlap.
        let in_a_row = |choice: &Choice| busiest(&network, situation.ranks, call, choice);
        let in_a_row = |choice: Option<&Choice>| choice.filter(|_| !situation.one_node).and_then(in_a_row);
        let default_in_a_row = in_a_row(default).filter(|seconds| *seconds > 0.0);
        let mut foreseen = vec![Foreseen { predicted: one, overlapped: default_in_a_row.and(one), ready_ns: 0 }];
        let mut by_model: Vec<(f64, Choice)> = of(call.operation)
            .iter()
            .map(|row| Choice::new(row))
            .filter(|choice| choice.accepts(call, situation.ranks).is_ok())
            .map(|choice| (seconds(&choice), choice))
            .collect();
        by_model.sort_by(|one, other| one.0.total_cmp(&other.0));
        let best = by_model.first().map_or(0.0, |(seconds, _)| *seconds);
        let keeps_order = keeps_order(configuration, call);
        if default.is_some() && !keeps_order {
            choices.push(None);
            let whole = of_default.filter(|of| situation.cuts(call) && *of > 0.0).map(|of| WHOLE * best / of);
            foreseen.push(Foreseen { predicted: whole, overlapped: None, ready_ns: 0 });
        }
        let mut same_order = keeps_order.then(|| default.map(|default| SameOrder::new(call, situation.ranks, default)));
        let mut may = |choice: &Choice| match &mut same_order {
            Some(same) => same.as_mut().is_some_and(|same| same.has(choice)),
            None => true,
        };
        by_model.retain(|(seconds, choice)| *seconds <= best * WITHIN && Some(choice) != default);
        let in_memory = by_model.iter().enumerate().filter(|(_, (_, choice))| choice.algorithm.needs.shared_memory);
        let in_memory: Vec<usize> = in_memory.map(|(place, _)| place).take(IN_MEMORY).collect();
        for (first, place) in in_memory.into_iter().enumerate() {
            by_model[first..=place].rotate_right(1);
        }
        let exchange_ns = (exchange(&network, situation) * 1e9) as u64;
        let connecting_ns = if situation.one_node { 0 } else { CONNECTING * exchange_ns };
        let mut distinct = Distinct::new(call, situation.ranks, default.zip(of_default));
        let others = by_model.into_iter().filter(|(seconds, choice)| may(choice) && distinct.is_new(choice, *seconds));
        for (seconds, choice) in others.take(BY_MODEL) {
            let over = of_default.unwrap_or(best);
            let predicted = (over > 0.0).then(|| seconds / over);
            let overlapped = default_in_a_row.and_then(|over| Some(in_a_row(Some(&choice))? / over));
            choices.push(Some(choice));
            foreseen.push(Foreseen { predicted, overlapped, ready_ns: READY_NS + connecting_ns });
        }
        let call = of_default.unwrap_or(best);
        let expected = Expected {
            call_ns: (call * 1e9) as u64,
            exchange_ns: exchange_ns + COMPARING_NS,
            meeting_ns: if situation.one_node { 0 } else { exchange_ns.max(1) },
            budget: configuration.learn_budget.unwrap_or(BUDGET),
        };
        let link = &network.on_node;
        let on_node = situation.one_node.then(|| (link.start_up(), link.per_byte));
        Self { choices, foreseen, expected, keeps_order, on_node }
    }

    /// A message of `bytes` bytes was measured to take `ns` within a node (0 if it was not): calls on one node are
    /// expected to take as much more or less time than the cost model says. It is made for most machines, and one may
    /// be five times as fast.
    pub fn expect_messages_of(&mut self, ns: u64, bytes: usize) {
        if let Some((start_up, per_byte)) = self.on_node.filter(|_| ns > 0) {
            let predicted = (start_up + bytes as f64 * per_byte) * 1e9;
            self.expected.call_ns = (self.expected.call_ns as f64 * ns as f64 / predicted) as u64;
        }
    }
}

/// Whether no candidate may change the order in which such calls combine: whether [`may_carry_out`] has to examine
/// them.
pub fn keeps_order(configuration: &Configuration, call: &Call) -> bool {
    configuration.reproducible && call.operation.reduces()
}

/// Whether all candidates of a kind of call may carry out this one, which `default` carries out otherwise: they meet
/// its needs, and with `COLLIE_REPRODUCIBLE` they combine as the default does, which depends on the number of units; all
/// roots are looked at.
pub fn may_carry_out<'a>(
    configuration: &Configuration,
    ranks: usize,
    call: &Call,
    default: Option<&Choice>,
    candidates: impl Iterator<Item = Option<&'a Choice>>,
) -> bool {
    may(keeps_order(configuration, call), ranks, call, default, candidates)
}

fn may<'a>(
    keeps_order: bool,
    ranks: usize,
    call: &Call,
    default: Option<&Choice>,
    mut candidates: impl Iterator<Item = Option<&'a Choice>>,
) -> bool {
    let mut same_order = match (keeps_order, default) {
        (false, _) => None,
        (true, Some(default)) => Some(SameOrder::new(call, ranks, default)),
        (true, None) => return false,
    };
    candidates.all(|candidate| match (candidate, &mut same_order) {
        (None, same) => same.is_none(),
        (Some(choice), same) => {
            let may = choice.accepts(call, ranks).is_ok();
            may && same.as_mut().is_none_or(|same| Some(choice) == default || same.has(choice))
        }
    })
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
        let default = self.choices.first().and_then(Option::as_ref);
        let accepted = may(self.keeps_order, ranks, call, default, std::iter::once(choice.as_ref()));
        // Where there is no choice nothing is learned.
        if !accepted || self.choices.len() == 1 || self.choices.len() == MOST {
            return None;
        }
        self.foreseen.push(Foreseen {
            predicted: None,
            overlapped: None,
            ready_ns: if choice.is_some() { READY_NS } else { 0 },
        });
        self.choices.push(choice);
        Some(self.choices.len() - 1)
    }
}

/// Seconds of a call by the cost model, from rank 0.
fn seconds(network: &Network, situation: &Situation, call: &Call, choice: &Choice) -> f64 {
    let shape = Shape { root: 0, ..Shape::of(call, situation.ranks) };
    network.seconds(choice.cost(&shape), situation.one_node, call.shared_by_all().is_some())
}

/// Seconds of an exchange, by dissemination.
fn exchange(network: &Network, situation: &Situation) -> f64 {
    let link = if situation.one_node { &network.on_node } else { &network.off_node };
    let rounds = situation.ranks.next_power_of_two().ilog2();
    f64::from(rounds) * link.start_up()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Operation, SharedMemory};
    use crate::schedule::limits::ProtocolLimits;
    use crate::selection::{Decided, decide};

    fn situation(ranks: usize) -> Situation {
        Situation::plain(ranks)
    }

    fn found(configuration: &Configuration, ranks: usize, call: &Call) -> Candidates {
        let default = match decide(configuration, &situation(ranks), call) {
            Decided::Ours { choice, .. } => Some(choice.clone()),
            Decided::Native { .. } => None,
        };
        Candidates::of(configuration, &situation(ranks), call, default.as_ref())
    }

    #[test]
    fn the_mpi_library_is_foreseen_to_be_slow_where_messages_travel_in_pieces() {
        let (configuration, call) = (Configuration::default(), Call::plain(Operation::Bcast, 32 << 10, 1));
        let default = Choice::new(crate::algorithm::find(Operation::Bcast, "linear").unwrap());
        let of_native = |limits| {
            let situation = Situation { limits, ..situation(2) };
            let found = Candidates::of(&configuration, &situation, &call, Some(&default));
            found.foreseen[found.choices.iter().position(Option::is_none).unwrap()].predicted
        };
        assert_eq!(of_native(ProtocolLimits::NONE), None);
        let many = ProtocolLimits::of(["8192x32".parse::<crate::schedule::limits::Limit>().unwrap()]);
        assert_eq!(of_native(many.unwrap()), Some(2.0), "linear is the best of the model");
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
                            (1..=MOST).contains(&found.choices.len()) && found.choices.len() == found.foreseen.len()
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

    /// Where many ranks of a node gather long blocks, rows that pack or rotate them take twice as long as the others.
    #[test]
    fn what_copies_too_much_takes_nobodys_place() {
        let call = Call::plain(Operation::Allgather, 64 << 10, 1);
        let direct = Choice::new(crate::algorithm::find(Operation::Allgather, "direct").unwrap());
        let found = Candidates::of(&Configuration::default(), &situation(13), &call, Some(&direct));
        let names: Vec<_> = found.choices.iter().flatten().map(|choice| choice.algorithm.name).collect();
        assert_eq!(names[..2], ["direct", "ring"], "{names:?}");
        let of = |name| found.foreseen[1 + names.iter().position(|known| *known == name).unwrap()].predicted.unwrap();
        assert!(of("ring") < 1.1 && of("bruck") > 1.6, "{names:?}: {:?}", found.foreseen);
    }

    #[test]
    fn calls_are_expected_to_be_as_fast_as_messages_were_measured() {
        let call = Call::plain(Operation::Bcast, 8, 1);
        let mut found = found(&Configuration::default(), 2, &call);
        let expected = found.expected;
        found.expect_messages_of(0, 512);
        assert_eq!(found.expected, expected, "nothing was measured");
        let predicted = Configuration::default().network(true).on_node;
        let predicted = (predicted.start_up() + 512.0 * predicted.per_byte) * 1e9;
        found.expect_messages_of((predicted / 5.0) as u64, 512);
        assert!(found.expected.call_ns.abs_diff(expected.call_ns / 5) <= 1, "{:?} {expected:?}", found.expected);
    }

    #[test]
    fn where_ranks_share_memory_what_lives_there_is_tried_beside_messages() {
        let configuration = Configuration::default();
        for operation in Operation::ALL {
            for (ranks, bytes) in [(2, 8), (2, 4096), (2, 1 << 20), (4, 8), (4, 4096), (4, 1 << 20)] {
                let of_memory = |shared| {
                    let unit = if operation.reduces() { 8 } else { 1 };
                    let count = if operation.has_data() { bytes / unit } else { 0 };
                    let call = Call { shared, ..Call::plain(operation, count, unit) };
                    let found = Candidates::of(&configuration, &situation(ranks), &call, None).choices;
                    let shares =
                        |choice: &&Option<Choice>| choice.as_ref().is_some_and(|one| one.algorithm.needs.shared_memory);
                    (found.iter().filter(shares).count(), found.len())
                };
                assert_eq!(of_memory(None).0, 0, "{operation}");
                let (shared, all) = of_memory(Some(SharedMemory::PLAIN));
                let has_rows = of(operation).iter().any(|row| row.needs.shared_memory);
                assert_eq!(shared > 0, has_rows, "{operation} of {bytes} among {ranks}");
                let messages_too = operation == Operation::Barrier || shared + 1 < all;
                assert!(messages_too, "{operation} of {bytes} among {ranks}: {shared} of {all}");
            }
        }
    }

    #[test]
    fn what_reduces_in_another_order_is_not_tried_where_results_must_not_change() {
        let configuration = Configuration { reproducible: true, ..Configuration::default() };
        for operation in Operation::ALL.into_iter().filter(|operation| operation.has_data()) {
            for ranks in [2, 4, 7] {
                let call = Call::plain(operation, 1024, 8);
                let found = found(&configuration, ranks, &call);
                assert_eq!(found.choices.contains(&None), !operation.reduces(), "{operation}");
                let default = found.choices[0].clone().unwrap();
                let mut same = SameOrder::new(&call, ranks, &default);
                let all = found.choices.iter().flatten().all(|choice| !operation.reduces() || same.has(choice));
                assert!(all, "{operation} among {ranks}: {:?}", found.choices);
            }
        }
        let call = Call::plain(Operation::Allreduce, 1024, 8);
        assert!(found(&configuration, 4, &call).choices.len() > 1, "some combine as the default does");
    }

    #[test]
    fn neither_is_it_where_a_run_before_has_learned_it_or_another_call_of_its_kind() {
        let configuration = Configuration { reproducible: true, ..Configuration::default() };
        let parse = |text| crate::algorithm::parse_choice(Operation::Allreduce, text).unwrap();
        let call = Call::plain(Operation::Allreduce, 1024, 8);
        let doubling = parse("recursive_doubling");
        let mut found = Candidates::of(&configuration, &situation(4), &call, Some(&doubling));
        for (written, may) in [("rabenseifner", true), ("ring", false), ("native", false)] {
            assert_eq!(found.place_of(&call, 4, written).is_some(), may, "{written}");
        }
        // The call at hand decides, not the one that its kind began with.
        let candidates = || found.choices.iter().map(Option::as_ref);
        assert!(may_carry_out(&configuration, 4, &call, Some(&doubling), candidates()));
        assert!(!may_carry_out(&configuration, 4, &call, Some(&parse("ring")), candidates()));
        let lax = Configuration::default();
        let native = [None, Some(&doubling)];
        assert!(may_carry_out(&lax, 4, &call, Some(&doubling), native.into_iter()));
        assert!(!may_carry_out(&configuration, 4, &call, Some(&doubling), native.into_iter()));
        assert!(!may_carry_out(&configuration, 4, &call, None, native.into_iter()));
    }
}
