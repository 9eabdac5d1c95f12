//! How the ranks of a communicator come to know the same, and what that is.

use super::facts::Facts;
use super::{origin, private};
use crate::monitor::SharedList;
use crate::mpi::error::Result;
use crate::mpi::{bytes, communicator, constants, family, node};
use crate::process::device::{self, Gpu};
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
    /// Nanoseconds of a short message within a node ([`SHORT`](crate::mpi::limits::SHORT)), as the fastest pair that
    /// was measured takes them; 0 if none was.
    pub message_ns: u64,
    /// Whether every rank may hold one more private communicator.
    pub within_budget: bool,
    /// What GPUs mean to the rank to which they mean most.
    pub gpu: Gpu,
    /// What coins fall by in mode `compare`.
    pub seed: u64,
}

/// The words that a rank brings into the agreement. All ranks together have the least of each: of a word and its
/// complement that gives the least and the most, and whether all have the same.
struct Words([u64; WORDS]);

/// Place of a word that is asked whether all ranks have the same, with its complement in the next one.
struct Alike(usize);
/// Place of a word of which the most is wanted: its complement is there, as the least of those tells the most.
struct Most(usize);
/// Place of a word of which the least is wanted.
struct Least(usize);

const CONFIGURATION: Alike = Alike(0);
const IDENTITY: Alike = Alike(2);
const LIMITS: Alike = Alike(4);
const NODE: Alike = Alike(6);
const MPI: Alike = Alike(8);
/// Private communicators held.
const HELD: Most = Most(10);
const OVERSUBSCRIBED: Most = Most(11);
const FAST_NETWORK: Most = Most(12);
/// Whether there is no id left for one more communicator.
const NO_IDS: Most = Most(13);
const GPU: Most = Most(14);
const SEED: Least = Least(15);
const MESSAGE_NS: Least = Least(16);
const WORDS: usize = 17;

impl Words {
    /// What this rank knows that the others need.
    fn of(runtime: &Runtime, facts: &Facts) -> Self {
        let mut words = Self([0; WORDS]);
        words.compare(CONFIGURATION, digest(runtime.raw()));
        words.compare(IDENTITY, digest(&facts.identity));
        words.compare(LIMITS, runtime.limits().word());
        words.compare(NODE, runtime.node);
        words.compare(MPI, runtime.mpi.packed());
        words.find_most(HELD, private::held() as u64);
        words.find_most(OVERSUBSCRIBED, runtime.oversubscribed().into());
        words.find_most(FAST_NETWORK, runtime.fast_network.into());
        words.find_most(NO_IDS, (!origin::leaves_room()).into());
        words.find_most(GPU, device::present() as u64);
        // Another one in each run, so that a run is no repetition of the last one's coins.
        words.find_least(SEED, digest(&(runtime.started_unix_ns(), &facts.identity)));
        words.find_least(MESSAGE_NS, runtime.message_ns());
        words
    }

    fn compare(&mut self, Alike(place): Alike, word: u64) {
        self.0[place..place + 2].copy_from_slice(&with_complement(word));
    }

    const fn find_most(&mut self, Most(place): Most, word: u64) {
        self.0[place] = !word;
    }

    const fn find_least(&mut self, Least(place): Least, word: u64) {
        self.0[place] = word;
    }

    /// Of the least words: whether all ranks have the same one.
    const fn are_alike(&self, Alike(place): Alike) -> bool {
        are_alike([self.0[place], self.0[place + 1]])
    }

    /// Of the least words: the most of all ranks'.
    const fn most(&self, Most(place): Most) -> u64 {
        !self.0[place]
    }

    /// Of the least words: this one.
    const fn least(&self, Least(place): Least) -> u64 {
        self.0[place]
    }
}

/// A word as it is compared.
const fn with_complement(word: u64) -> [u64; 2] {
    [word, !word]
}

/// Whether all ranks have the same word, of which this is the least with the least complement.
const fn are_alike([least, least_complement]: [u64; 2]) -> bool {
    least == !least_complement
}

/// Has all ranks begin with the configuration of rank 0 of `MPI_COMM_WORLD`, whichever communicators they are the first
/// of: files that it names may be on that rank's node only. They find out as well whether they outnumber the cores.
/// Collective over it.
///
/// # Errors
/// What PMPI returned.
pub fn begin(runtime: &Runtime) -> Result {
    let world = constants::comm_world();
    let own = [digest(runtime.raw()), runtime.node, runtime.allowed.identity].map(with_complement);
    let own: [u64; 6] = std::array::from_fn(|place| own.as_flattened()[place]);
    let all = communicator::least(world, own)?;
    let [configuration, node, allowed] = [0, 2, 4].map(|place| are_alike([all[place], all[place + 1]]));
    runtime.set_cores(node, allowed);
    if !configuration {
        let (raw, configuration) = take_over(runtime, world, runtime.world_rank)?;
        if runtime.world_rank != 0 {
            runtime.set_configuration(raw, configuration);
        }
    }
    Ok(())
}

/// The first words that the ranks of a communicator exchange: what each knows, and what rank 0 wants. Collective over
/// it.
///
/// # Errors
/// What PMPI returned.
pub fn agree(runtime: &Runtime, facts: &Facts) -> Result<Agreed> {
    let all = Words(communicator::least(facts.comm, Words::of(runtime, facts).0)?);
    let configuration = match all.are_alike(CONFIGURATION) {
        true => Arc::clone(runtime.own_configuration()),
        false => take_over(runtime, facts.comm, facts.rank)?.1,
    };
    let agreed = conclude(runtime, facts, &all, configuration)?;
    if !agreed.foreign && facts.size == runtime.world_size {
        runtime.meets_all();
    }
    Ok(agreed)
}

/// What this rank would agree on if all others knew and wanted the same. No communication.
///
/// # Errors
/// What PMPI said of the communicator.
pub fn alone(runtime: &Runtime, facts: &Facts) -> Result<Agreed> {
    conclude(runtime, facts, &Words::of(runtime, facts), runtime.configuration_here())
}

/// What follows from the words of all ranks. Collective over the communicator where they differ.
fn conclude(runtime: &Runtime, facts: &Facts, all: &Words, configuration: Arc<Configuration>) -> Result<Agreed> {
    let one_node = all.are_alike(NODE);
    let nodes = if one_node { Vec::new() } else { nodes(runtime, facts)? };
    let members = communicator::world_ranks(facts.comm, false)?;
    let members: Vec<_> = members.into_iter().map(|rank| u32::try_from(rank).unwrap_or(FOREIGN)).collect();
    let oversubscribed = all.most(OVERSUBSCRIBED) == 1;
    let found = if all.are_alike(LIMITS) { runtime.limits() } else { ProtocolLimits::NONE };
    let within_node = configuration.limits_within_node(found, oversubscribed);
    Ok(Agreed {
        situation: Situation {
            oversubscribed,
            mpi: if all.are_alike(MPI) { runtime.mpi } else { Mpi::UNKNOWN },
            limits: if configuration.transport == Transport::Messages { within_node } else { ProtocolLimits::NONE },
            limits_vary: configuration.limits_vary(),
            ..Situation::plain(facts.size).on(&nodes)
        },
        half_bandwidth: configuration.half_bandwidth(one_node),
        fragments: Fragments {
            between_nodes: configuration.piece.or(Piece::between_nodes(all.most(FAST_NETWORK) == 1)),
            within_node,
        },
        message_ns: all.least(MESSAGE_NS),
        within_budget: all.most(HELD) < most_private(&configuration) as u64 && all.most(NO_IDS) == 0,
        gpu: Gpu::from_word(all.most(GPU)),
        seed: all.least(SEED),
        configuration,
        nodes: runtime.lists.of(nodes),
        foreign: members.contains(&FOREIGN),
        members: runtime.lists.of(members),
        // Communicators may be made by ways that not all ranks see.
        identity: if all.are_alike(IDENTITY) { facts.identity.to_string() } else { name_by_first(runtime, facts)? },
    })
}

/// How many private communicators a rank may have.
pub fn most_private(configuration: &Configuration) -> usize {
    configuration.max_communicators.unwrap_or(family::PRIVATE_COMMUNICATORS)
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
        bytes = format!("{}{}.{number}", origin::UNSEEN, runtime.world_rank).into_bytes();
    }
    bytes::broadcast(facts.comm, 0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The configuration of rank 0 of a communicator, on every rank.
fn take_over(runtime: &Runtime, comm: MPI_Comm, rank: usize) -> Result<(RawConfiguration, Arc<Configuration>)> {
    let own = (rank == 0).then(|| {
        // A wrong one ends the job here.
        runtime.own_configuration();
        runtime.raw()
    });
    let raw: RawConfiguration = bytes::of_first(comm, own)?;
    let parsed: std::result::Result<Configuration, ConfigurationErrors> = raw.parse();
    let configuration = parsed.map_or_else(|errors| runtime::refuse(runtime.world_rank, &errors), Arc::new);
    Ok((raw, configuration))
}

/// A hash: equal for equal values, and hardly ever for others.
fn digest(known: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    known.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_place_of_its_own() {
        let comparisons = [CONFIGURATION, IDENTITY, LIMITS, NODE, MPI].map(|Alike(place)| [place, place + 1]);
        let most = [HELD, OVERSUBSCRIBED, FAST_NETWORK, NO_IDS, GPU].map(|Most(place)| place);
        let least = [SEED, MESSAGE_NS].map(|Least(place)| place);
        let mut places = [comparisons.as_flattened(), &most, &least].concat();
        places.sort_unstable();
        assert_eq!(places, (0..WORDS).collect::<Vec<_>>());
    }

    #[test]
    fn the_least_words_tell_who_has_the_same_and_who_has_most() {
        let of = |configuration, node, held, message_ns| {
            let mut words = Words([0; WORDS]);
            words.compare(CONFIGURATION, configuration);
            words.compare(NODE, node);
            words.find_most(HELD, held);
            words.find_least(MESSAGE_NS, message_ns);
            words
        };
        let [one, other] = [of(u64::MAX, 1, 3, 800), of(u64::MAX, 2, 5, 700)];
        let all = Words(std::array::from_fn(|place| one.0[place].min(other.0[place])));
        assert!(all.are_alike(CONFIGURATION) && !all.are_alike(NODE));
        assert_eq!((all.most(HELD), all.least(MESSAGE_NS)), (5, 700));
    }
}
