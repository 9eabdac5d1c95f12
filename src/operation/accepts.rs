//! Whether a call meets the needs of an algorithm.

use super::{Algorithm, Call, Choice, Kind, RankNeed, Shape, Value};

/// Why an algorithm cannot be used for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unmet {
    #[error("needs a power-of-two number of ranks, not {0}")]
    PowerOfTwo(usize),
    #[error("needs an even number of ranks, not {0}")]
    Even(usize),
    #[error("needs exactly {needed} ranks, not {found}")]
    Exactly { needed: usize, found: usize },
    #[error("does not keep rank order, which a non-commutative operation needs")]
    Order,
    #[error("needs memory that all ranks share, which there is on one node with COLLIE_TRANSPORT=shared")]
    NoSharedMemory,
    #[error("needs, inside nodes, memory that their ranks share, which there is with COLLIE_TRANSPORT=shared")]
    NoSharedMemoryInside,
    #[error("needs shared memory for {needed} bytes of each rank, not {found}")]
    Window { needed: usize, found: usize },
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
        if self.needs.shared_memory {
            let Some(shared) = call.shared_by_all() else { return Err(Unmet::NoSharedMemory) };
            // A unit of every rank fits.
            let needed = ranks * call.unit;
            if shared.window < needed {
                return Err(Unmet::Window { needed, found: shared.window });
            }
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
            match (parameter.kind, value) {
                (Kind::Inner(operation), Value::Inner(inner)) => inner.accepts(&Call { operation, ..*call }, ranks)?,
                (Kind::OnNode(operation), Value::Inner(inner)) => {
                    inner.accept_on_nodes(&Call { operation, ..*call }, ranks)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The same inside every node that has several ranks. Equal on all ranks, wherever they are.
    fn accept_on_nodes(&self, call: &Call, ranks: usize) -> Result<(), Unmet> {
        if call.nodes.is_empty() {
            return self.accepts(call, ranks);
        }
        let inner = Call { nodes: &[], numa: &[], ..*call };
        for width in Shape::of(call, ranks).widths().into_iter().filter(|width| *width > 1) {
            self.accepts(&inner, width).map_err(|unmet| match unmet {
                Unmet::NoSharedMemory => Unmet::NoSharedMemoryInside,
                unmet => unmet,
            })?;
        }
        Ok(())
    }

    /// Whether it, or an algorithm inside it, needs memory that ranks share.
    pub fn shares_memory(&self) -> bool {
        let inside = |(_, value): (_, &Value)| matches!(value, Value::Inner(inner) if inner.shares_memory());
        self.algorithm.needs.shared_memory || self.parameters.iter().any(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parse_choice;
    use crate::operation::{Operation, SharedMemory};

    #[test]
    fn what_runs_inside_nodes_needs_memory_that_is_shared_there() {
        let nodes = [0, 0, 1, 0];
        let call = Call { nodes: &nodes, shared: Some(SharedMemory::PLAIN), ..Call::plain(Operation::Bcast, 8, 1) };
        let accepts = |name: &str, call: &Call| parse_choice(Operation::Bcast, name).unwrap().accepts(call, 4);
        let inside = "hierarchical:node=shared_queue";
        assert_eq!(accepts(inside, &call), Ok(()));
        assert_eq!(accepts(inside, &Call { shared: None, ..call }), Err(Unmet::NoSharedMemoryInside));
        let small = Some(SharedMemory { window: 2, ..SharedMemory::PLAIN });
        assert_eq!(accepts(inside, &Call { shared: small, ..call }), Err(Unmet::Window { needed: 3, found: 2 }));
        // Leaders are on different nodes.
        for elsewhere in ["shared_queue", "hierarchical:leaders=shared_queue"] {
            assert_eq!(accepts(elsewhere, &call), Err(Unmet::NoSharedMemory));
        }
        // Where each is alone, there is no inside.
        assert_eq!(accepts(inside, &Call { nodes: &[0, 1, 2, 3], shared: None, ..call }), Ok(()));
        assert_eq!(accepts(inside, &Call { nodes: &[], ..call }), Ok(()));
    }
}
