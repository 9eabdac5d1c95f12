//! What algorithms may say that live in memory which ranks share: steps on a board.
//!
//! Each node has a board, whose ranks are numbered in ascending order; where there is one node, these are the ranks of
//! the communicator. What runs on a board runs among all its ranks, and the boards of different nodes know nothing of
//! each other: their ranks may be in as many calls as they like.
//!
//! A step carries no data and gives none back. Data moves by [`Comm::copy`](super::Comm::copy) and
//! [`Comm::fold`](super::Comm::fold) to and from ranges of windows and lines
//! ([`Buffer::Shared`](super::Buffer::Shared)), which a rank writes only where they are its own. The verifier holds
//! algorithms to reading there what was written for them, and to overwriting nothing that somebody may still read, over
//! the calls before as well; `shared::board` says by what rules.

/// The memory that the ranks of a node share, in numbers that hold for each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// Bytes of a bank of each rank's window.
    pub window: usize,
    /// Bytes whose copying takes as long as a notification, t_W/t.
    pub notification: usize,
    /// The last step of a call that a flag can tell. What takes more steps is several calls.
    pub last_step: usize,
}

impl SharedMemory {
    /// Bytes that a line carries beside its flag.
    pub const LINE: usize = 48;
    /// Lines of each rank, which calls use in turns.
    pub const LINES: u32 = 8;
    /// Bytes of the shortest message that the receiver reads out of the sender's memory, where the system lets it.
    pub const LENT_FROM: usize = 16 << 10;
    /// Of a machine that nobody knows: 32 KiB, and notifications of 100 ns where a copy takes 0.1 ns a byte.
    pub const PLAIN: Self = Self { window: 32 << 10, notification: 1000, last_step: (1 << 20) - 1 };
}

/// A step on the board of a node; ranks go by their numbers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shared {
    /// Begins another call on the board, with the own flag at this step. All ranks do so equally often.
    Enter {
        /// The step.
        step: u32,
    },
    /// Raises the own flag.
    Signal {
        /// To this step.
        step: u32,
    },
    /// Waits until the flag of a rank has come to a step of this call.
    Await {
        /// The rank.
        rank: u32,
        /// The step.
        step: u32,
    },
    /// Waits until all ranks have begun a call, and so have left all before it.
    Begun {
        /// How many calls before this one; those before the first are over.
        before: u32,
    },
    /// Tells that the own line of this call is written.
    Post,
    /// Waits for the line of a rank.
    AwaitPost {
        /// The rank.
        rank: u32,
    },
    /// Rank 0 releases a rank.
    Release {
        /// The rank.
        rank: u32,
    },
    /// Waits to be released.
    AwaitRelease,
    /// Counts the rank as arrived; all ranks do so, once in a call.
    Arrive,
    /// Waits until all ranks have arrived.
    AwaitArrivals,
}

impl Shared {
    /// The same with other ranks in it. That rank 0 releases does not change.
    #[must_use]
    pub fn of_ranks(self, other: impl Fn(u32) -> u32) -> Self {
        match self {
            Self::Await { rank, step } => Self::Await { rank: other(rank), step },
            Self::AwaitPost { rank } => Self::AwaitPost { rank: other(rank) },
            Self::Release { rank } => Self::Release { rank: other(rank) },
            same => same,
        }
    }

    /// Whether it waits.
    pub const fn waits(&self) -> bool {
        matches!(
            self,
            Self::Await { .. } | Self::Begun { .. } | Self::AwaitPost { .. } | Self::AwaitRelease | Self::AwaitArrivals
        )
    }
}

impl std::fmt::Display for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Enter { step } => write!(f, "enter with flag at {step}"),
            Self::Signal { step } => write!(f, "raise flag to {step}"),
            Self::Await { rank, step } => write!(f, "wait for flag of rank {rank} at {step}"),
            Self::Begun { before: 0 } => f.write_str("wait until all ranks have begun this call"),
            Self::Begun { before } => write!(f, "wait until all ranks have begun the call {before} before"),
            Self::Post => f.write_str("post line"),
            Self::AwaitPost { rank } => write!(f, "wait for line of rank {rank}"),
            Self::Release { rank } => write!(f, "release rank {rank}"),
            Self::AwaitRelease => f.write_str("wait to be released"),
            Self::Arrive => f.write_str("arrive"),
            Self::AwaitArrivals => f.write_str("wait until all have arrived"),
        }
    }
}
