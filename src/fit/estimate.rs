//! From what was measured in a job to a network.

#![forbid(unsafe_code)]

use crate::bench::memory::Times;
use crate::schedule::limits::ProtocolLimits;
use crate::schedule::simulate::Network;
use crate::schedule::simulate::estimate::{Measured, link};
use crate::selection::Piece;

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
        [Some(on), None] => (on, on, "; all ranks were on one node, so the link between nodes is a copy of the one within it, and tells nothing of several nodes".to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::simulate::estimate::example;

    #[test]
    fn what_cannot_be_measured_is_told() {
        let other = Network::presets().next().unwrap();
        let job = Job { told: "a".to_owned(), ranks_per_node: vec![1, 1], ..Job::default() };
        assert!(network("x", &job, &other).unwrap_err().contains("at least 2 ranks"));
        let apart = network("x", &Job { off_node: Some(example()), ..job.clone() }, &other).unwrap();
        assert_eq!((apart.on_node, apart.ranks_per_node), (other.on_node, 1));
        assert!(apart.description.contains("no node had two ranks"), "{}", apart.description);
        let together = network("x", &Job { on_node: Some(example()), ..job.clone() }, &other).unwrap();
        assert_eq!((together.off_node, together.ranks_per_node), (together.on_node, other.ranks_per_node));
        let pairs = Job { off_node: Some(example()), pairs: Some((4, 2.1)), ..job };
        assert_eq!(network("x", &pairs, &other).unwrap().ports_per_node, 2);
    }

    #[test]
    fn a_disturbed_measurement_is_refused() {
        let other = Network::presets().next().unwrap();
        let flat = |measured: Measured| Measured {
            one_way: measured.one_way.iter().map(|(bytes, _)| (*bytes, 2e-3)).collect(),
            ..measured
        };
        let job = Job { ranks_per_node: vec![2], on_node: Some(flat(example())), ..Job::default() };
        let error = network("x", &job, &other).unwrap_err();
        assert!(error.starts_with("messages within a node took no longer for more bytes"), "{error}");
        let job = Job { on_node: Some(example()), off_node: Some(flat(example())), ..job };
        assert!(network("x", &job, &other).unwrap_err().contains("between nodes"));
    }

    #[test]
    fn limits_are_those_that_were_found_or_else_what_is_known() {
        let other = Network::presets().next().unwrap();
        let job = Job { ranks_per_node: vec![1, 1], off_node: Some(example()), ..Job::default() };
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
}
