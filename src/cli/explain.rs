//! `collie explain`: what the command line says of a call and of what decides it. [`explained`](super::explained) tells
//! the rest.

use super::explained::Explained;
use super::measurements::Measurements;
use super::nearest_measurements::{self, Measured};
use super::{Done, Failure, options};
use crate::algorithm::{Call, Operation, counted, format_bytes, parse_bytes};
use crate::bench::checked::MOST_BYTES;
use crate::bench::numbers::whole;
use crate::schedule::limits::ProtocolLimits;
use crate::schedule::simulate::{Network, Scales};
use crate::selection::{
    Configuration, Implementation, Mode, Mpi, RawConfiguration, Situation, Transport, Version, operation_named,
    variables,
};
use std::path::PathBuf;
use std::time::Instant;

/// Show which algorithm a call would get, what decides it, and why others are refused
///
/// The COLLIE_ variables take effect as they would in a run.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie explain allreduce --ranks 48 --bytes 64K\n  \
                        collie explain reduce --ranks 6 --bytes 8 --non-commutative\n  \
                        collie explain bcast --ranks 16 --nodes 4 --bytes 1M --rules site.rules\n  \
                        COLLIE_ALLGATHER=recursive_doubling collie explain allgather --ranks 6 --bytes 1K")]
pub struct Arguments {
    #[arg(help = Operation::accepted())]
    operation: String,
    /// Ranks of the communicator; calls of a single one always stay with the MPI library
    #[arg(long, value_parser = whole::<u32>(2..=1 << 20))]
    ranks: u32,
    /// Bytes that one rank contributes (for bcast the message); K, M, G are powers of 1024 [default: one element]
    #[arg(long, value_parser = bytes)]
    bytes: Option<usize>,
    #[arg(long, value_parser = element, help = format!("Bytes of one element of a reduction [default: {ELEMENT}]"))]
    element: Option<usize>,
    /// Root rank
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>(..))]
    root: usize,
    /// The reduction's operation is not commutative, so that it is the program's own
    #[arg(long)]
    non_commutative: bool,
    /// The reduction's operation is the program's own (MPI_Op_create)
    #[arg(long)]
    user_defined: bool,
    /// Number of nodes, with the ranks spread evenly in blocks, or the number of ranks on each node, as in 4,4,2
    #[arg(long, default_value = "1")]
    nodes: String,
    /// NUMA nodes, where ranks share memory, in the same form [default: COLLIE_NUMA, or else one]
    #[arg(long, value_name = "NODES")]
    numa: Option<String>,
    /// There are more ranks than cores
    #[arg(long)]
    oversubscribed: bool,
    /// How messages travel within a node, messages or shared, instead of COLLIE_TRANSPORT
    #[arg(long, value_parser = ["messages", "shared"])]
    transport: Option<String>,
    /// MPI library, as rules name it: openmpi, mpich, intel, cray or mvapich
    #[arg(long, value_parser = Implementation::parse)]
    mpi: Option<Implementation>,
    /// Its version, such as 4.1.4
    #[arg(long, requires = "mpi", value_parser = version)]
    mpi_version: Option<Version>,
    /// Rules file, instead of COLLIE_RULES
    #[arg(long)]
    rules: Option<String>,
    /// Network whose α/β determines segments: shared_memory, ethernet, infiniband, or a file, instead of COLLIE_NETWORK
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// Show what collie bench measured (--json or --csv) of such calls, or what a run in mode compare found; may be
    /// given several times
    #[arg(long, value_name = "FILE")]
    measured: Vec<PathBuf>,
}

/// Bytes of an element of a reduction unless the command line says otherwise.
const ELEMENT: usize = 8;

pub fn bytes(text: &str) -> Result<usize, String> {
    let accepted = || format!("accepted: bytes, with K, M, G as powers of 1024, at most {}", format_bytes(MOST_BYTES));
    parse_bytes(text).filter(|bytes| *bytes <= MOST_BYTES).ok_or_else(accepted)
}

fn element(text: &str) -> Result<usize, String> {
    let most = format_bytes(MOST_BYTES);
    let accepted = || format!("accepted: bytes from 1 to {most}, with K, M, G as powers of 1024");
    parse_bytes(text).filter(|bytes| (1..=MOST_BYTES).contains(bytes)).ok_or_else(accepted)
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| "accepted: a version such as 4.1.4".to_owned())
}

/// Explains.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let operation = operation_named(&arguments.operation).map_err(Failure::usage)?;
    let ranks = arguments.ranks as usize;
    refuse_root_and_bytes(operation, ranks, arguments.root, arguments.bytes)?;
    refuse_options_of_reductions(arguments, operation)?;
    let nodes = nodes_of("--nodes", &arguments.nodes, ranks).map_err(Failure::usage)?;
    let (count, unit) = size(arguments, operation)?;
    let (configuration, [rules, tables]) = configuration(arguments)?;
    let numa = numa_nodes(arguments, &configuration)?;
    let Measurements { reports, copies, .. } = Measurements::read(&arguments.measured)?;
    let situation = situation(arguments, &configuration, &nodes);
    let call = Call {
        root: if operation.rooted() { arguments.root } else { 0 },
        commutative: !arguments.non_commutative,
        reduce_local: arguments.user_defined || arguments.non_commutative,
        nodes: &nodes,
        half_bandwidth: configuration.half_bandwidth(situation.one_node),
        ..Call::plain(operation, count, unit)
    };
    // Algorithms that live in shared memory combine by kernels, which operations of the program have none of.
    let has_kernel = !call.reduce_local;
    let call = match configuration.transport {
        Transport::Shared => {
            let call = configuration.network(situation.one_node).with_shared_memory(&call, &numa);
            Call { shared: call.shared.filter(|_| has_kernel), ..call }
        }
        Transport::Messages => call,
    };
    let explained = Explained {
        configuration: &configuration,
        rules: rules.as_deref(),
        tables: tables.as_deref(),
        situation: &situation,
        call: &call,
        without_kernel: configuration.transport == Transport::Shared && !has_kernel,
        begun: Instant::now(),
        scales: Scales::default(),
    };
    let mut text = explained.text();
    if !reports.is_empty() {
        text.push('\n');
        text.push_str(&nearest_measurements::text(&reports, &Measured::of(&call, &situation)));
    }
    let learned = configuration.learn.as_ref().filter(|_| configuration.mode == Mode::Learn);
    let notes = copies.into_iter().chain(learned.and_then(|file| file.warning())).collect();
    Ok(Done { text, notes, ..Done::default() })
}

/// Refuses a root that is not among the ranks, and a root and bytes that the operation has none of.
pub fn refuse_root_and_bytes(
    operation: Operation,
    ranks: usize,
    root: usize,
    bytes: Option<usize>,
) -> Result<(), Failure> {
    if root >= ranks {
        return Err(Failure::usage(format!("there is no root {root} among {}", counted(ranks, "rank"))));
    }
    if root > 0 && !operation.rooted() {
        return Err(Failure::usage(format!("--root is for operations with a root; {operation} has none")));
    }
    if bytes.is_some_and(|bytes| bytes > 0) && !operation.has_data() {
        return Err(Failure::usage(format!("--bytes is for operations with data; {operation} has none")));
    }
    Ok(())
}

/// Refuses what only reductions have, of an operation that is none.
fn refuse_options_of_reductions(arguments: &Arguments, operation: Operation) -> Result<(), Failure> {
    let given = [
        ("--non-commutative", arguments.non_commutative),
        ("--user-defined", arguments.user_defined),
        ("--element", arguments.element.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given && !operation.reduces()) {
        Some((option, _)) => Err(Failure::usage(format!("{option} is for reductions; {operation} reduces nothing"))),
        None => Ok(()),
    }
}

/// How many units the call has, and the bytes of one.
fn size(arguments: &Arguments, operation: Operation) -> Result<(usize, usize), Failure> {
    let element = arguments.element.unwrap_or(ELEMENT);
    let unit = if operation.reduces() { element } else { 1 };
    let one = if operation.has_data() { element } else { 0 };
    let bytes = arguments.bytes.unwrap_or(one);
    if !bytes.is_multiple_of(unit) {
        let message = format!("--bytes {bytes} is not a whole number of elements of {unit} bytes (--element)");
        return Err(Failure::usage(message));
    }
    Ok((bytes / unit, unit))
}

/// The NUMA node of each rank, as the command line or the variables say.
fn numa_nodes(arguments: &Arguments, configuration: &Configuration) -> Result<Vec<u32>, Failure> {
    let ranks = arguments.ranks as usize;
    if arguments.numa.is_some() && configuration.transport != Transport::Shared {
        return Err(Failure::usage("--numa is for ranks that share memory (--transport shared)"));
    }
    let numa =
        arguments.numa.as_ref().map(|text| nodes_of("--numa", text, ranks)).transpose().map_err(Failure::usage)?;
    Ok(numa.unwrap_or_else(|| configuration.numa.stated(ranks).unwrap_or_default()))
}

/// Where the call is made.
fn situation(arguments: &Arguments, configuration: &Configuration, nodes: &[u32]) -> Situation {
    Situation {
        oversubscribed: arguments.oversubscribed,
        mpi: Mpi {
            implementation: arguments.mpi.unwrap_or_default(),
            version: arguments.mpi_version.unwrap_or_default(),
        },
        limits: match configuration.transport {
            Transport::Messages => configuration.limits_within_node(ProtocolLimits::NONE, arguments.oversubscribed),
            Transport::Shared => ProtocolLimits::NONE,
        },
        limits_vary: configuration.limits_vary(),
        ..Situation::plain(arguments.ranks as usize).on(nodes)
    }
}

/// What the variables and the command line say, and the texts of the rules file and of the user's tables.
fn configuration(arguments: &Arguments) -> Result<(Configuration, [Option<String>; 2]), Failure> {
    let mut variables = RawConfiguration::from_environment().variables;
    let Arguments { rules, network, transport, .. } = arguments;
    if network.as_deref() == Some(Network::MEASURE) {
        Network::find(Network::MEASURE).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let given = [
        ("--rules", variables::RULES, rules),
        ("--network", variables::NETWORK, network),
        ("--transport", variables::TRANSPORT, transport),
    ];
    let mut options = Vec::new();
    for (option, name, given) in given {
        if let Some(given) = given {
            if given.trim().is_empty() {
                return Err(options::empty(option));
            }
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), given.clone()));
            options.push((name.to_owned(), option.to_owned()));
        }
    }
    let raw = RawConfiguration::new(variables);
    let configuration = raw.parse().map_err(|errors| Failure::usage(options::blamed(errors, &options).to_string()))?;
    Ok((configuration, [raw.rules, raw.tables].map(|file| file.and_then(|file| file.text.ok()))))
}

/// The node of each rank, as in [`Call`], from what `option` says.
pub fn nodes_of(option: &str, text: &str, ranks: usize) -> Result<Vec<u32>, String> {
    let refuse =
        || format!("{option} '{text}': accepted: a number from 1 to {ranks}, or the ranks on each, as in 4,4,2");
    let numbers = text.split(',').map(|number| number.trim().parse::<usize>().ok().filter(|number| *number > 0));
    let numbers = numbers.collect::<Option<Vec<_>>>().ok_or_else(refuse)?;
    let sizes = match numbers[..] {
        [count] if count <= ranks => (0..count).map(|node| (node + 1) * ranks / count - node * ranks / count).collect(),
        [_] => return Err(refuse()),
        _ => numbers,
    };
    let held = sizes.iter().fold(0, |held: usize, size| held.saturating_add(*size));
    if held != ranks {
        return Err(format!("{option} '{text}' holds {held} ranks, --ranks says {ranks}"));
    }
    if sizes.len() == 1 {
        return Ok(Vec::new());
    }
    Ok((0..).zip(&sizes).flat_map(|(node, size)| std::iter::repeat_n(node, *size)).collect())
}
