//! What the ranks measured of a round.

/// Most candidates of a cell.
pub const MOST: usize = 8;

/// Times per call of a round's candidates, nanoseconds, as the ranks have exchanged them; 0 of who was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Of the slowest rank, which decides.
    pub slowest: [u64; MOST],
    /// Of the fastest rank, which waited for nobody, or least.
    pub fastest: [u64; MOST],
}

impl Times {
    /// Words of an exchange in which each rank passes its own, and the greatest of each count.
    pub const WORDS: usize = 2 * MOST;

    /// The words of a rank that measured these times.
    pub fn words(own: [u64; MOST]) -> [u64; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        words[..MOST].copy_from_slice(&own);
        for (word, ns) in words[MOST..].iter_mut().zip(own) {
            *word = if ns == 0 { 0 } else { !ns };
        }
        words
    }

    /// What the greatest of all ranks' words say.
    pub fn of_words(greatest: &[u64]) -> Self {
        let mut times = Self::default();
        times.slowest.copy_from_slice(&greatest[..MOST]);
        for (ns, word) in times.fastest.iter_mut().zip(&greatest[MOST..Self::WORDS]) {
            *ns = if *word == 0 { 0 } else { !word };
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_fastest_of_those_that_measured_count() {
        let own = |first, second| [first, second, 0, 0, 0, 0, 0, 0];
        let ranks = [own(7, 0), own(3, 0), own(9, 4)].map(Times::words);
        let greatest: [u64; Times::WORDS] =
            std::array::from_fn(|place| ranks.iter().map(|words| words[place]).max().unwrap());
        let times = Times::of_words(&greatest);
        assert_eq!((times.slowest, times.fastest), (own(9, 4), own(3, 4)));
    }
}
