//! What has to hold for an algorithm to be used: data, settled before the first message.

use super::{Algorithm, Call, Choice, Kind, Value};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// On the number of ranks.
    pub ranks: RankNeed,
    /// At least this many units per rank in the message.
    pub units_per_rank: usize,
    /// Ranks on more than one node, and some node with more than one.
    pub several_nodes: bool,
}

impl Needs {
    /// Nothing at all.
    pub const NOTHING: Self = Self { ranks: RankNeed::Any, units_per_rank: 0, several_nodes: false };
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
        match self.units_per_rank {
            0 => {}
            1 => words.push("a unit for each rank".to_owned()),
            units => words.push(format!("{units} units for each rank")),
        }
        if self.several_nodes {
            words.push("several nodes with several ranks on some".to_owned());
        }
        f.write_str(&if words.is_empty() { "nothing".to_owned() } else { words.join(", ") })
    }
}

/// Why an algorithm cannot be used for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Unmet {
    #[error("needs a power-of-two number of ranks, not {0}")]
    PowerOfTwo(usize),
    #[error("needs an even number of ranks, not {0}")]
    Even(usize),
    #[error("needs exactly {needed} ranks, not {found}")]
    Exactly { needed: usize, found: usize },
    #[error("needs at least {needed} units, not {found}")]
    Units { needed: usize, found: usize },
    #[error("does not keep rank order, which a non-commutative operation needs")]
    Order,
    #[error("needs several nodes with several ranks on some")]
    Nodes,
}

impl Algorithm {
    /// Whether `call` among `ranks` ranks meets this algorithm's needs.
    ///
    /// # Errors
    /// The first need that is not met.
    pub fn accepts(&self, call: &Call, ranks: usize) -> Result<(), Unmet> {
        match self.needs.ranks {
            RankNeed::PowerOfTwo if !ranks.is_power_of_two() => return Err(Unmet::PowerOfTwo(ranks)),
            RankNeed::Even if ranks > 1 && !ranks.is_multiple_of(2) => return Err(Unmet::Even(ranks)),
            RankNeed::Exactly(needed) if ranks != needed => return Err(Unmet::Exactly { needed, found: ranks }),
            _ => {}
        }
        let needed = self.needs.units_per_rank * ranks;
        if call.count < needed {
            return Err(Unmet::Units { needed, found: call.count });
        }
        if self.needs.several_nodes && call.nodes.is_empty() {
            return Err(Unmet::Nodes);
        }
        if !call.commutative && !self.ordered {
            return Err(Unmet::Order);
        }
        Ok(())
    }
}

impl Choice {
    /// Whether `call` among `ranks` ranks meets the needs of the algorithm and of the algorithms inside it.
    ///
    /// # Errors
    /// The first need that is not met.
    pub fn accepts(&self, call: &Call, ranks: usize) -> Result<(), Unmet> {
        self.algorithm.accepts(call, ranks)?;
        for (parameter, (_, value)) in self.algorithm.parameters.iter().zip(self.parameters.iter()) {
            if let (Kind::Inner(operation), Value::Inner(inner)) = (parameter.kind, value) {
                inner.accepts(&Call { operation, ..*call }, ranks)?;
            }
        }
        Ok(())
    }
}
