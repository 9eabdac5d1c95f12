//! Regions and sites of the program in the report.

use super::merged::Merged;
use super::named::{FURTHER_SITES, RegionPart, SitePart};
use super::spread::Spread;
use super::units::seconds;
use serde::{Deserialize, Serialize};

/// A region that the program has named, over all ranks. Regions within it are in its times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RegionRow {
    /// The program's name for it.
    pub name: String,
    /// Number of ranks that came to its end.
    pub ranks: u32,
    /// How often, all ranks.
    pub entries_all_ranks: u64,
    /// Time of a rank from begin to end, over ranks.
    pub total_seconds: Spread,
    /// Collective calls in it, all ranks.
    pub calls_all_ranks: u64,
    /// Time in collectives in it, mean over its ranks.
    pub collective_seconds: f64,
    /// Time in point-to-point calls in it, mean over its ranks; 0 where they were not counted.
    pub message_seconds: f64,
}

/// Where the program calls a collective, over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SiteRow {
    /// MPI's name of the function.
    pub function: String,
    /// Function of the program, file and line, as far as its symbols and line numbers show them; absent where they do
    /// not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The program or library.
    pub module: String,
    /// Address in it of the call's return, as its file has it.
    pub address: u64,
    /// Number of ranks that made such calls.
    pub ranks: u32,
    /// Calls of all ranks.
    pub calls_all_ranks: u64,
    /// Signature bytes of all calls of all ranks.
    pub bytes: u64,
    /// Time of a rank in these calls, over ranks.
    pub total_seconds: Spread,
    /// Longest call of any rank.
    pub max_seconds: f64,
}

impl SiteRow {
    /// What people know it by.
    pub fn title(&self) -> String {
        let file = self.module.rsplit('/').next().unwrap_or(&self.module);
        self.place.clone().unwrap_or_else(|| format!("{file}+{:#x}", self.address))
    }
}

fn spread(part: ((u64, u32), (u64, u32)), total_ns: u128, ranks: u32) -> Spread {
    let (least, most) = part;
    Spread::of_sum(least, most, total_ns, ranks)
}

impl Merged {
    /// Most time first.
    pub(super) fn regions(&mut self) -> Vec<RegionRow> {
        let row = |part: RegionPart| {
            let ranks = f64::from(part.ranks.max(1));
            RegionRow {
                name: part.name,
                ranks: part.ranks,
                entries_all_ranks: part.entries,
                total_seconds: spread((part.least, part.most), part.total_ns, part.ranks),
                calls_all_ranks: part.calls,
                collective_seconds: seconds(part.collective_ns as f64) / ranks,
                message_seconds: seconds(part.message_ns as f64) / ranks,
            }
        };
        let mut rows: Vec<RegionRow> = std::mem::take(&mut self.regions).into_iter().map(row).collect();
        rows.sort_by(|left, right| {
            let longest_first = right.total_seconds.mean.total_cmp(&left.total_seconds.mean);
            longest_first.then_with(|| left.name.cmp(&right.name))
        });
        rows
    }

    /// Most time first.
    pub(super) fn sites(&mut self) -> Vec<SiteRow> {
        let mut parts = std::mem::take(&mut self.sites);
        parts.sort_by(|left, right| right.total_ns.cmp(&left.total_ns).then_with(|| left.key().cmp(&right.key())));
        let row = |part: SitePart| SiteRow {
            function: part.function.name().to_owned(),
            place: (part.module.is_empty() && part.address == FURTHER_SITES).then(|| "(further places)".to_owned()),
            module: part.module,
            address: part.address,
            ranks: part.ranks,
            calls_all_ranks: part.calls,
            bytes: part.bytes,
            total_seconds: spread((part.least, part.most), part.total_ns, part.ranks),
            max_seconds: seconds(part.max_ns as f64),
        };
        parts.into_iter().map(row).collect()
    }
}
