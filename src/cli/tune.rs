//! `collie tune`: a rules file from what `collie bench` measured.

use super::{Done, Failure};
use crate::bench::result::Report;
use crate::bench::tune::{self, Settings};
use crate::selection::{Implementation, Mpi};
use std::path::{Path, PathBuf};

/// Write a rules file from measurements of `collie bench`
///
/// For each operation, number of ranks and size, the fastest of the algorithms that were forced; neighbouring sizes share
/// a row where that costs little. Where the native library was faster than all of them by more than the noise, calls are left
/// to it. Reports of several jobs and of several MPI libraries count alike.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie bench -n 4 -a all --repeat 3 --json site.json      measure\n  \
                        collie tune site.json -o site.rules                       decide\n  \
                        COLLIE_RULES=site.rules collie run -- mpirun -n 4 ./app   use\n  \
                        collie tune openmpi.json mpich.json --by-mpi --price 0.1")]
pub struct Arguments {
    /// Reports that `collie bench --json` wrote, with the algorithms in question forced by -a
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write the rules to this file instead of standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Share of one size's time that a change of the algorithm has to save
    #[arg(long, default_value_t = 0.05)]
    price: f64,
    /// Algorithms of Collie's for all calls, also where the native library was fastest
    #[arg(long)]
    ours: bool,
    /// Rules of its own for each MPI library and release, which hold for no other
    #[arg(long)]
    by_mpi: bool,
    /// Rules for the measured numbers of ranks only, not for those near them (up to a factor of two)
    #[arg(long)]
    exact: bool,
}

/// Reads, decides, writes.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    if !(0.0..=10.0).contains(&arguments.price) {
        return Err(Failure::usage(format!("--price {}: accepted: 0 to 10", arguments.price)));
    }
    let reports = arguments.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let named = |report: &&Report| Mpi::of(&report.mpi_library).implementation != Implementation::Other;
    if let Some(other) = reports.iter().find(|report| arguments.by_mpi && !named(report)) {
        let accepted = Implementation::NAMED.map(Implementation::name).join(", ");
        let message = format!("--by-mpi: rules cannot name '{}'; accepted: {accepted}", other.mpi_library);
        return Err(Failure::cannot(message));
    }
    let settings = Settings {
        price: arguments.price,
        native: !arguments.ours,
        by_mpi: arguments.by_mpi,
        extend: !arguments.exact,
    };
    let blocks = tune::tune(&reports, settings).map_err(|error| Failure::cannot(error.to_string()))?;
    if blocks.is_empty() {
        let files: Vec<_> = arguments.files.iter().map(|file| file.display().to_string()).collect();
        return Err(Failure::cannot(format!(
            "{}: no algorithm was measured besides native and auto; measure with collie bench -a ALGORITHM or -a all",
            files.join(", ")
        )));
    }
    let measured: Vec<_> =
        reports.iter().map(|report| format!("  {}, jobs: {}", report.mpi_library, report.runs)).collect();
    let header = format!(
        "Written by collie tune {} from measurements of collie bench:\n{}\nA number behind a size is native's time over that of the row's algorithm.",
        env!("CARGO_PKG_VERSION"),
        measured.join("\n")
    );
    let text = tune::text(&blocks, &header);
    let Some(output) = &arguments.output else { return Ok(Done::from(text)) };
    std::fs::write(output, text).map_err(|error| Failure::cannot(format!("{}: {error}", output.display())))?;
    Ok(Done::from(String::new()))
}

fn read(path: &Path) -> Result<Report, Failure> {
    let refuse = |error: &dyn std::fmt::Display| Failure::cannot(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refuse(&error))?;
    serde_json::from_str(&text).map_err(|error| refuse(&format!("not a report of collie bench: {error}")))
}
