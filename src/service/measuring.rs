//! What is measured in `MPI_Init`: the limits of the MPI library's protocol, and the network where
//! `COLLIE_NETWORK=measure` asks for it.

use crate::monitor::{LinkRecord, NetworkRecord};
use crate::mpi::limits::{self, ProtocolLimits};
use crate::mpi::{Result, bytes, communicator, constants, link};
use crate::process::runtime::{self, Runtime};
use crate::schedule::simulate::Link;
use crate::schedule::simulate::brief::{self, PATIENCE, PATIENCE_IN_ALL};
use crate::selection::{Configuration, Mode};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What all ranks are told that they are to measure.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Measure {
    limits: bool,
    network: bool,
}

impl Measure {
    /// What rank 0 wants measured. Nothing where nobody would use it, or there is no other rank.
    pub fn wanted(runtime: &Runtime, configuration: &Configuration) -> Self {
        let plays = !matches!(configuration.mode, Mode::Native | Mode::CompareSelf);
        if !plays || runtime.world_size < 2 {
            if configuration.measures_network {
                let why = if plays { "there is one rank" } else { "all is left to the MPI library" };
                ::log::info!("COLLIE_NETWORK=measure: nothing is measured, since {why}");
            }
            return Self::default();
        }
        Self { limits: !configuration.knows_limits(), network: configuration.measures_network }
    }

    /// Measures it. Collective over `MPI_COMM_WORLD`, in which no rank has left `MPI_Init` yet, so that no other
    /// messages are under way there.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn carry_out(self, runtime: &Runtime) -> Result {
        if !self.limits && !self.network {
            return Ok(());
        }
        let peers = peers(runtime)?;
        if self.limits
            && let [Some(near), _] = peers
        {
            limits_within_node(runtime, near)?;
        }
        if self.network {
            network(runtime, peers)?;
        }
        Ok(())
    }
}

/// Finds out between rank 0 and `peer` where the protocol within their node changes, and tells all ranks. Collective.
fn limits_within_node(runtime: &Runtime, peer: usize) -> Result {
    let world = constants::comm_world();
    let measured = match runtime.world_rank {
        0 => limits::measure(world, peer)?,
        rank if rank == peer => limits::follow(world, 0).map(|()| None)?,
        _ => None,
    };
    leave_cores_to_pair(runtime)?;
    let mut told = Vec::new();
    if let Some(measured) = measured {
        told.extend([measured.limits.word(), measured.message_ns].map(u64::to_le_bytes).concat());
        let found: Vec<_> = measured.limits.limits().map(|limit| limit.to_string()).collect();
        let found = if found.is_empty() { "none".to_owned() } else { found.join(" and ") };
        ::log::info!(
            "protocol limits within a node: {found} bytes, measured between ranks 0 and {peer} in {:.1} ms",
            measured.seconds * 1e3
        );
    }
    bytes::broadcast(world, 0, &mut told)?;
    if let Some((word, rest)) = told.split_first_chunk()
        && let Ok(message_ns) = rest.try_into()
    {
        let [word, message_ns] = [*word, message_ns].map(u64::from_le_bytes);
        let took = measured.map(|measured| (peer as u32, measured.seconds));
        runtime.set_limits(ProtocolLimits::from_word(word), message_ns, took);
    }
    Ok(())
}

/// Measures the link within the node of rank 0 and one between nodes, and tells all ranks: whoever wants a measured
/// network gets the same one. Collective.
fn network(runtime: &Runtime, peers: [Option<usize>; 2]) -> Result {
    let (world, rank) = (constants::comm_world(), runtime.world_rank);
    let mut told = Vec::new();
    if rank == 0 {
        let (found, links) = measure_links(peers)?;
        if links.iter().any(Option::is_some) {
            told = serde_json::to_vec(&brief::network(links)).expect("a network can be written");
        }
        say(&found);
        runtime.tell_network(found);
    } else if peers.contains(&Some(rank)) {
        link::answer(world)?;
    }
    leave_cores_to_pair(runtime)?;
    bytes::broadcast(world, 0, &mut told)?;
    if !told.is_empty()
        && let Err(errors) = runtime.set_network(&String::from_utf8_lossy(&told))
    {
        runtime::refuse(rank, &errors);
    }
    Ok(())
}

/// Waits until those who measure have done so, without taking a core from them: the MPI library's own waiting would,
/// and where ranks outnumber cores that doubled the time of `MPI_Init` (MPICH 4.0, 8 ranks on 2 cores). Collective.
fn leave_cores_to_pair(runtime: &Runtime) -> Result {
    if runtime.world_size > 2 { communicator::meet_quietly(constants::comm_world(), link::NAP) } else { Ok(()) }
}

/// The first other rank on rank 0's node, and the first on another. Collective.
fn peers(runtime: &Runtime) -> Result<[Option<usize>; 2]> {
    let (world, rank, size) = (constants::comm_world(), runtime.world_rank, runtime.world_size);
    let mut node = runtime.node.to_le_bytes().to_vec();
    bytes::broadcast(world, 0, &mut node)?;
    let near = node == runtime.node.to_le_bytes();
    let offered = |fits: bool| if fits && rank > 0 { rank as u64 } else { size as u64 };
    let found = communicator::least(world, [offered(near), offered(!near)])?;
    Ok(found.map(|rank| Some(rank as usize).filter(|rank| *rank < size)))
}

/// Rank 0's part: what is to be said, and the links that were measured.
fn measure_links(peers: [Option<usize>; 2]) -> Result<(NetworkRecord, [Option<Link>; 2])> {
    let begun = Instant::now();
    let presets = [brief::standing_in(true).on_node, brief::standing_in(false).off_node];
    let (mut records, mut links) = ([None; 2], [None; 2]);
    for (place, peer) in peers.into_iter().enumerate() {
        let Some(peer) = peer else { continue };
        let patience = PATIENCE.min(PATIENCE_IN_ALL.saturating_sub(begun.elapsed()));
        let measured = link::measure(constants::comm_world(), peer, patience)?;
        let link = brief::estimate(&measured, &presets[place]);
        links[place] = link;
        records[place] = Some(LinkRecord {
            rank: peer as u32,
            start_up_seconds: link.map(|link| link.start_up()),
            seconds_per_byte: link.map(|link| link.per_byte),
        });
    }
    let [within_node, between_nodes] = records;
    Ok((NetworkRecord { within_node, between_nodes, measured_seconds: begun.elapsed().as_secs_f64() }, links))
}

/// Into the log.
fn say(found: &NetworkRecord) {
    for (link, place) in [(found.within_node, "within a node"), (found.between_nodes, "between nodes")] {
        let Some(LinkRecord { rank, start_up_seconds, seconds_per_byte }) = link else { continue };
        match (start_up_seconds, seconds_per_byte) {
            (Some(start_up), Some(per_byte)) => ::log::info!(
                "network {place}: {:.2} us a message, {:.3} ns a byte, measured between ranks 0 and {rank}",
                start_up * 1e6,
                per_byte * 1e9
            ),
            _ => ::log::info!("network {place}: not measured in time between ranks 0 and {rank}; the preset is used"),
        }
    }
    ::log::info!("network measured in {:.1} ms", found.measured_seconds * 1e3);
}
