//! `collie draw`: an algorithm as an SVG picture.

use super::explain::{bytes, nodes_of, refuse_root_and_bytes};
use super::file::{try_output, write_file};
use super::{Done, Failure};
use crate::algorithm::{Call, Operation, parse_choice};
use crate::bench::numbers::whole;
use crate::schedule::draw::{MOST_STEPS, draw};
use crate::schedule::simulate::Network;
use crate::selection::operation_named;
use std::path::PathBuf;

/// Draw an algorithm: its tree or its messages by round, and its time line on a simulated network
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie draw reduce fibonacci --ranks 7 -o fibonacci.svg\n  \
                        collie draw bcast knomial:radix=4,segment=16K --ranks 16 --root 3 > knomial.svg\n  \
                        collie draw allreduce ring --ranks 8 --bytes 1M --network ethernet -o ring.svg\n  \
                        collie draw barrier numa_hierarchical --ranks 16 --numa 2 -o numa.svg")]
pub struct Arguments {
    #[arg(help = Operation::accepted())]
    operation: String,
    /// The algorithm, with its parameters after a colon
    algorithm: String,
    /// Ranks; up to 32 are easy to read
    #[arg(long, value_parser = whole::<u32>(1..=256))]
    ranks: u32,
    /// Root rank
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>(..))]
    root: usize,
    /// Bytes that one rank contributes (for bcast the message); K, M, G are powers of 1024 [default: 64K]
    #[arg(long, value_parser = bytes)]
    bytes: Option<usize>,
    /// Network of the time line: shared_memory, ethernet, infiniband, or a file
    #[arg(long, default_value = "shared_memory")]
    network: String,
    /// NUMA nodes, for algorithms that depend on them: how many, or the number of ranks on each, as in 4,4,2 [default:
    /// as in the network file]
    #[arg(long, value_name = "NODES")]
    numa: Option<String>,
    /// File to write; standard output if not given
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// Draws.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    try_output("--output", arguments.output.as_deref(), "a drawing in SVG", &["svg"])?;
    let operation = operation_named(&arguments.operation).map_err(Failure::usage)?;
    let choice = parse_choice(operation, &arguments.algorithm).map_err(|error| Failure::usage(error.to_string()))?;
    let network = Network::find(&arguments.network).map_err(|error| Failure::usage(format!("--network: {error}")))?;
    let ranks = arguments.ranks as usize;
    refuse_root_and_bytes(operation, ranks, arguments.root, arguments.bytes)?;
    let bytes = arguments.bytes.unwrap_or(64 << 10);
    let nodes = network.nodes(ranks);
    if arguments.numa.is_some() && !choice.shares_memory() {
        let message = format!("--numa is for algorithms in shared memory; {operation} {choice} sends messages");
        return Err(Failure::usage(message));
    }
    let numa =
        arguments.numa.as_ref().map(|text| nodes_of("--numa", text, ranks)).transpose().map_err(Failure::usage)?;
    let numa = numa.unwrap_or_else(|| network.numa_nodes(ranks));
    let call = network.in_memory_of(&choice, network.call(operation, arguments.root, bytes, &nodes), &numa);
    if operation.has_data() && call.bytes() != bytes {
        let unit = call.unit;
        return Err(Failure::usage(format!("--bytes {bytes} is not a whole number of elements of {unit} bytes")));
    }
    let refuse = |reason: String| Failure::cannot(format!("{operation} {choice} cannot be drawn: {reason}"));
    choice.accepts(&call, ranks).map_err(|unmet| refuse(unmet.to_string()))?;
    let call = Call { root: if operation.rooted() { call.root } else { 0 }, ..call };
    let drawing = draw(&choice, &call, ranks, &network).map_err(|broken| refuse(broken.to_string()))?;
    let too_long =
        || refuse(format!("its schedule has more than {MOST_STEPS} steps; fewer bytes or longer segments have fewer"));
    let drawing = drawing.ok_or_else(too_long)?;
    let Some(path) = &arguments.output else { return Ok(Done::from(drawing)) };
    write_file(path, drawing)?;
    Ok(Done::from(String::new()))
}
