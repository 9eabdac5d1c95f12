//! What a collective call is to an algorithm.

use super::{Blocks, Operation, SharedMemory};

/// A collective call: the arguments that MPI makes equal on all ranks, and the blocks of a rank where they are its own.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The operation.
    pub operation: Operation,
    /// Root rank; 0 where the operation has none.
    pub root: usize,
    /// Units that one rank contributes: the whole message for bcast and the reductions, one block for gather, scatter,
    /// allgather and alltoall, and for alltoallv where all blocks are [`Blocks::Alike`]; 0 for barrier.
    pub count: usize,
    /// Where each rank has a block for each other one: how long they are and where.
    pub blocks: Blocks<'a>,
    /// Bytes of one unit in the type signature: the element in reductions, 1 elsewhere.
    pub unit: usize,
    /// Whether contributions may be folded in any order. True where nothing is folded.
    pub commutative: bool,
    /// Whether contributions are folded by `PMPI_Reduce_local`, as no kernel knows the operation or the type. Alike on all
    /// ranks.
    pub reduce_local: bool,
    /// Whether the two buffers are one on this rank, where [`Operation::tells_in_place`]; elsewhere an algorithm does
    /// not know it and has to be right in either case. What it sends and receives must not depend on it.
    pub in_place: bool,
    /// Node of each rank, numbered in the order of their first ranks; empty where it is not known or there is one node.
    pub nodes: &'a [u32],
    /// Bytes whose transfer takes as long as a message's start-up, α/β: a message of so many gets half the bandwidth.
    pub half_bandwidth: usize,
    /// The memory that the ranks of each node share, where there is one and the units lie in a row. All ranks have the
    /// same numbers.
    pub shared: Option<SharedMemory>,
    /// NUMA node of each rank where all share memory, numbered in the order of their first ranks; empty where it is not
    /// known or there is one NUMA node.
    pub numa: &'a [u32],
}

/// α/β of a machine that nobody knows: a start-up of about 1 µs at about 8 GB/s, between shared memory and today's
/// networks.
pub const HALF_BANDWIDTH: usize = 8192;

impl Call<'static> {
    /// A call with root 0 and an operation that commutes, on one node of a machine that nobody knows.
    pub const fn plain(operation: Operation, count: usize, unit: usize) -> Self {
        Self {
            operation,
            root: 0,
            count,
            blocks: Blocks::Alike,
            unit,
            commutative: true,
            reduce_local: false,
            in_place: false,
            nodes: &[],
            half_bandwidth: HALF_BANDWIDTH,
            shared: None,
            numa: &[],
        }
    }
}

impl Call<'_> {
    /// Signature bytes that one rank contributes: what every segment rests on.
    pub const fn bytes(&self) -> usize {
        self.count * self.unit
    }

    /// The memory that all ranks share: there is one on one node.
    pub fn shared_by_all(&self) -> Option<SharedMemory> {
        self.shared.filter(|_| self.nodes.is_empty())
    }

    /// The bytes that a choice may rest on: those that all ranks know.
    pub const fn known_bytes(&self) -> usize {
        if self.operation.has_own_counts() { 0 } else { self.bytes() }
    }

    /// Whole units in `bytes` bytes, at least one.
    pub const fn units_in(&self, bytes: usize) -> usize {
        let units = bytes / self.unit;
        if units == 0 { 1 } else { units }
    }
}
