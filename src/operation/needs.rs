//! What has to hold for an algorithm to be used: data, checked before the first message.

use super::Prelude;

/// A condition on the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankNeed {
    /// Any number.
    Any,
    /// A power of two.
    PowerOfTwo,
    /// An even number (one rank alone is fine: it has nobody to talk to).
    Even,
    /// Exactly so many.
    Exactly(usize),
}

/// The needs of an algorithm. Whether it keeps rank order stands in its row (`ordered`).
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// On the number of ranks.
    pub ranks: RankNeed,
    /// Memory that all ranks share: one node, or the inside of one, and a transport that has it.
    pub shared_memory: bool,
    /// The lengths of other ranks' blocks, which these messages bring before every call.
    pub lengths: Option<&'static Prelude>,
}

impl Needs {
    /// Nothing at all.
    pub const NOTHING: Self = Self { ranks: RankNeed::Any, shared_memory: false, lengths: None };
    /// Memory that all ranks share.
    pub const SHARED_MEMORY: Self = Self { shared_memory: true, ..Self::NOTHING };
}

impl std::fmt::Display for Needs {
    /// In words, for people; `nothing` if there are none.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut words = Vec::new();
        match self.ranks {
            RankNeed::Any => {}
            RankNeed::PowerOfTwo => words.push("a power-of-two number of ranks".to_owned()),
            RankNeed::Even => words.push("an even number of ranks".to_owned()),
            RankNeed::Exactly(ranks) => words.push(format!("exactly {ranks} ranks")),
        }
        if self.shared_memory {
            words.push("memory that all ranks share (COLLIE_TRANSPORT=shared)".to_owned());
        }
        if self.lengths.is_some() {
            words.push("the lengths of other ranks' blocks, which are exchanged first".to_owned());
        }
        f.write_str(&if words.is_empty() { "nothing".to_owned() } else { words.join(", ") })
    }
}
