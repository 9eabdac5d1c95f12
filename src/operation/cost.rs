//! Cost formulas as code.

use super::{Call, SharedMemory};
use smallvec::SmallVec;

/// What a cost formula may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// p.
    pub ranks: usize,
    /// Signature bytes that one rank contributes (n for bcast and reductions, b for the others).
    pub bytes: usize,
    /// Bytes of one unit.
    pub unit: usize,
    /// Root rank.
    pub root: usize,
    /// Whether contributions may be folded in any order, as in [`Call`].
    pub commutative: bool,
    /// α/β, bytes.
    pub half_bandwidth: usize,
    /// Node of each rank, as in [`Call`].
    pub nodes: &'a [u32],
    /// Memory that the ranks of a node share, as in [`Call`].
    pub shared: Option<SharedMemory>,
    /// NUMA node of each rank, as in [`Call`].
    pub numa: &'a [u32],
    /// Messages that leave a node, or come to it, at once without being slower for it; the greatest number where formulas
    /// are to take each message to have its ports for itself.
    pub ports_per_node: usize,
}

impl<'a> Shape<'a> {
    /// The shape of a call among `ranks` ranks.
    pub const fn of(call: &Call<'a>, ranks: usize) -> Self {
        let Call { root, commutative, unit, nodes, half_bandwidth, shared, numa, .. } = *call;
        let (bytes, ports_per_node) = (call.bytes(), usize::MAX);
        Self { ranks, bytes, unit, root, commutative, half_bandwidth, nodes, shared, numa, ports_per_node }
    }

    /// Number of nodes, and ranks on the largest; one node where they are not known.
    pub fn nodes(&self) -> (usize, usize) {
        self.number_and_widest(self.nodes)
    }

    /// The same of NUMA nodes.
    pub fn numa_nodes(&self) -> (usize, usize) {
        self.number_and_widest(self.numa)
    }

    /// How many ranks each node has; nothing where they are not known.
    pub fn widths(&self) -> SmallVec<[usize; 32]> {
        widths(self.nodes)
    }

    fn number_and_widest(&self, nodes: &[u32]) -> (usize, usize) {
        let widths = widths(nodes);
        (widths.len().max(1), widths.into_iter().max().unwrap_or(self.ranks))
    }

    /// A call inside this one, among `ranks` ranks that know of no nodes, of `bytes` bytes from rank 0.
    pub const fn inner(&self, ranks: usize, bytes: usize) -> Self {
        Self { ranks, bytes, root: 0, nodes: &[], numa: &[], ..*self }
    }

    /// A call of `bytes` bytes among one rank of each node, which the root is for its own.
    pub fn among_leaders(&self, bytes: usize) -> Self {
        let (nodes, _) = self.nodes();
        let root = self.nodes.get(self.root).map_or(self.root, |node| *node as usize);
        Self { root, ..self.inner(nodes, bytes) }
    }

    /// A call of `bytes` bytes inside the largest node. Its root is the first rank, as on all nodes but that of the
    /// root; where that is the only one, it is the root itself.
    pub fn inside_node(&self, bytes: usize) -> Self {
        let (nodes, widest) = self.nodes();
        Self { root: if nodes == 1 { self.root } else { 0 }, ..self.inner(widest, bytes) }
    }
}

fn widths(nodes: &[u32]) -> SmallVec<[usize; 32]> {
    let mut widths = SmallVec::new();
    for node in nodes {
        let place = *node as usize;
        widths.resize(widths.len().max(place + 1), 0);
        widths[place] += 1;
    }
    widths
}

/// Time = `rounds`·α + `bytes`·β + `folded`·γ + `packed`·δ + `notified`·t_W + `copied`·t + `arrived`·t_A along the longest
/// chain of dependent steps, with one message out and one message in at a time per rank (sending and receiving at once is
/// free).
///
/// The printed formulas leave out δ. Of copies inside a rank, `packed` counts those that grow with what a rank passes on:
/// in calls that are not in place, not that of its own block to its place, and not the one move of blocks that lie around the end of a vector or are of
/// nodes whose ranks are no neighbours.
///
/// In shared memory raising a flag costs nothing, seeing that it is raised t_W, copying to or from it t per byte, and
/// arriving at a counter t_A, one rank after another.
///
/// A message departs when both its ends are started, and messages that wait for one port take it in the order in which
/// their rank started them. Messages that leave before they are waited for (below a link's eager limit) may take longer:
/// a sender that runs ahead brings a later message to a port before an earlier one of another, which then waits, as it
/// does in a real network.
///
/// `tests/costs` counts each of these by itself ([`crate::schedule::count`]) and holds the formulas to it, whatever the
/// root and whether order matters or not: never below (by one step at most where a message goes in several segments or
/// blocks), at most a quarter and two steps above. By default the formulas are exact at powers of two where each message
/// goes in one piece, unless they are printed as bounds ("at most"). All blocks, halves and segments but the last are
/// taken to be as long as the longest one: where p does not divide the length, some are a unit shorter or empty, and
/// bytes are exact to a unit for each block that a rank sends or receives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Message start-ups, each α.
    pub rounds: f64,
    /// Bytes sent, each β.
    pub bytes: f64,
    /// Bytes folded, each γ.
    pub folded: f64,
    /// Bytes that a rank copies from one place of its memory to another to pack, unpack or rotate blocks, each δ.
    pub packed: f64,
    /// Flags of other ranks seen, each t_W.
    pub notified: f64,
    /// Bytes copied to or from shared memory, each t.
    pub copied: f64,
    /// Arrivals at a counter, each t_A.
    pub arrived: f64,
}

impl Cost {
    /// Seconds under start-up `alpha` s, `beta` s per byte sent, `gamma` s per byte folded and `delta` s per byte packed,
    /// of what is no matter of shared memory.
    pub fn seconds(self, alpha: f64, beta: f64, gamma: f64, delta: f64) -> f64 {
        self.rounds * alpha + self.bytes * beta + self.folded * gamma + self.packed * delta
    }

    /// Seconds that shared memory adds: `t_w` s for seeing a flag, `t` s per byte copied, `t_a` s for an arrival.
    pub fn seconds_in_memory(self, t_w: f64, t: f64, t_a: f64) -> f64 {
        self.notified * t_w + self.copied * t + self.arrived * t_a
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            bytes: self.bytes + other.bytes,
            folded: self.folded + other.folded,
            packed: self.packed + other.packed,
            notified: self.notified + other.notified,
            copied: self.copied + other.copied,
            arrived: self.arrived + other.arrived,
        }
    }
}
