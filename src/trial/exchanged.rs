//! What the ranks exchange after a round. Each passes its own words, and the greatest of each word comes back to all: a
//! smallest one is passed as its complement, and whether all have the same as itself and its complement.

use super::times::{MOST, Times};

/// Words of an exchange: the times of the candidates, what trying has cost, how long an exchange takes, and which winner
/// a rank knows of, with the complement.
const WORDS: usize = Times::WORDS + 4;

/// Places of the others.
const SPENT: usize = Times::WORDS;
const EXCHANGE: usize = SPENT + 1;
const WINNER: usize = SPENT + 2;
const NOT_WINNER: usize = SPENT + 3;

/// In place of a time: a rank's calls of the round differed too much to be compared.
const UNLIKE: u64 = u64::MAX;

/// What one rank has to say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// What it measured of each candidate, nanoseconds; `None` if its calls differed too much to be compared.
    pub times: Option<[u64; MOST]>,
    /// What trying has cost it since the last exchange, nanoseconds.
    pub spent_ns: u64,
    /// How long its last exchange took, nanoseconds.
    pub exchange_ns: u64,
    /// Digest of the winner that another communicator of the shape has found, as far as it knows; 0 for none.
    pub winner: u64,
}

impl Own {
    /// What it passes. Where the ranks `meet` before they exchange, the longest exchange counts; elsewhere all but the
    /// last rank have waited in it for that one, whose own was the shortest.
    pub fn words(&self, meet: bool) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        match self.times {
            Some(times) => words[..Times::WORDS].copy_from_slice(&Times::words(times)),
            None => words[..MOST].fill(UNLIKE),
        }
        words[SPENT] = self.spent_ns;
        words[EXCHANGE] = if meet { self.exchange_ns } else { !self.exchange_ns };
        (words[WINNER], words[NOT_WINNER]) = (self.winner, !self.winner);
        words
    }
}

/// What all ranks know alike after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// What all measured; `None` if the calls of some rank differed too much to be compared.
    pub times: Option<Times>,
    /// The most that trying has cost any of them.
    pub spent_ns: u64,
    /// How long an exchange takes.
    pub exchange_ns: u64,
    /// Digest of the winner of another communicator that all of them know of.
    pub winner: Option<u64>,
}

impl Exchanged {
    /// By the greatest of each of the ranks' words; `meet` as for [`Own::words`].
    pub fn of(greatest: &[u64; WORDS], meet: bool) -> Self {
        let known_alike = greatest[WINNER] == !greatest[NOT_WINNER] && greatest[WINNER] != 0;
        Self {
            times: (!greatest[..MOST].contains(&UNLIKE)).then(|| Times::of_words(greatest)),
            spent_ns: greatest[SPENT],
            exchange_ns: if meet { greatest[EXCHANGE] } else { !greatest[EXCHANGE] },
            winner: known_alike.then_some(greatest[WINNER]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ranks: &[Own], meet: bool) -> Exchanged {
        let words = ranks.iter().map(|own| own.words(meet));
        let greatest = words.reduce(|one, other| std::array::from_fn(|place| one[place].max(other[place])));
        Exchanged::of(&greatest.unwrap(), meet)
    }

    fn of(number: u64, winner: u64) -> Own {
        let times = Some([100 + number, 50 - number, 0, 0, 0, 0, 0, 0]);
        Own { times, spent_ns: 10 * number, exchange_ns: 1_000 + number, winner }
    }

    #[test]
    fn the_slowest_decides_but_for_the_exchange_of_ranks_that_waited_for_each_other() {
        let ranks: Vec<_> = (0..5).map(|number| of(number, 0)).collect();
        for (meet, exchange_ns) in [(true, 1_004), (false, 1_000)] {
            let all = after(&ranks, meet);
            let times = all.times.expect("all were alike");
            assert_eq!(
                (times.slowest[..3].to_vec(), times.fastest[..3].to_vec()),
                (vec![104, 50, 0], vec![100, 46, 0])
            );
            assert_eq!((all.spent_ns, all.exchange_ns, all.winner), (40, exchange_ns, None));
        }
    }

    #[test]
    fn calls_that_differed_on_one_rank_are_compared_on_none() {
        for who in 0..5 {
            let mut ranks: Vec<_> = (0..5).map(|number| of(number, 0)).collect();
            ranks[who].times = None;
            let all = after(&ranks, true);
            assert_eq!((all.times, all.spent_ns), (None, 40), "rank {who}");
        }
    }

    #[test]
    fn a_winner_is_taken_over_where_all_know_of_the_same_one() {
        let known = |winners: [u64; 5]| after(&winners.map(|winner| of(0, winner)), true).winner;
        assert_eq!(known([7; 5]), Some(7));
        for who in 0..5 {
            for other in [0, 3, 9, u64::MAX] {
                let mut winners = [7; 5];
                winners[who] = other;
                assert_eq!(known(winners), None, "rank {who} knows {other}");
            }
        }
        assert_eq!(known([0; 5]), None, "nobody knows of one");
    }
}
