//! `collie fit`: starts `collie-bench fit` under its MPI and writes the network that it measured.

use super::bench::{Answer, Started, answer};
use super::file::{try_output, write_file};
use super::job::Signals;
use super::{Done, Failure};
use crate::bench::numbers::whole;
use crate::fit::Settings;
use crate::schedule::simulate::Network;
use std::path::PathBuf;

/// Measure the parameters of a network under a real MPI, for simulate, draw and the choice of segments
///
/// Rank 0 exchanges messages with a rank of its own node and with ranks of other nodes, if there are any. Four ranks
/// on each of three nodes are enough to measure everything.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie fit -n 4 -o shared.json\n  \
                        collie fit -o cluster.json -- mpirun --host a:4,b:4,c:4\n  \
                        collie fit --family mpich -o cluster.json -- srun -N 3 -n 12\n  \
                        collie simulate allreduce --ranks 8-512 --network cluster.json")]
pub struct Arguments {
    /// Ranks
    #[arg(short = 'n', long, default_value_t = 2, value_parser = whole::<u32>(2..))]
    ranks: u32,
    /// Write the network to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    started: Started,
    #[command(flatten)]
    settings: Settings,
}

/// Runs the job and writes what it found.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    try_output("--output", arguments.output.as_deref(), "a network in JSON", &["json"])?;
    let start = arguments.started.find()?;
    let words = std::iter::once("fit".to_owned()).chain(arguments.settings.words());
    let command = start.command(arguments.ranks, words);
    if let Some(shown) = start.dry(std::slice::from_ref(&command))? {
        return Ok(shown);
    }
    let network = answer(&Signals::catch(), &command, |line| {
        serde_json::from_str::<Network>(line).map_or(Answer::Other, Answer::Whole)
    })?;
    let text = serde_json::to_string_pretty(&network).expect("a network can be written") + "\n";
    let Some(path) = &arguments.output else { return Ok(Done::from(text)) };
    match write_file(path, &text) {
        Ok(()) => Ok(Done::from(format!("{}\n", network.description))),
        Err(Failure { message, code }) => {
            // What was measured is not lost.
            let note = format!("{message}; the network is on standard output");
            Ok(Done { text, notes: vec![note], code })
        }
    }
}
