//! THE table of operations: one row each, from which names, buffers, argument checks, verification and bounds follow.
//!
//! # How to add an operation
//!
//! 1. Add its row below, and itself to the lists of the test there.
//! 2. Add its folder to `src/algorithm`, with a file for each algorithm and their rows in its `mod.rs`, and the folder to
//!    `mod.rs` there: its declaration and its line in `of`.
//! 3. In `mpi/collectives.rs`, add its calls to the table of those that are replaced, and empty the names of their blocking
//!    forms in the table of those that are only observed.
//! 4. Say in `selection/defaults/everywhere.rules` which algorithm a call gets. The last row needs nothing.
//! 5. For the tests under real MPI, add its calls to a program of `c_tests`, its name to `check.h` there, and the operation
//!    to those of the program in `tests/programs/algorithms.rs`.
//!
//! That is all there must be where the row says all that the operation is: nine files if it has one algorithm. The
//! compiler or a test names what of it is missing.
//!
//! Nothing asks for what can follow: rows of a place in `selection/defaults`, when the operation has been measured there or
//! the literature tells places apart (a test names rows of `everywhere.rules` that no call gets any more); rows in
//! `selection/native/*.rules`, when it is known what MPI libraries do; and what Open MPI's rules files call its algorithms,
//! in `selection/rules/open_mpi`, without which rules about it are left to Open MPI. `scripts/docs` writes
//! `docs/algorithms.md` and the README's table of variables anew. By hand are written the first paragraph of the README,
//! `docs/rules.md`, and the lists of what `scripts/defaults`, `scripts/learning` and `scripts/performance.py` measure.
//!
//! Of the blocking collectives of MPI that Collie leaves to the MPI library there is none like that. What a row cannot
//! say is new to all of Collie, and these take something else for granted:
//!
//! * `blocks.rs`, `call/own_arguments.rs` and `call/layout.rs`, that blocks whose lengths each rank passes stand on
//!   both sides (in `MPI_Gatherv`, `MPI_Scatterv` and `MPI_Allgatherv` they stand on one), which is asserted beside the
//!   rows, and that all of them are of one type (in `MPI_Alltoallw` each has its own).
//! * [`Operation::gives_one_result`], that a fold of one block into one is of all contributions (that of `MPI_Scan` and
//!   `MPI_Exscan` is not).
//! * `call/local_arguments.rs` and `call/layout.rs`, that folds take and give one block (`MPI_Reduce_scatter_block` and
//!   `MPI_Reduce_scatter` take several).
//! * `bench/bound.rs`, what operations of each shape have to send at least.
//!
//! An operation moves or folds `count` units of each rank, or of each pair of ranks. What it does follows from what its
//! two buffers are: where both hold a block per rank, block j of rank i becomes block i of rank j. Where each rank lays
//! out blocks of its own, how long they are and where stands in the call ([`Blocks`](super::Blocks)).

use super::{Buffer, Range};
use serde::{Deserialize, Serialize};

/// What one of the two buffers of a call is to an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRole {
    /// What it holds.
    pub holds: Holds,
    /// The ranks on which it is looked at.
    pub at: At,
}

/// What a buffer holds, where it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// There is no such buffer.
    Nothing,
    /// `count` units.
    Block,
    /// `count` units for each rank, in rank order.
    BlockPerRank,
    /// A block for each rank, of a length and in a place that the rank passes.
    OwnBlockPerRank,
}

/// On which ranks a buffer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// On all.
    Everyone,
    /// On the root only.
    Root,
}

/// What `MPI_IN_PLACE` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// It is not accepted.
    Never,
    /// As the send buffer: the receive buffer holds the contribution.
    All,
    /// As the send buffer: the own block of the receive buffer is the contribution.
    OwnOfReceive,
    /// As the receive buffer: the own block of the send buffer is the result.
    OwnOfSend,
}

/// One operation.
#[derive(Debug)]
pub struct Row {
    /// Which one.
    pub operation: Operation,
    /// Lower-case name, as in rules and on the command line.
    pub name: &'static str,
    /// The name of the blocking C function.
    pub mpi_name: &'static str,
    /// The environment variable that forces its algorithm.
    pub variable: &'static str,
    /// What that variable does.
    pub variable_help: &'static str,
    /// The contribution. If it holds nothing, the root's receive buffer is what everybody gets.
    pub send: BufferRole,
    /// The result.
    pub receive: BufferRole,
    /// What `MPI_IN_PLACE` means.
    pub in_place: InPlace,
    /// Whether contributions are combined by an `MPI_Op`.
    pub folds: bool,
    /// What the page of algorithms shows: one of each family, and among how many ranks.
    pub pictures: &'static [(&'static str, usize)],
}

const fn role(holds: Holds, at: At) -> BufferRole {
    BufferRole { holds, at }
}

const NOTHING: BufferRole = role(Holds::Nothing, At::Everyone);

macro_rules! operations {
    ($($operation:ident { names: $name:literal $mpi_name:literal $variable:literal, $($field:ident: $value:expr),* $(,)? })*) => {
        /// A collective operation that Collie replaces.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum Operation { $(#[serde(rename = $name)] $operation),* }

        impl Operation {
            /// All of them, in the order in which they are listed; `operation as usize` is the place in it.
            pub const ALL: [Self; [$(Self::$operation),*].len()] = [$(Self::$operation),*];
        }

        const ROWS: &[Row] = &[$(Row {
            operation: Operation::$operation,
            name: $name,
            mpi_name: $mpi_name,
            variable: $variable,
            variable_help: concat!("Algorithm of ", $mpi_name, ". `collie list ", $name, "` prints the names."),
            $($field: $value),*
        }),*];
    };
}

operations! {
    Bcast {
        names: "bcast" "MPI_Bcast" "COLLIE_BCAST",
        send: NOTHING,
        receive: role(Holds::Block, At::Everyone),
        in_place: InPlace::Never,
        folds: false,
        pictures: &[
            ("binomial", 8),
            ("bine", 8),
            ("pipeline:segment=16K", 7),
            ("double_tree:segment=16K", 7),
            ("circulant:blocks=4", 7),
            ("shared_queue", 4),
        ],
    }
    Reduce {
        names: "reduce" "MPI_Reduce" "COLLIE_REDUCE",
        send: role(Holds::Block, At::Everyone),
        receive: role(Holds::Block, At::Root),
        in_place: InPlace::All,
        folds: true,
        pictures: &[("fibonacci:segment=32K", 7), ("in_order_binary:segment=32K", 7)],
    }
    Allreduce {
        names: "allreduce" "MPI_Allreduce" "COLLIE_ALLREDUCE",
        send: role(Holds::Block, At::Everyone),
        receive: role(Holds::Block, At::Everyone),
        in_place: InPlace::All,
        folds: true,
        pictures: &[("recursive_doubling", 7), ("rabenseifner", 8), ("ring", 5), ("dual_root:segment=32K", 7), ("shared_slices", 4)],
    }
    Gather {
        names: "gather" "MPI_Gather" "COLLIE_GATHER",
        send: role(Holds::Block, At::Everyone),
        receive: role(Holds::BlockPerRank, At::Root),
        in_place: InPlace::OwnOfReceive,
        folds: false,
        pictures: &[("binomial", 7)],
    }
    Scatter {
        names: "scatter" "MPI_Scatter" "COLLIE_SCATTER",
        send: role(Holds::BlockPerRank, At::Root),
        receive: role(Holds::Block, At::Everyone),
        in_place: InPlace::OwnOfSend,
        folds: false,
        pictures: &[("linear", 7)],
    }
    Allgather {
        names: "allgather" "MPI_Allgather" "COLLIE_ALLGATHER",
        send: role(Holds::Block, At::Everyone),
        receive: role(Holds::BlockPerRank, At::Everyone),
        in_place: InPlace::OwnOfReceive,
        folds: false,
        pictures: &[("bruck", 7), ("shared_copy:read_from=none", 4)],
    }
    Alltoall {
        names: "alltoall" "MPI_Alltoall" "COLLIE_ALLTOALL",
        send: role(Holds::BlockPerRank, At::Everyone),
        receive: role(Holds::BlockPerRank, At::Everyone),
        in_place: InPlace::All,
        folds: false,
        pictures: &[("pairwise", 8), ("bruck", 7)],
    }
    Alltoallv {
        names: "alltoallv" "MPI_Alltoallv" "COLLIE_ALLTOALLV",
        send: role(Holds::OwnBlockPerRank, At::Everyone),
        receive: role(Holds::OwnBlockPerRank, At::Everyone),
        in_place: InPlace::All,
        folds: false,
        pictures: &[("two_phase_bruck", 7)],
    }
    Barrier {
        names: "barrier" "MPI_Barrier" "COLLIE_BARRIER",
        send: NOTHING,
        receive: NOTHING,
        in_place: InPlace::Never,
        folds: false,
        pictures: &[("dissemination", 7), ("mcs", 7), ("shared_dissemination", 7), ("numa_hierarchical", 8)],
    }
}

// Blocks of lengths of the ranks' own stand on both sides or on neither.
const _: () = {
    let mut place = 0;
    while place < ROWS.len() {
        let [send, receive] = ROWS[place].sides();
        assert!(
            matches!(send.holds, Holds::OwnBlockPerRank) == matches!(receive.holds, Holds::OwnBlockPerRank),
            "blocks that a rank passes lengths of on one side only: see the head of this file"
        );
        place += 1;
    }
};

impl BufferRole {
    /// Blocks that it holds on a rank that is the root or not, among `size` ranks; `None` where it does not exist.
    pub const fn blocks(&self, size: usize, is_root: bool) -> Option<usize> {
        match (self.holds, self.at) {
            (Holds::Nothing, _) => None,
            (_, At::Root) if !is_root => None,
            (Holds::Block, _) => Some(1),
            (Holds::BlockPerRank | Holds::OwnBlockPerRank, _) => Some(size),
        }
    }

    /// Whether it holds a block for each rank.
    pub const fn per_rank(&self) -> bool {
        matches!(self.holds, Holds::BlockPerRank | Holds::OwnBlockPerRank)
    }
}

impl Row {
    /// Both sides, the contribution first.
    pub const fn sides(&self) -> [BufferRole; 2] {
        [self.send, self.receive]
    }

    /// What a rank contributes, as a range of `count` units a block; `None` where it contributes nothing.
    pub fn contribution(&self, count: usize, size: usize, is_root: bool) -> Option<Range> {
        let units = |side: BufferRole| side.blocks(size, is_root).map(|blocks| blocks * count);
        match self.send.holds {
            Holds::Nothing => units(self.receive).filter(|_| is_root).map(|units| Range::receive(0, units)),
            _ => units(self.send).map(|units| Range::send(0, units)),
        }
    }

    /// Whose unit belongs at `unit` of the result of `rank`, and which one of that rank's contribution, with `count` units
    /// a block. Where contributions are folded it is that unit of everybody's.
    pub const fn origin(&self, unit: usize, count: usize, rank: usize, root: usize) -> (usize, usize) {
        let (of, within) = if self.receive.per_rank() { (unit / count, unit % count) } else { (root, unit) };
        (of, within + if self.send.per_rank() { rank * count } else { 0 })
    }

    /// With `MPI_IN_PLACE`: the buffer that is part of another, that one, and its first unit there.
    pub const fn shared(&self, count: usize, rank: usize) -> Option<(Buffer, Buffer, usize)> {
        match self.in_place {
            InPlace::Never => None,
            InPlace::All => Some((Buffer::Send, Buffer::Receive, 0)),
            InPlace::OwnOfReceive => Some((Buffer::Send, Buffer::Receive, rank * count)),
            InPlace::OwnOfSend => Some((Buffer::Receive, Buffer::Send, rank * count)),
        }
    }
}

impl Operation {
    /// Its row.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Lower-case name, as in rules and on the command line.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The operation of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// The names of those that are as wanted, in words: `a, b or c` where `word` is "or".
    ///
    /// # Panics
    /// If there is none.
    pub fn names(word: &str, wanted: fn(Self) -> bool) -> String {
        let names: Vec<_> = Self::ALL.into_iter().filter(|one| wanted(*one)).map(Self::name).collect();
        match names.split_last().expect("there is one") {
            (last, []) => (*last).to_owned(),
            (last, names) => format!("{} {word} {last}", names.join(", ")),
        }
    }

    /// All names, as help says what is accepted.
    pub fn accepted() -> String {
        Self::names("or", |_| true)
    }

    /// Whether contributions are combined by an `MPI_Op`.
    pub const fn reduces(self) -> bool {
        self.row().folds
    }

    /// Whether all ranks that get a result get one and the same, folded out of all contributions.
    pub const fn gives_one_result(self) -> bool {
        let Row { send, receive, folds, .. } = self.row();
        *folds && matches!(send.holds, Holds::Block) && matches!(receive.holds, Holds::Block)
    }

    /// Whether data are moved or combined at all.
    pub const fn has_data(self) -> bool {
        !matches!(self.row().receive.holds, Holds::Nothing)
    }

    /// Whether every rank has a block of its own, so that all ranks together hold p times what one contributes.
    pub const fn has_blocks(self) -> bool {
        self.row().send.per_rank() || self.row().receive.per_rank()
    }

    /// Whether algorithms are told of `MPI_IN_PLACE` ([`Call::in_place`]): where each block that arrives lies where
    /// another one leaves.
    ///
    /// [`Call::in_place`]: super::Call::in_place
    pub const fn tells_in_place(self) -> bool {
        self.row().send.per_rank() && self.row().receive.per_rank()
    }

    /// Whether each rank passes lengths and places of blocks of its own, so that no rank knows the size of the whole:
    /// what the ranks decide together must not rest on bytes.
    pub const fn has_own_counts(self) -> bool {
        let Row { send, receive, .. } = self.row();
        matches!(send.holds, Holds::OwnBlockPerRank) || matches!(receive.holds, Holds::OwnBlockPerRank)
    }

    /// Whether the call names a root.
    pub const fn rooted(self) -> bool {
        let Row { send, receive, .. } = self.row();
        let from_receive = matches!(send.holds, Holds::Nothing) && self.has_data();
        matches!(send.at, At::Root) || matches!(receive.at, At::Root) || from_receive
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_order_and_their_names_are_one() {
        for (place, row) in ROWS.iter().enumerate() {
            let name = row.name;
            assert_eq!(row.operation as usize, place);
            assert_eq!(row.mpi_name.strip_prefix("MPI_").unwrap().to_lowercase(), name);
            assert_eq!(row.variable.strip_prefix("COLLIE_").unwrap().to_lowercase(), name);
            assert_eq!(serde_json::to_string(&row.operation).unwrap(), format!("\"{name}\""));
            assert!(
                crate::algorithm::of(row.operation).iter().all(|algorithm| algorithm.operation == row.operation),
                "{name}"
            );
            for (choice, _) in row.pictures {
                crate::algorithm::parse_choice(row.operation, choice).unwrap();
            }
        }
    }

    #[test]
    fn what_follows_from_the_buffers() {
        use Operation::{Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Reduce, Scatter};
        let having = |holds: fn(Operation) -> bool| -> Vec<Operation> {
            Operation::ALL.into_iter().filter(|one| holds(*one)).collect()
        };
        assert_eq!(having(Operation::rooted), [Bcast, Reduce, Gather, Scatter]);
        assert_eq!(having(Operation::reduces), [Reduce, Allreduce]);
        assert_eq!(having(Operation::gives_one_result), [Reduce, Allreduce]);
        assert_eq!(having(Operation::has_blocks), [Gather, Scatter, Allgather, Alltoall, Alltoallv]);
        assert_eq!(having(|operation| !operation.has_data()), [Barrier]);
        assert_eq!(having(Operation::tells_in_place), [Alltoall, Alltoallv]);
        assert_eq!(having(Operation::has_own_counts), [Alltoallv]);
    }
}
