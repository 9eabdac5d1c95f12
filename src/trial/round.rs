//! Whose turn it is: candidates in epochs of a few calls, in an order that a coin decides.
//!
//! As in mode `compare` (see [`Turn`](crate::monitor::Turn)): what the program repeats must not fall on one candidate
//! only. Every other turn has the order of the one before it reversed, so that who came first comes last: of calls of
//! which every other one is a long one, each candidate then gets as many. All ranks see the coins alike, since they
//! rest on a number that they agreed on.

use crate::monitor::mixed;
use serde::{Deserialize, Serialize};

/// Calls in which candidates are measured against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the trial.
    pub number: u32,
    /// Who takes part.
    pub members: Vec<u8>,
    /// Epochs of each member.
    pub epochs: u32,
    /// Calls of an epoch.
    pub calls: u32,
}

impl Round {
    /// Calls of all members.
    pub fn all_calls(&self) -> u64 {
        self.members.len() as u64 * self.calls_of_each()
    }

    /// Calls of each member.
    pub const fn calls_of_each(&self) -> u64 {
        self.epochs as u64 * self.calls as u64
    }

    /// Who carries out the call of that number, from 0 on.
    pub fn member(&self, seed: u64, call: u64) -> usize {
        let of_turn = self.members.len() as u64 * u64::from(self.calls);
        let (turn, place) = (call / of_turn, call % of_turn / u64::from(self.calls));
        let mut order = self.members.clone();
        let mut coin = mixed(mixed(seed ^ u64::from(self.number) << 32) ^ (turn / 2));
        // Fisher and Yates.
        for last in (1..order.len()).rev() {
            order.swap(last, (coin % (last as u64 + 1)) as usize);
            coin = mixed(coin);
        }
        let place = if turn % 2 == 0 { place as usize } else { order.len() - 1 - place as usize };
        usize::from(order[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_gets_its_calls_in_every_turn_and_each_comes_first_as_often() {
        let mut first = [0; 3];
        for seed in 0..300 {
            let round = Round { number: 2, members: vec![0, 4, 2], epochs: 4, calls: 3 };
            let order: Vec<usize> = (0..round.all_calls()).map(|call| round.member(seed, call)).collect();
            for turn in order.chunks_exact(9) {
                assert!([0, 2, 4].iter().all(|member| turn.iter().filter(|of| *of == member).count() == 3));
                assert!(turn.chunks_exact(3).all(|epoch| epoch.iter().all(|of| *of == epoch[0])), "{turn:?}");
                first[turn[0] / 2] += 1;
            }
            for pair in order.chunks_exact(18) {
                assert!(pair.iter().eq(pair.iter().rev()), "{pair:?}");
            }
            assert_eq!(order.len() as u64, round.all_calls());
        }
        assert!(first.iter().all(|times| (340..460).contains(times)), "{first:?}");
    }
}
