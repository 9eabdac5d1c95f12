//! Decisions remembered per communicator, for calls that differ from earlier ones in what decides nothing.

use super::plan::Plan;
use crate::operation::Operation;

/// Decisions remembered per operation; a program's loop rarely mixes more sizes than this between two repeats.
const REMEMBERED: usize = 8;

/// All that a decision rests on, within one communicator and operation, and where its calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionKey {
    /// Units of the call.
    pub count: usize,
    /// Bytes of one unit.
    pub unit: usize,
    /// Whether order does not matter.
    pub commutative: bool,
    /// Whether a kernel folds elements without gaps, or there is nothing to fold.
    pub by_kernel: bool,
    /// Whether no kernel knows the operation or the type.
    pub reduce_local: bool,
    /// Bytes that such calls are counted with: no part of the decision, but it names the counter that they go to. Where
    /// each rank passes its own counts, the ranks' differ.
    pub counted: usize,
}

/// The decisions of late: for each operation some places, of which the key's hash gives one. They hold some kilobytes,
/// and many communicators live for a call or two: an operation has them from its first decision on.
#[derive(Debug, Default)]
pub struct Decisions([Option<Box<Places>>; Operation::ALL.len()]);

type Places = [Option<(DecisionKey, Plan)>; REMEMBERED];

impl Decisions {
    /// The decision remembered for a key.
    #[inline]
    pub fn recall(&self, operation: Operation, key: &DecisionKey) -> Option<&Plan> {
        match &self.0[operation as usize].as_ref()?[key.slot()] {
            Some((known, plan)) if known == key => Some(plan),
            _ => None,
        }
    }

    /// Remembers a decision.
    pub fn remember(&mut self, operation: Operation, key: DecisionKey, plan: Plan) {
        self.0[operation as usize].get_or_insert_default()[key.slot()] = Some((key, plan));
    }
}

impl DecisionKey {
    const fn slot(&self) -> usize {
        // Sizes in a program are mostly small or powers of two: mix high bits in.
        ((self.counted as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61) as usize
    }
}

const _: () = assert!(REMEMBERED == 8, "slot() gives three bits");
