//! The stages of an algorithm: most have one, some learn lengths first.

use super::comm::Comm;
use super::{Call, Choice};

/// Which part of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All of it.
    Whole,
    /// What brings lengths; nothing where there is no prelude.
    Prelude,
    /// What rests on them.
    Body,
}

impl Choice {
    /// Says to `comm` what the rank does for `call` in a stage.
    pub fn run(&self, stage: Stage, comm: &mut dyn Comm, call: &Call) {
        if let Some(prelude) = self.algorithm.needs.lengths
            && stage != Stage::Body
        {
            (prelude.run)(comm, call.word(), self.parameters.count(prelude.parameter));
        }
        if stage != Stage::Prelude {
            (self.algorithm.run)(comm, call, &self.parameters);
        }
    }

    /// Whose block and for whom, of each length that `rank` of `size` learns first; none without a prelude.
    pub fn lengths(&self, rank: usize, size: usize) -> Vec<(usize, usize)> {
        let prelude = self.algorithm.needs.lengths;
        prelude.map_or_else(Vec::new, |prelude| (prelude.lengths)(rank, size, self.parameters.count(prelude.parameter)))
    }
}
