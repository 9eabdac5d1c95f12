//! `collie fit`: starts `collie-bench fit` under its MPI and writes the network that it measured.

use super::bench::{PROGRAM, answer, launcher, started_by};
use super::launcher::Family;
use super::run::{place, quoted};
use super::{Done, Failure};
use crate::fit::Settings;
use crate::schedule::simulate::Network;
use std::ffi::OsString;
use std::path::PathBuf;

/// Measure the parameters of a network under a real MPI, for simulate, draw and the choice of segments
///
/// Rank 0 exchanges messages with a rank of its own node and with ranks of other nodes, whichever there are. Four ranks
/// on each of three nodes show everything.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie fit -n 4 -o shared.json\n  \
                        collie fit -o cluster.json -- mpirun --host a:4,b:4,c:4\n  \
                        collie fit --family mpich -o cluster.json -- srun -N 3 -n 12\n  \
                        collie simulate allreduce --ranks 8-512 --network cluster.json")]
pub struct Arguments {
    /// Ranks
    #[arg(short = 'n', long, default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,
    /// Where the network goes; standard output unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Whose collie-bench and mpirun; by default that of the mpirun found first
    #[arg(long)]
    family: Option<Family>,
    /// The MPI program, instead of ../FAMILY/bin/collie-bench beside this program's folder
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print what would be run
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    settings: Settings,
    /// Launcher with its options, instead of `mpirun -n RANKS`
    #[arg(last = true, value_name = "LAUNCHER", conflicts_with = "ranks")]
    launcher: Vec<OsString>,
}

/// Runs the job and writes what it found.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let (found, family) = launcher(&arguments.launcher, arguments.family)?;
    let program = match &arguments.program {
        Some(program) => std::path::absolute(program).unwrap_or_else(|_| program.clone()),
        None => place(family()?, PROGRAM)?,
    };
    let mut command = match found {
        Some(launcher) => started_by(&launcher, arguments.ranks),
        None => arguments.launcher.clone(),
    };
    command.extend([program.clone().into(), "fit".into()]);
    command.extend(arguments.settings.words().map(OsString::from));
    if arguments.dry_run {
        let words: Vec<_> = command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        return Ok(Done::from(words.join(" ") + "\n"));
    }
    if !program.is_file() {
        let program = program.display();
        let advice = "build it with scripts/build, or name it with --program";
        return Err(Failure::cannot(format!("there is no {program}; {advice}")));
    }
    let network = answer(&command, |line| serde_json::from_str::<Network>(line).ok())?;
    let text = serde_json::to_string_pretty(&network).expect("a network can be written") + "\n";
    let Some(path) = &arguments.output else { return Ok(Done::from(text)) };
    let written = std::fs::write(path, text);
    written.map_err(|error| Failure::cannot(format!("cannot write {}: {error}", path.display())))?;
    Ok(Done::from(format!("{}\n", network.description)))
}
