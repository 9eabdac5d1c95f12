//! A network in numbers.

use crate::operation::{Call, Choice, Cost, Operation, SharedMemory};
use crate::reading;
use crate::schedule::fragments::Fragments;
use crate::schedule::limits::{Limit, ProtocolLimits, Way};
use crate::schedule::lower::Form;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// What a message costs on one kind of link. Alone on it, m bytes take `2·overhead + latency + gap + m·per_byte`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Seconds from the first byte's departure to its arrival.
    pub latency: f64,
    /// Seconds of a rank's own time for each message, once at each end.
    pub overhead: f64,
    /// Seconds that a message keeps a port busy, whatever its length: the reciprocal of the message rate.
    pub gap: f64,
    /// Seconds per byte that a message keeps a port busy: the reciprocal of the bandwidth.
    pub per_byte: f64,
    /// Messages of fewer bytes leave at once and are buffered; the others wait for their receive.
    pub eager_limit: u64,
    /// Seconds that the sender's question and the receiver's answer take before a message that waits departs.
    pub handshake: f64,
    /// Whether messages that wait for their receive take turns with those of the opposite direction between the same
    /// two ranks. So it is with MPI libraries over TCP, where the answer to one queues behind the bytes of the other.
    #[serde(default)]
    pub half_duplex: bool,
    /// Whether messages of different pairs of ranks that want a port at once share it evenly, as connections of TCP
    /// do; otherwise it serves one after the other.
    #[serde(default)]
    pub shares: bool,
    /// Where ports are shared: bytes that a port lets through at once after it has had nothing to do for as long as
    /// they take, as where a bucket of tokens limits the rate.
    #[serde(default)]
    pub burst: u64,
    /// Where ports are shared: bytes that a connection hands to its sender's port at once, and more as these arrive.
    /// They leave in the order in which they came, whoever sent them, and the question or answer of another message
    /// waits behind them. A longer message shares its ports from its first byte to its last.
    #[serde(default)]
    pub queue: u64,
}

impl Link {
    /// α: seconds of a message of no bytes.
    pub fn start_up(&self) -> f64 {
        2.0 * self.overhead + self.latency + self.gap
    }
}

/// What memory costs that the ranks of a node share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// t: seconds per byte copied to it or from it.
    pub per_byte: f64,
    /// t_W: seconds until a rank that waits for a flag sees that it is raised.
    pub notification: f64,
    /// t_A: seconds of an arrival at a counter, one rank after another.
    pub arrival: f64,
    /// Bytes of a bank of each rank's window.
    pub window: usize,
    /// Ranks on each NUMA node, consecutive ones; absent where a node has one NUMA node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks_per_numa_node: Option<usize>,
}

impl Memory {
    /// Of a machine that nobody has measured: caches of one socket.
    pub const PLAIN: Self = Self {
        per_byte: 1e-10,
        notification: 1e-7,
        arrival: 5e-8,
        window: SharedMemory::PLAIN.window,
        ranks_per_numa_node: None,
    };
    /// Nothing costs time.
    pub const FREE: Self = Self { per_byte: 0.0, notification: 0.0, arrival: 0.0, ..Self::PLAIN };

    /// What calls rest on.
    pub fn in_calls(&self) -> SharedMemory {
        let notification = (self.notification / self.per_byte).min(1e15).round() as usize;
        SharedMemory { window: self.window, notification, ..SharedMemory::PLAIN }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// A machine, as far as collectives feel it: LogGP with nodes and ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// What users write.
    pub name: String,
    /// What it stands for and where the numbers are from.
    pub description: String,
    /// Between ranks of one node. Every rank has one port of this kind in either direction.
    pub on_node: Link,
    /// Between nodes.
    pub off_node: Link,
    /// Seconds per byte of a fold's result.
    pub per_folded_byte: f64,
    /// Seconds per byte copied inside a rank.
    pub per_copied_byte: f64,
    /// Ranks on each node, consecutive ones, where [`nodes`](Self::nodes) lays them out; a call says itself where its
    /// ranks are.
    pub ranks_per_node: usize,
    /// Ports of a node to the others, in either direction, shared by its ranks.
    pub ports_per_node: usize,
    /// Bytes of the longest message between nodes that travels whole, as `COLLIE_PIECE` says; 0 where all do, absent
    /// where nobody found out, which is the same for predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<usize>,
    /// Bytes beyond which a message within a node travels in pieces, as `COLLIE_LIMITS` says: numbers, or such as
    /// `"4040:exchange"` for exchanges only; absent where nobody found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Vec<Limit>>,
    /// Memory that ranks of a node share; what nobody knows better where the file says nothing of it.
    #[serde(default)]
    pub memory: Memory,
}

/// What is wrong with a written network.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum NetworkError {
    #[error("'{name}' is neither a preset ({accepted}) nor a readable file: {error}")]
    File { name: String, accepted: String, error: std::io::Error },
    #[error(
        "'{name}' is what COLLIE_NETWORK says for a run that measures in MPI_Init; accepted here: {accepted}, or a file that \
         collie fit wrote"
    )]
    Measure { name: String, accepted: String },
    #[error("network '{name}': {error}; accepted: a file that collie fit wrote")]
    Form { name: String, error: serde_json::Error },
    #[error("network '{name}': {what}")]
    Value { name: String, what: String },
}

/// Ports of a node, each of which takes its place in memory.
const MOST_PORTS: usize = 1024;

/// Seconds that nothing in a network takes: times beyond them are mistakes, and sums of them no numbers.
const LONGEST: f64 = 1e6;

const PRESETS: [&str; 3] = [
    include_str!("../networks/shared_memory.json"),
    include_str!("../networks/ethernet.json"),
    include_str!("../networks/infiniband.json"),
];

impl Network {
    /// What stands in place of a network's name where a run is to measure in `MPI_Init`.
    pub const MEASURE: &str = "measure";

    /// The networks that come with Collie.
    ///
    /// # Panics
    /// Never: a test reads all of them.
    pub fn presets() -> impl Iterator<Item = Self> {
        PRESETS.into_iter().map(|text| serde_json::from_str(text).expect("a preset that the tests have read"))
    }

    /// The preset of that name, or else the file.
    ///
    /// # Errors
    /// Neither one nor the other, or a file that is no network.
    pub fn find(name: &str) -> Result<Self, NetworkError> {
        if let Some(preset) = Self::preset(name) {
            return Ok(preset);
        }
        if name == Self::MEASURE {
            return Err(NetworkError::Measure { name: name.to_owned(), accepted: Self::names() });
        }
        let text = reading::text(Path::new(name)).map_err(|error| NetworkError::File {
            name: name.to_owned(),
            accepted: Self::names(),
            error,
        })?;
        Self::parse(name, &text)
    }

    /// What a call of a choice is lowered for on this network.
    pub fn form(&self, choice: &Choice, call: &Call) -> Form {
        let between_nodes = self.fragment.filter(|bytes| *bytes > 0);
        let within_node = self.protocol_limits().unwrap_or(ProtocolLimits::NONE).for_way(Way::of(choice, call.nodes));
        Form { fragments: Fragments { between_nodes, within_node }, ..Form::PLAIN }
    }

    /// Which messages within a node travel in pieces; `None` where nobody found out.
    pub fn protocol_limits(&self) -> Option<ProtocolLimits> {
        ProtocolLimits::of(self.limits.as_ref()?.iter().copied())
    }

    /// Node of each of `size` ranks, as in [`Call`].
    pub fn nodes(&self, size: usize) -> Vec<u32> {
        if size <= self.ranks_per_node {
            return Vec::new();
        }
        blocks(size, self.ranks_per_node)
    }

    /// NUMA node of each of `size` ranks of a node, as in [`Call`].
    pub fn numa_nodes(&self, size: usize) -> Vec<u32> {
        self.memory.ranks_per_numa_node.filter(|each| *each < size).map_or_else(Vec::new, |each| blocks(size, each))
    }

    /// α/β in bytes: within a node, or between nodes.
    pub fn half_bandwidth(&self, one_node: bool) -> usize {
        let link = if one_node { &self.on_node } else { &self.off_node };
        // Where bytes are free, no segment is too long; where messages are, those of a few bytes would still be many.
        ((link.start_up() / link.per_byte).min(1e15).round() as usize).max(64)
    }

    /// Seconds of a cost on one node, or between nodes. Where ranks share memory (`shares`), messages go through it as
    /// well: they are seen when a flag is, and copied in and out.
    pub fn seconds(&self, cost: Cost, one_node: bool, shares: bool) -> f64 {
        let Memory { per_byte, notification, arrival, .. } = self.memory;
        let link = if one_node { &self.on_node } else { &self.off_node };
        let [start_up, per_byte_sent] = match shares {
            true => [notification, 2.0 * per_byte],
            false => [link.start_up(), link.per_byte],
        };
        cost.seconds(start_up, per_byte_sent, self.per_folded_byte, self.per_copied_byte)
            + cost.seconds_in_memory(notification, per_byte, arrival)
    }

    /// The network as the messages of a call find it: those within a node go through the memory that the ranks of a
    /// node share, if they do, as [`seconds`](Self::seconds) has it.
    pub fn of_transport(&self, call: &Call) -> Cow<'_, Self> {
        if call.shared.is_none() {
            return Cow::Borrowed(self);
        }
        let Memory { per_byte, notification, .. } = self.memory;
        let on_node = Link {
            latency: 0.0,
            overhead: 0.0,
            gap: notification,
            per_byte: 2.0 * per_byte,
            handshake: 0.0,
            half_duplex: false,
            shares: false,
            burst: 0,
            queue: 0,
            ..self.on_node
        };
        // What the MPI library's protocol is limited to is no matter of theirs.
        Cow::Owned(Self { on_node, limits: None, ..self.clone() })
    }

    /// A call of about `bytes` bytes: in reductions of doubles that commute.
    pub fn call<'a>(&self, operation: Operation, root: usize, bytes: usize, nodes: &'a [u32]) -> Call<'a> {
        let unit = if operation.reduces() { 8 } else { 1 };
        let count = if operation.has_data() { bytes.div_ceil(unit) } else { 0 };
        let half_bandwidth = self.half_bandwidth(nodes.is_empty());
        Call { root, nodes, half_bandwidth, ..Call::plain(operation, count, unit) }
    }

    /// The same where `choice` lives in memory that the ranks of a node share, which is there whatever carries messages.
    pub fn in_memory_of<'a>(&self, choice: &Choice, call: Call<'a>, numa: &'a [u32]) -> Call<'a> {
        if choice.shares_memory() { self.with_shared_memory(&call, numa) } else { call }
    }

    /// The same where the ranks of each node share memory; `numa` is the NUMA node of each rank of one node, as in
    /// [`Call`].
    pub fn with_shared_memory<'a>(&self, call: &Call<'a>, numa: &'a [u32]) -> Call<'a> {
        let numa = if call.nodes.is_empty() { numa } else { &[] };
        Call { shared: Some(self.memory.in_calls()), numa, ..*call }
    }

    /// All that are seconds, with their names in the file.
    fn times(&self) -> Vec<(String, f64)> {
        let of_link = |(name, link): (&str, &Link)| {
            let Link { latency, overhead, gap, per_byte, handshake, .. } = *link;
            let times = [latency, overhead, gap, per_byte, handshake];
            let fields = ["latency", "overhead", "gap", "per_byte", "handshake"].map(|field| format!("{name}.{field}"));
            fields.into_iter().zip(times).collect::<Vec<_>>()
        };
        let Memory { per_byte, notification, arrival, .. } = self.memory;
        let others = [
            ("per_folded_byte", self.per_folded_byte),
            ("per_copied_byte", self.per_copied_byte),
            ("memory.per_byte", per_byte),
            ("memory.notification", notification),
            ("memory.arrival", arrival),
        ];
        let links = [("on_node", &self.on_node), ("off_node", &self.off_node)].into_iter().flat_map(of_link);
        links.chain(others.map(|(name, time)| (name.to_owned(), time))).collect()
    }

    /// The names of the presets, with commas between.
    pub fn names() -> String {
        Self::presets().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
    }

    /// The preset of that name.
    pub fn preset(name: &str) -> Option<Self> {
        Self::presets().find(|preset| preset.name == name)
    }

    /// Reads the text of the file `name`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, NetworkError> {
        let network: Self = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|error| NetworkError::Form { name: name.to_owned(), error })?;
        let refuse = |what: &str| Err(NetworkError::Value { name: name.to_owned(), what: what.to_owned() });
        if network.ranks_per_node == 0 {
            return refuse("ranks_per_node has to be at least 1");
        }
        if network.memory.window < SharedMemory::LINE {
            let least = SharedMemory::LINE;
            return refuse(&format!(
                "memory.window is {}, and has to be at least {least} bytes",
                network.memory.window
            ));
        }
        if network.memory.ranks_per_numa_node == Some(0) {
            return refuse("ranks_per_numa_node has to be at least 1");
        }
        if !(1..=MOST_PORTS).contains(&network.ports_per_node) {
            return refuse("ports_per_node has to be from 1 to 1024");
        }
        if let Some((field, time)) = network.times().into_iter().find(|(_, time)| !(0.0..=LONGEST).contains(time)) {
            return refuse(&format!("{field} is {time:e}, and every time has to be from 0 to {LONGEST} seconds"));
        }
        if network.limits.is_some() && network.protocol_limits().is_none() {
            return refuse(
                "limits have to be at most two numbers of bytes from 1 to 134217727, ascending, such as 4040 (\"4040:exchange\": of messages that are exchanged only; \"4040x32\": cut into up to so many fragments, a power of two)",
            );
        }
        Ok(network)
    }
}

/// Blocks of `each` consecutive ranks.
fn blocks(size: usize, each: usize) -> Vec<u32> {
    (0..size).map(|rank| (rank / each) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_network() {
        for text in PRESETS {
            Network::parse("preset", text).unwrap();
        }
    }

    #[test]
    fn the_example_of_the_documentation_is_a_network_and_says_what_may_be_absent() {
        let page = include_str!("../../../docs/simulation.md");
        let (_, example) = page.split_once("```json\n").unwrap();
        let (example, after) = example.split_once("```").unwrap();
        let parse = |value: &serde_json::Value| Network::parse("example", &value.to_string());
        let whole: serde_json::Value = serde_json::from_str(example).unwrap();
        let network = parse(&whole).unwrap();
        assert!(network.protocol_limits().is_some() && network.memory.ranks_per_numa_node.is_some());
        let may_be_absent = after.split_once("May be absent: ").unwrap().1.split_once('.').unwrap().0;
        let may_be_absent: Vec<_> = may_be_absent.split('`').skip(1).step_by(2).collect();
        let paths = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        for folder in [None, Some("off_node"), Some("memory")] {
            for name in paths(folder.map_or(&whole, |folder| &whole[folder])) {
                let mut less = whole.clone();
                let from = match folder {
                    Some(folder) => less.get_mut(folder).unwrap(),
                    None => &mut less,
                };
                from.as_object_mut().unwrap().remove(&name);
                assert_eq!(parse(&less).is_ok(), may_be_absent.contains(&name.as_str()), "without {name}");
            }
        }
    }

    #[test]
    fn ranks_stand_on_numa_nodes_where_a_network_says_so() {
        let mut network = Network::preset("shared_memory").unwrap();
        assert!(network.numa_nodes(8).is_empty());
        network.memory.ranks_per_numa_node = Some(3);
        let read = Network::parse("mine", &serde_json::to_string(&network).unwrap()).unwrap();
        assert_eq!((read.numa_nodes(3), read.numa_nodes(7)), (vec![], vec![0, 0, 0, 1, 1, 1, 2]));
        network.memory.window = 0;
        let text = serde_json::to_string(&network).unwrap();
        assert!(Network::parse("mine", &text).unwrap_err().to_string().contains("memory.window is 0"));
        network.memory.window = SharedMemory::LINE;
        network.memory.ranks_per_numa_node = Some(0);
        let text = serde_json::to_string(&network).unwrap();
        assert!(Network::parse("mine", &text).unwrap_err().to_string().contains("ranks_per_numa_node"));
    }

    #[test]
    fn a_network_is_refused_with_what_is_wrong() {
        let error = Network::find("no such thing").unwrap_err().to_string();
        assert!(error.contains("shared_memory, ethernet, infiniband"), "{error}");
        let error = Network::find("measure").unwrap_err().to_string();
        assert!(error.contains("for a run that measures in MPI_Init; accepted here: shared_memory, "), "{error}");
        let error = Network::parse("mine", &PRESETS[0].replace("\"latency\"", "\"latenz\"")).unwrap_err().to_string();
        assert!(error.contains("unknown field `latenz`"), "{error}");
        let mut network = Network::presets().next().unwrap();
        network.ports_per_node = 0;
        let text = serde_json::to_string(&network).unwrap();
        assert!(Network::parse("mine", &text).unwrap_err().to_string().contains("ports_per_node"));
    }
}
