//! How much a merged record may hold, however many ranks there are.

use serde::{Deserialize, Serialize};

/// Most entries of each kind. With those of a report and 65,536 ranks, what is merged takes 857 MiB at worst: 11 of
/// ranks, 633 of rows that each have calls of every duration, 108 of traffic and time line, 105 of comparisons, late
/// ranks and members. With a hundred different rows it is at most 193 MiB (`the_memory_of_rank_0_is_as_said`). While a
/// child's share is merged, its bytes and what they say are held besides, each no more than that.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Rows: those with most time stay.
    pub rows: usize,
    /// Calls of the time line: of each rank the first, the slowest and the last stay, as many of each.
    pub events: usize,
    /// Pairs of sender and receiver in each of the kinds of traffic: those with most bytes stay.
    pub traffic: usize,
    /// Late ranks over all communicators: those that the others waited for longest stay.
    pub late: usize,
    /// Comparisons: those of most calls stay.
    pub comparisons: usize,
    /// Differences: the first stay.
    pub differences: usize,
    /// Members over all communicators: those of the smallest communicators stay.
    pub members: usize,
    /// Regions of the program: those with most time stay.
    pub regions: usize,
    /// Where the program calls collectives: those with most time stay.
    pub sites: usize,
}

impl Bounds {
    /// Those of a report. A page of so many calls is at the end of what a browser shows.
    pub const REPORT: Self = Self {
        rows: 1 << 16,
        events: 1 << 18,
        traffic: 1 << 20,
        late: 1 << 18,
        comparisons: 1 << 12,
        differences: 1 << 12,
        members: 1 << 24,
        regions: 1 << 12,
        sites: 1 << 12,
    };
}

/// Entries that are not in the report, because so many at once would not fit into the memory of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Rows, those with least time. The ranks' totals hold their calls. A row may count once for each group of ranks.
    pub rows: u64,
    /// Calls of these rows, all ranks.
    pub calls: u64,
    /// Calls of the time line, those that are farthest from the first, the last and the slowest of their ranks.
    pub events: u64,
    /// Pairs of ranks in all kinds of traffic, those with fewest bytes.
    pub traffic: u64,
    /// Ranks that others waited for, those that they waited for least.
    pub late: u64,
    /// Comparisons, those of fewest calls.
    pub comparisons: u64,
    /// Results that differed from the native ones, those of the highest ranks.
    pub differences: u64,
    /// Communicators whose ranks are not listed, the largest ones.
    pub members: u64,
    /// Regions of the program, those with least time.
    #[serde(default)]
    pub regions: u64,
    /// Sites of the program, those with least time.
    #[serde(default)]
    pub sites: u64,
}

impl LeftOut {
    /// Whether everything is there.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.calls += other.calls;
        self.events += other.events;
        self.traffic += other.traffic;
        self.late += other.late;
        self.comparisons += other.comparisons;
        self.differences += other.differences;
        self.members += other.members;
        self.regions += other.regions;
        self.sites += other.sites;
    }
}
