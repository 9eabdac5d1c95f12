//! What single variables may be set to.

use crate::algorithm::parse_bytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Whether the collectives are replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Collie's algorithms run.
    #[default]
    Replace,
    /// Collie's run where measurements say that they are faster, the MPI library's everywhere else.
    Best,
    /// The MPI library's run, and are observed.
    Native,
    /// Both take turns, a few calls each, and are compared.
    Compare,
    /// The same with the MPI library's in place of Collie's too: whoever doubts a comparison sees how often it tells a
    /// difference where there is none. Not for users, who are not told of it.
    CompareSelf,
    /// The fastest of several is found while the program runs; until it is, and where it is not worth it, as `Best`.
    Learn,
    /// Both run on every call, and their results are compared; the program gets the native one.
    Verify,
}

impl Mode {
    /// Those for users, in the order in which they are told.
    pub const ALL: [Self; 6] = [Self::Replace, Self::Best, Self::Native, Self::Compare, Self::Learn, Self::Verify];

    /// What is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Best => "best",
            Self::Native => "native",
            Self::Compare => "compare",
            Self::CompareSelf => SELF_TEST,
            Self::Learn => "learn",
            Self::Verify => "verify",
        }
    }
}

/// What [`Mode::CompareSelf`] is written as.
pub const SELF_TEST: &str = "compare-self";

/// How waiting for late ranks is separated from the collective itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Sync {
    /// It is not.
    #[default]
    Off,
    /// By when each rank came to the call, on a clock that all of them share.
    Clock,
    /// By a barrier before the call.
    Barrier,
}

impl Sync {
    /// All of them; `sync as usize` is the place in it.
    pub const ALL: [Self; 3] = [Self::Off, Self::Clock, Self::Barrier];

    /// What users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Clock => "clock",
            Self::Barrier => "barrier",
        }
    }
}

/// What is done about memory of GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// Where some rank has a GPU, each call is asked about.
    #[default]
    Auto,
    /// Nothing: there is none in buffers.
    Host,
    /// Where some rank has a GPU, all calls are left to the MPI library.
    Native,
    /// Each call is asked about.
    Ask,
}

/// What is done on communicators with ranks of another `MPI_COMM_WORLD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spawned {
    /// Nothing: those ranks may be without Collie, and would not answer it.
    #[default]
    Native,
    /// What is done on any: every process has Collie.
    Replace,
}

/// How the ranks of a node exchange the messages of Collie's algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// By MPI's point-to-point messages.
    #[default]
    Messages,
    /// Through memory that they share, where it can be had.
    Shared,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Messages, Self::Shared];

    /// As users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Shared => "shared",
        }
    }

    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|transport| transport.name() == text);
        found.ok_or_else(|| format!("accepted: {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// How ranks that share memory are grouped by NUMA nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numa {
    /// By what they are bound to.
    #[default]
    Auto,
    /// Into so many groups of neighbours.
    Nodes(usize),
}

impl Numa {
    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = || format!("'{text}' is not accepted; accepted: auto, or a number of NUMA nodes, at least 1");
        match text {
            "auto" => Ok(Self::Auto),
            number => number.parse().ok().filter(|nodes| *nodes > 0).map(Self::Nodes).ok_or_else(refuse),
        }
    }

    /// The NUMA node of each of `ranks` ranks where that is stated; empty if they are on one.
    pub fn stated(self, ranks: usize) -> Option<Vec<u32>> {
        let Self::Nodes(nodes) = self else { return None };
        let nodes = nodes.min(ranks);
        if nodes < 2 {
            return Some(Vec::new());
        }
        Some((0..ranks).map(|rank| (rank * nodes / ranks) as u32).collect())
    }
}

/// How long messages between nodes may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Piece {
    /// As the network or the MPI library wants it.
    #[default]
    Auto,
    /// Of any length.
    Off,
    /// At most so many bytes.
    Bytes(usize),
}

/// Whose result the program gets in mode `verify`, and whose call counts as its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyResult {
    /// The MPI library's.
    #[default]
    Native,
    /// Collie's: for programs that meet a call that the MPI library gets wrong.
    Ours,
}

/// What happens when mode `verify` finds a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// It is told, and the program goes on.
    #[default]
    Report,
    /// It is told, and the job ends with exit code 65.
    Abort,
}

impl Piece {
    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = || format!("'{text}' is not accepted; accepted: auto, off, or bytes, at least 1, such as 16K");
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            bytes => parse_bytes(bytes).filter(|bytes| *bytes > 0).map(Self::Bytes).ok_or_else(refuse),
        }
    }

    /// In bytes; `None` for no limit. `auto`: what `auto` means.
    pub fn or(self, auto: Option<usize>) -> Option<usize> {
        match self {
            Self::Auto => auto,
            Self::Off => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }

    /// What `auto` means between nodes. `fast`: whether they have a network that moves long messages by itself.
    ///
    /// 16 KiB is below the rendezvous limits of Open MPI 4.1.4 and of MPICH 4.0.2 (UCX) over TCP. On an emulated
    /// cluster of 8 nodes with 200 Mbit/s each, pieces of 4 to 16 KiB bring the ring allreduce of 1 MiB to 1.00 to 1.01
    /// of the bound on both; of 32 KiB to 1.00 on Open MPI and 1.4 on MPICH; whole messages to 2.0 on both.
    pub fn between_nodes(fast: bool) -> Option<usize> {
        (!fast).then_some(16 << 10)
    }
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportTarget {
    /// Standard error of rank 0.
    Stderr,
    /// A file, written by rank 0.
    File {
        /// As the user wrote it, with placeholders.
        path: PathBuf,
        /// By the name's ending.
        format: ReportFormat,
    },
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportFormat {
    /// The summary for people.
    Text,
    /// The documented schema.
    Json,
    /// One row per cell.
    Csv,
    /// One page that needs nothing else.
    Html,
}

impl ReportFormat {
    /// The form that files with that ending have.
    pub fn from_ending(ending: &str) -> Option<Self> {
        match ending {
            "txt" => Some(Self::Text),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "html" => Some(Self::Html),
            _ => None,
        }
    }
}
