//! Parts of the program: regions that it names, and sites that it calls collectives from. What a rank records of them,
//! and ranks' records merged.

use super::Function;
use serde::{Deserialize, Serialize};

/// A region of the program as one rank saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionRecord {
    /// The program's name for it.
    pub name: String,
    /// How often it was ended, or its report came within.
    pub entries: u64,
    /// Time from each begin to its end, on all threads; regions within included.
    pub total_ns: u64,
    /// Collective calls in it.
    pub calls: u64,
    /// Time in them.
    pub collective_ns: u64,
    /// Time in point-to-point calls, where they are counted.
    pub message_ns: u64,
}

/// The address, in no file, of all sites of a rank that it has no room for.
pub const FURTHER_SITES: u64 = u64::MAX;

/// Where one of the program's files calls a collective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The program or library.
    pub module: String,
    /// Address in it of the call's return, as its file has it.
    pub address: u64,
    /// The MPI function.
    pub function: Function,
    /// Calls.
    pub calls: u64,
    /// Signature bytes of them.
    pub bytes: u64,
    /// Time of them.
    pub total_ns: u64,
    /// The longest one.
    pub max_ns: u64,
}

/// What ranks say of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RegionPart {
    pub name: String,
    pub ranks: u32,
    pub entries: u64,
    pub calls: u64,
    pub total_ns: u128,
    pub collective_ns: u128,
    pub message_ns: u128,
    /// A rank's total: the least and the most, each with the first rank that has it.
    pub least: (u64, u32),
    pub most: (u64, u32),
}

/// What ranks say of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SitePart {
    pub module: String,
    pub address: u64,
    pub function: Function,
    pub ranks: u32,
    pub calls: u64,
    pub bytes: u64,
    pub total_ns: u128,
    pub max_ns: u64,
    pub least: (u64, u32),
    pub most: (u64, u32),
}

fn less(own: (u64, u32), other: (u64, u32)) -> (u64, u32) {
    if other.0 < own.0 { other } else { own }
}

fn more(own: (u64, u32), other: (u64, u32)) -> (u64, u32) {
    if other.0 > own.0 { other } else { own }
}

impl RegionPart {
    pub fn of(rank: u32, record: RegionRecord) -> Self {
        let RegionRecord { name, entries, total_ns, calls, collective_ns, message_ns } = record;
        Self {
            name,
            ranks: 1,
            entries,
            calls,
            total_ns: total_ns.into(),
            collective_ns: collective_ns.into(),
            message_ns: message_ns.into(),
            least: (total_ns, rank),
            most: (total_ns, rank),
        }
    }

    pub fn add(&mut self, after: Self) {
        self.ranks += after.ranks;
        self.entries += after.entries;
        self.calls += after.calls;
        self.total_ns += after.total_ns;
        self.collective_ns += after.collective_ns;
        self.message_ns += after.message_ns;
        (self.least, self.most) = (less(self.least, after.least), more(self.most, after.most));
    }
}

impl SitePart {
    pub fn of(rank: u32, record: SiteRecord) -> Self {
        let SiteRecord { module, address, function, calls, bytes, total_ns, max_ns } = record;
        let (least, most) = ((total_ns, rank), (total_ns, rank));
        Self { module, address, function, ranks: 1, calls, bytes, total_ns: total_ns.into(), max_ns, least, most }
    }

    pub fn key(&self) -> (String, u64, Function) {
        (self.module.clone(), self.address, self.function)
    }

    pub fn add(&mut self, after: Self) {
        self.ranks += after.ranks;
        self.calls += after.calls;
        self.bytes = self.bytes.wrapping_add(after.bytes);
        self.total_ns += after.total_ns;
        self.max_ns = self.max_ns.max(after.max_ns);
        (self.least, self.most) = (less(self.least, after.least), more(self.most, after.most));
    }
}
