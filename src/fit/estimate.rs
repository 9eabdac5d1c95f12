//! From measured times to a network: robust lines through medians, so that a few disturbed samples change nothing.

#![forbid(unsafe_code)]

use crate::bench::memory::Times;
use crate::schedule::limits::ProtocolLimits;
use crate::schedule::simulate::{Link, Network};
use crate::selection::Piece;

/// Messages of up to so many bytes count as empty: their bytes take no time worth mentioning on any network.
pub const EMPTY: u64 = 64;
/// Messages from here on show what their bytes cost.
const LONG: u64 = 8192;
/// A limit that no message reaches: everything leaves at once.
const NO_LIMIT: u64 = 1 << 40;
/// From here on two that should take once the time take rather twice as long.
const RATHER_TWICE: f64 = 1.5;
/// From here on, of two messages of one rank to two others, the first to arrive comes with the second rather than after
/// half their time.
const RATHER_TOGETHER: f64 = 0.75;

/// What was measured between two ranks, seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes and time of a message one way: half of there and back.
    pub one_way: Vec<(u64, f64)>,
    /// A rank's own time in a send of few bytes.
    pub sending: f64,
    /// From one message of few bytes to the next in a row of them.
    pub period: f64,
    /// Fewest bytes of which a send waits for its receive; none if none did.
    pub eager_limit: Option<u64>,
    /// Time of two messages at once in opposite directions that wait for their receives, and of one alone.
    pub swap: Option<[f64; 2]>,
    /// When the first and the second of two messages to two ranks had arrived that wait for their receives.
    pub two: Option<[f64; 2]>,
    /// How much longer a message takes to reach a rank that is sending a long one to a third, if it waits for its receive.
    pub behind: Option<f64>,
}

/// What was measured in a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// What was measured with, in a few words.
    pub told: String,
    /// Ranks on each node.
    pub ranks_per_node: Vec<u32>,
    /// Between two ranks of one node, if there is one with two.
    pub on_node: Option<Measured>,
    /// Between two nodes, if there are two.
    pub off_node: Option<Measured>,
    /// Seconds per byte of a folded result.
    pub per_folded_byte: f64,
    /// Seconds per copied byte.
    pub per_copied_byte: f64,
    /// Of so many pairs between two nodes at once, how many times as long they take as one alone.
    pub pairs: Option<(usize, f64)>,
    /// What memory costs that ranks of a node share, if some do.
    pub memory: Option<Times>,
    /// Which messages within a node travel in pieces, if that was found out.
    pub within_node: Option<ProtocolLimits>,
    /// The longest message between nodes that had better travel whole, in it none if all had, if that was found out.
    pub between_nodes: Option<Option<usize>>,
    /// Whether the nodes have a network that moves long messages by itself, so that they travel whole.
    pub fast_network: bool,
}

/// The link that explains what was measured.
pub fn link(measured: &Measured) -> Link {
    let empty = median(measured.one_way.iter().filter(|(bytes, _)| *bytes <= EMPTY).map(|(_, time)| *time));
    // Every part of the shortest message is some part of its time.
    let overhead = measured.sending.clamp(0.0, empty / 3.0);
    let gap = measured.period.clamp(0.0, empty / 3.0);
    let eager_limit = measured.eager_limit.unwrap_or(NO_LIMIT);
    let waiting: Vec<_> = measured.one_way.iter().copied().filter(|(bytes, _)| *bytes >= eager_limit).collect();
    let per_byte = slope(if waiting.len() > 1 { &waiting } else { &measured.one_way }).max(0.0);
    let extra = |(bytes, time): &(u64, f64)| time - empty - *bytes as f64 * per_byte;
    let eager = measured.one_way.iter().filter(|(bytes, _)| (LONG..eager_limit).contains(bytes));
    // What comes sooner than its bytes at the rate of long messages was let through at once.
    let early = -median(eager.map(extra)).min(0.0);
    let above = median(waiting.iter().map(extra)) + early;
    let shares = measured.two.is_some_and(|[first, second]| first > RATHER_TOGETHER * second);
    let bytes = |seconds: f64| if per_byte > 0.0 { (seconds / per_byte) as u64 } else { 0 };
    // Where nothing is left, rounding may leave less than nothing.
    let latency = (empty - 2.0 * overhead - gap).max(0.0);
    Link {
        latency,
        overhead,
        gap,
        per_byte,
        eager_limit,
        handshake: if waiting.is_empty() { 2.0 * latency } else { above.max(0.0) },
        half_duplex: measured.swap.is_some_and(|[both, one]| both > RATHER_TWICE * one),
        shares,
        burst: if shares { bytes(early) } else { 0 },
        queue: if shares { bytes(measured.behind.unwrap_or(0.0).max(0.0)) } else { 0 },
    }
}

/// The network that explains what was measured; `other` gives the links that the job did not have.
///
/// # Errors
/// There was nothing to measure, or what was measured is no network's.
pub fn network(name: &str, job: &Job, other: &Network) -> Result<Network, String> {
    let links = [&job.on_node, &job.off_node].map(|measured| measured.as_ref().map(link));
    let disturbed = |what: &str| {
        let cause = "something disturbed the measurement; try again with nothing else running, or more --seconds";
        format!("{what} took no longer for more bytes: {cause}")
    };
    for (link, place) in links.iter().zip(["within a node", "between nodes"]) {
        if link.is_some_and(|link| link.per_byte <= 0.0) {
            return Err(disturbed(&format!("messages {place}")));
        }
    }
    let memory = match &job.memory {
        Some(times) => times.memory().ok_or_else(|| disturbed("copies through shared memory"))?,
        None => other.memory,
    };
    let (on_node, off_node, missing) = match links {
        [Some(on), Some(off)] => (on, off, String::new()),
        [Some(on), None] => (on, on, "; all ranks were on one node, so it has no other".to_owned()),
        [None, Some(off)] => {
            (other.on_node, off, format!("; no node had two ranks, so within nodes it is the preset {}", other.name))
        }
        [None, None] => return Err("a network has two ends: start at least 2 ranks".to_owned()),
    };
    let most = job.ranks_per_node.iter().max().map_or(1, |ranks| *ranks as usize);
    let ports = job.pairs.map_or(1, |(pairs, times)| ((pairs as f64 / times).round() as usize).clamp(1, pairs));
    Ok(Network {
        name: name.to_owned(),
        description: format!("Measured by collie fit: {}{missing}.", job.told),
        on_node,
        off_node,
        per_folded_byte: job.per_folded_byte,
        per_copied_byte: job.per_copied_byte,
        ranks_per_node: if links[1].is_some() { most } else { other.ranks_per_node },
        ports_per_node: ports,
        memory,
        fragment: links[1].and_then(|_| match job.between_nodes {
            Some(measured) => Some(measured.unwrap_or(0)),
            None => Piece::between_nodes(job.fast_network),
        }),
        limits: job.within_node.map(|limits| limits.limits().collect()),
    })
}

/// The median; 0 of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        number if number % 2 == 1 => values[number / 2],
        number => (values[number / 2 - 1] + values[number / 2]) / 2.0,
    }
}

/// Slope of the line through points: the median of the slopes between any two, weighted by how far apart they are
/// (Theil and Sen; weights after Jaeckel).
fn slope(points: &[(u64, f64)]) -> f64 {
    let mut slopes = Vec::new();
    for (place, (bytes, time)) in points.iter().enumerate() {
        for (other_bytes, other_time) in &points[..place] {
            let apart = *bytes as f64 - *other_bytes as f64;
            if apart != 0.0 {
                slopes.push(((time - other_time) / apart, apart.abs()));
            }
        }
    }
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = slopes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let middle = slopes.iter().find(|(_, weight)| {
        passed += weight;
        passed >= half
    });
    middle.map_or(0.0, |(slope, _)| *slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    /// What a network of these parameters shows, one size disturbed.
    fn measured() -> Measured {
        let time = |bytes: u64| 20e-6 + bytes as f64 * 1e-9 + if bytes >= 65536 { 30e-6 } else { 0.0 };
        let mut one_way: Vec<_> = (3..23)
            .map(|power| 1 << power)
            .map(|bytes| (bytes, if bytes == 8 { 20e-6 } else { time(bytes) }))
            .collect();
        one_way.iter_mut().filter(|(bytes, _)| *bytes == 1 << 18).for_each(|(_, time)| *time *= 3.0);
        Measured {
            one_way,
            sending: 2e-6,
            period: 1e-6,
            eager_limit: Some(65536),
            swap: Some([2.0, 1.0]),
            two: Some([1.0, 2.0]),
            behind: Some(1e-4),
        }
    }

    #[test]
    fn parameters_come_back() {
        let link = link(&measured());
        near(link.per_byte, 1e-9);
        assert!((link.handshake - 30e-6).abs() < 1e-7, "{link:?}");
        assert!((link.latency + 2.0 * link.overhead + link.gap - 20e-6).abs() < 1e-7, "{link:?}");
        assert_eq!((link.eager_limit, link.half_duplex, link.shares), (65536, true, false));
        assert_eq!((link.burst, link.queue), (0, 0), "they are of shared ports");
    }

    #[test]
    fn bursts_and_queues_come_back() {
        let mut measured = Measured { two: Some([1.0, 1.0]), ..measured() };
        measured.one_way.iter_mut().filter(|(bytes, _)| *bytes >= 8192).for_each(|(_, time)| *time -= 6e-6);
        let link = link(&measured);
        assert!(link.shares && link.burst.abs_diff(6000) < 100 && link.queue.abs_diff(100_000) < 100, "{link:?}");
        assert!((link.handshake - 30e-6).abs() < 1e-7, "{link:?}");
    }

    #[test]
    fn what_cannot_be_measured_is_told() {
        let other = Network::presets().next().unwrap();
        let job = Job { told: "a".to_owned(), ranks_per_node: vec![1, 1], ..Job::default() };
        assert!(network("x", &job, &other).unwrap_err().contains("at least 2 ranks"));
        let apart = network("x", &Job { off_node: Some(measured()), ..job.clone() }, &other).unwrap();
        assert_eq!((apart.on_node, apart.ranks_per_node), (other.on_node, 1));
        assert!(apart.description.contains("no node had two ranks"), "{}", apart.description);
        let together = network("x", &Job { on_node: Some(measured()), ..job.clone() }, &other).unwrap();
        assert_eq!((together.off_node, together.ranks_per_node), (together.on_node, other.ranks_per_node));
        let pairs = Job { off_node: Some(measured()), pairs: Some((4, 2.1)), ..job };
        assert_eq!(network("x", &pairs, &other).unwrap().ports_per_node, 2);
    }

    #[test]
    fn a_disturbed_measurement_is_refused() {
        let other = Network::presets().next().unwrap();
        let flat = |measured: Measured| Measured {
            one_way: measured.one_way.iter().map(|(bytes, _)| (*bytes, 2e-3)).collect(),
            ..measured
        };
        let job = Job { ranks_per_node: vec![2], on_node: Some(flat(measured())), ..Job::default() };
        let error = network("x", &job, &other).unwrap_err();
        assert!(error.starts_with("messages within a node took no longer for more bytes"), "{error}");
        let job = Job { on_node: Some(measured()), off_node: Some(flat(measured())), ..job };
        assert!(network("x", &job, &other).unwrap_err().contains("between nodes"));
    }

    #[test]
    fn limits_are_those_that_were_found_or_else_what_is_known() {
        let other = Network::presets().next().unwrap();
        let job = Job { ranks_per_node: vec![1, 1], off_node: Some(measured()), ..Job::default() };
        let of = |job: &Job| {
            let network = network("x", job, &other).unwrap();
            let text = serde_json::to_string(&network).unwrap();
            assert_eq!(Network::parse("x", &text).unwrap(), network);
            (network.fragment, network.limits)
        };
        assert_eq!(network("x", &job, &other).unwrap().memory, other.memory);
        let times = Times { tournament: 1e-7, counter: 2e-7, copies: [(1024, 1e-6), (8192, 2e-6)], window: 8192 };
        let with = network("x", &Job { memory: Some(times.clone()), ..job.clone() }, &other).unwrap();
        assert_eq!(Some(with.memory), times.memory());
        let flat = Times { copies: [(1024, 1e-6), (8192, 1e-6)], ..times };
        let error = network("x", &Job { memory: Some(flat), ..job.clone() }, &other).unwrap_err();
        assert!(error.starts_with("copies through shared memory took no longer for more bytes"), "{error}");
        assert_eq!(of(&job), (Some(16 << 10), None));
        let found = Job { within_node: ProtocolLimits::of([4032]), between_nodes: Some(Some(8192)), ..job.clone() };
        assert_eq!(of(&found), (Some(8192), Some(vec![4032.into()])));
        let whole = Job { within_node: Some(ProtocolLimits::NONE), between_nodes: Some(None), ..job };
        assert_eq!(of(&whole), (Some(0), Some(vec![])));
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
        assert_eq!(median(std::iter::empty()), 0.0);
    }
}
