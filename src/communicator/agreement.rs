//! How the ranks of a communicator come to know the same, and what that is.

use super::facts::Facts;
use super::{origin, private};
use crate::monitor::SharedList;
use crate::mpi::error::Result;
use crate::mpi::{bytes, communicator, constants, family, node};
use crate::process::device;
use crate::process::runtime::{self, Runtime};
use crate::schedule::fragments::Fragments;
use crate::schedule::limits::ProtocolLimits;
use crate::selection::{Configuration, ConfigurationErrors, Mpi, Piece, RawConfiguration, Situation, Transport};
use mpi_sys::MPI_Comm;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stands for the world rank of a rank of another `MPI_COMM_WORLD`.
pub const FOREIGN: u32 = u32::MAX;

/// What the ranks of a communicator have agreed on.
pub struct Agreed {
    /// Rank 0's configuration.
    pub configuration: Arc<Configuration>,
    /// What choices rest on.
    pub situation: Situation,
    /// Node of each rank; empty if there is one node.
    pub nodes: Arc<SharedList>,
    /// α/β of the network, bytes.
    pub half_bandwidth: usize,
    /// World ranks of its ranks, [`FOREIGN`] for those of other worlds.
    pub members: Arc<SharedList>,
    /// Whether there are ranks of another `MPI_COMM_WORLD`: of spawned or connected processes. All ranks see it alike,
    /// since each sees those of the other worlds.
    pub foreign: bool,
    /// A name that no other communicator of the job has.
    pub identity: String,
    /// Which messages travel in fragments.
    pub fragments: Fragments,
    /// Nanoseconds of a short message within a node ([`SHORT`](crate::mpi::limits::SHORT)), as the fastest pair that was measured takes
    /// them; 0 if none was.
    pub message_ns: u64,
    /// Whether every rank may hold one more private communicator.
    pub within_budget: bool,
    /// Whether some rank uses a GPU or may come to.
    pub has_gpu: bool,
    /// What coins fall by in mode `compare`.
    pub seed: u64,
}

/// Words of one rank, of which the ranks work out the least one by one: a word and its complement give the least and the most,
/// and whether all have the same.
const WORDS: usize = 17;

/// What one rank knows that the others need.
struct Own {
    configuration: u64,
    identity: u64,
    limits: u64,
    node: u64,
    held: u64,
    oversubscribed: bool,
    fast_network: bool,
    no_ids: bool,
    has_gpu: bool,
    seed: u64,
    mpi: u64,
    message_ns: u64,
}

impl Own {
    fn of(runtime: &Runtime, facts: &Facts) -> Self {
        Self {
            configuration: digest(runtime.raw()),
            identity: digest(&facts.origin.identity),
            limits: runtime.limits().word(),
            node: runtime.node,
            held: private::held() as u64,
            oversubscribed: runtime.oversubscribed,
            fast_network: runtime.fast_network,
            no_ids: !origin::leaves_room(),
            has_gpu: device::is_present(),
            // Another one in each run, so that a run is no repetition of the last one's coins.
            seed: digest(&(runtime.started_unix_ns(), &facts.origin.identity)),
            mpi: runtime.mpi.packed(),
            message_ns: runtime.message_ns(),
        }
    }

    const fn words(&self) -> [u64; WORDS] {
        let Self { configuration, identity, limits, node, held, mpi, .. } = *self;
        let first = [configuration, !configuration, identity, !identity, limits, !limits, node, !node];
        let [a, b, c, d, e, f, g, h] = first;
        let [i, j] = [!(self.oversubscribed as u64), !(self.fast_network as u64)];
        let [k, l] = [!(self.no_ids as u64), !(self.has_gpu as u64)];
        [a, b, c, d, e, f, g, h, !held, i, j, k, l, self.seed, mpi, !mpi, self.message_ns]
    }
}

/// What the least words say.
struct All([u64; WORDS]);

impl All {
    /// Whether all ranks have the same word in that place.
    const fn alike(&self, place: usize) -> bool {
        self.0[place] == !self.0[place + 1]
    }

    /// The most, of a word that came as its complement.
    const fn most(&self, place: usize) -> u64 {
        !self.0[place]
    }
}

/// Has all ranks begin with the configuration of rank 0 of `MPI_COMM_WORLD`, whichever communicators they are the first of: files that
/// it names may be on that rank's node only. Collective over it.
///
/// # Errors
/// What PMPI returned.
pub fn begin(runtime: &Runtime) -> Result {
    let (world, own) = (constants::comm_world(), digest(runtime.raw()));
    let [least, complement] = communicator::least(world, [own, !own])?;
    if least != !complement {
        let (raw, configuration) = take_over(runtime, world, runtime.world_rank)?;
        if runtime.world_rank != 0 {
            runtime.set_configuration(raw, configuration);
        }
    }
    Ok(())
}

/// The first words that the ranks of a communicator exchange: what each knows, and what rank 0 wants. Collective over it.
///
/// # Errors
/// What PMPI returned.
pub fn agree(runtime: &Runtime, facts: &Facts) -> Result<Agreed> {
    let all = All(communicator::least(facts.comm, Own::of(runtime, facts).words())?);
    let configuration = match all.alike(0) {
        true => Arc::clone(runtime.own_configuration()),
        false => take_over(runtime, facts.comm, facts.rank)?.1,
    };
    conclude(runtime, facts, &all, configuration)
}

/// What this rank would agree on if all others knew and wanted the same. No communication.
///
/// # Errors
/// What PMPI said of the communicator.
pub fn alone(runtime: &Runtime, facts: &Facts) -> Result<Agreed> {
    conclude(runtime, facts, &All(Own::of(runtime, facts).words()), runtime.configuration_here())
}

/// What follows from the words of all ranks. Collective over the communicator where they differ.
fn conclude(runtime: &Runtime, facts: &Facts, all: &All, configuration: Arc<Configuration>) -> Result<Agreed> {
    let one_node = all.alike(6);
    let nodes = if one_node { Vec::new() } else { nodes(runtime, facts)? };
    let members = communicator::world_ranks(facts.comm, false)?;
    let members: Vec<_> = members.into_iter().map(|rank| u32::try_from(rank).unwrap_or(FOREIGN)).collect();
    let oversubscribed = all.most(9) == 1;
    let found = if all.alike(4) { runtime.limits() } else { ProtocolLimits::NONE };
    let within_node = configuration.limits_within_node(found, oversubscribed);
    Ok(Agreed {
        situation: Situation {
            oversubscribed,
            mpi: if all.alike(14) { runtime.mpi } else { Mpi::UNKNOWN },
            limits: if configuration.transport == Transport::Messages { within_node } else { ProtocolLimits::NONE },
            ..Situation::plain(facts.size).on(&nodes)
        },
        half_bandwidth: configuration.half_bandwidth(one_node),
        fragments: Fragments {
            between_nodes: configuration.piece.or(Piece::between_nodes(all.most(10) == 1)),
            within_node,
        },
        message_ns: all.0[16],
        within_budget: all.most(8) < configuration.max_communicators.unwrap_or(family::PRIVATE_COMMUNICATORS) as u64
            && all.most(11) == 0,
        has_gpu: all.most(12) == 1,
        seed: all.0[13],
        configuration,
        nodes: runtime.lists.of(nodes),
        foreign: members.contains(&FOREIGN),
        members: runtime.lists.of(members),
        // Communicators may be made by ways that not all ranks see.
        identity: if all.alike(2) { facts.origin.identity.clone() } else { name_by_first(runtime, facts)? },
    })
}

/// Node of each rank.
fn nodes(runtime: &Runtime, facts: &Facts) -> Result<Vec<u32>> {
    let all = communicator::allgather(facts.comm, facts.size, [runtime.node])?;
    Ok(node::number(all.iter().map(|[node]| *node)))
}

/// A name that rank 0 gives.
fn name_by_first(runtime: &Runtime, facts: &Facts) -> Result<String> {
    let mut bytes = Vec::new();
    if facts.rank == 0 {
        // Communicators that this process was the first to name.
        static NAMED: AtomicU64 = AtomicU64::new(0);
        let number = NAMED.fetch_add(1, Ordering::Relaxed);
        bytes = format!("unseen/{}.{number}", runtime.world_rank).into_bytes();
    }
    bytes::broadcast(facts.comm, 0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The configuration of rank 0 of a communicator, on every rank.
fn take_over(runtime: &Runtime, comm: MPI_Comm, rank: usize) -> Result<(RawConfiguration, Arc<Configuration>)> {
    let mut bytes = Vec::new();
    if rank == 0 {
        runtime.own_configuration();
        bytes = serde_json::to_vec(runtime.raw()).expect("strings can be written");
    }
    bytes::broadcast(comm, 0, &mut bytes)?;
    let raw: RawConfiguration = serde_json::from_slice(&bytes).expect("rank 0 runs the same library");
    let parsed: std::result::Result<Configuration, ConfigurationErrors> = raw.parse();
    let configuration = parsed.map_or_else(|errors| runtime::refuse(runtime.world_rank, &errors), Arc::new);
    Ok((raw, configuration))
}

/// A number that equals share.
fn digest(known: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    known.hash(&mut hasher);
    hasher.finish()
}
