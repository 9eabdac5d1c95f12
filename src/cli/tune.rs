//! `collie tune`: a rules file from what `collie bench` measured, or what mode `compare` found.

use super::file::{refuse_to_replace, try_output, write_file};
use super::head::{Head, Source};
use super::measurements::Measurements;
use super::predicted::{Predicted, Wanted};
use super::simulation_pool::Progress;
use super::values::values;
use super::{Done, Failure, predicted, validated};
use crate::algorithm::Operation;
use crate::bench::checked::MOST_RANKS;
use crate::bench::numbers::whole;
use crate::bench::result::Report;
use crate::bench::tune::{self, Extend, Form, Settings};
use crate::schedule::simulate::Network;
use crate::selection::{Implementation, Mpi, operation_named};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Write a rules file from measurements of `collie bench`, or from verdicts of mode `compare`
///
/// The rules name, for each operation, number of ranks and size, the fastest of the algorithms that were forced;
/// neighbouring sizes share a row where that costs little. Where the native library was faster than all of them by more
/// than the noise, calls are left to it. Reports of several jobs and of several MPI libraries are combined.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie bench -n 4 -a all --repeat 3 --json site.json      measure\n  \
                        collie tune site.json -o site.rules                       decide\n  \
                        collie tune run.json -o site.rules                        the same from a run in mode compare\n  \
                        collie tune --model tree site.json -o site.rules          by decision trees\n  \
                        collie tune --validate --svg regret.svg site.json         how good they are\n  \
                        COLLIE_RULES=site.rules collie run -- mpirun -n 4 ./app   use\n  \
                        collie tune openmpi.json mpich.json --by-mpi --price 0.1")]
pub struct Arguments {
    /// Reports written by `collie bench --json` or --csv, with the algorithms in question forced by -a, or by runs with
    /// COLLIE_MODE=compare and COLLIE_REPORT=run.json
    #[arg(required_unless_present = "network")]
    files: Vec<PathBuf>,
    /// Write the rules to this file instead of standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// What a change of algorithm between sizes has to save, as a share of the time of one size
    #[arg(long, default_value_t = 0.05, value_parser = price)]
    price: f64,
    /// How rules are chosen: for each number of ranks the cheapest rows along the sizes; a decision tree over sizes,
    /// ranks and placement; or, among the algorithms that were measured, the least time predicted on --network or a
    /// preset
    #[arg(long, value_enum, default_value_t)]
    model: Model,
    /// Use Collie's algorithms for all calls, even where the native library was fastest
    #[arg(long)]
    ours: bool,
    /// Separate rules for each MPI library and release
    #[arg(long)]
    by_mpi: bool,
    /// Rules for the measured numbers of ranks only, not for those between and near them (up to a factor of two), for
    /// which times are estimated from the nearest measured ones
    #[arg(long)]
    exact: bool,
    /// Rows without a condition on the placement where all measurements are of one, nor on whether ranks outnumber cores
    /// where they do in all, nor, without --by-mpi, on the order of reductions where all commute: they then decide calls on one node and across nodes alike, as tables of a placement may, and rules for Open MPI's classic format have to
    #[arg(long)]
    anywhere: bool,
    /// Rules from simulations on this network (shared_memory, ethernet, infiniband, or a file of collie fit) instead of
    /// measurements; with --validate, the network of the model cost
    #[arg(long)]
    network: Option<String>,
    /// With --network: numbers of ranks, a list (16,48) or a range that doubles (16-65536)
    #[arg(long, requires = "network", conflicts_with_all = ["files", "by_mpi", "ours"])]
    ranks: Option<String>,
    /// With --ranks: these operations only, comma-separated
    #[arg(long, requires = "ranks", value_delimiter = ',', value_parser = operation_named)]
    operation: Vec<Operation>,
    /// With --ranks: steps up to which a call is simulated; beyond them times come from the cost formula [default: 1000000]
    #[arg(long, requires = "ranks", value_parser = whole::<usize>(..))]
    steps: Option<usize>,
    /// With --ranks: seconds after which the remaining times come from the cost formula; each operation gets its share
    /// of them, and fewest ranks come first
    #[arg(long, requires = "ranks", value_parser = crate::bench::pattern::seconds, value_name = "SECONDS")]
    patience: Option<f64>,
    /// Instead of rules, print how good rules are for calls left out of the measurements (each size, each number of
    /// ranks, each report in turn), beside the least predicted cost, the fixed tables of the literature and native
    #[arg(long, requires = "files", conflicts_with_all = ["output", "ranks", "model"])]
    validate: bool,
    /// With --validate, also draw the result
    #[arg(long, requires = "validate", value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Model {
    /// Rows for each number of ranks
    #[default]
    Table,
    /// A decision tree for each operation
    Tree,
    /// The least predicted time
    Cost,
}

/// Steps up to which calls are simulated unless the user says otherwise.
const STEPS: usize = 1_000_000;

fn price(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|price| (0.0..=10.0).contains(price)).ok_or_else(|| "accepted: 0 to 10".to_owned())
}

/// Reads, decides, writes.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    arguments.refuse_what_is_not_used()?;
    arguments.try_outputs()?;
    let network = arguments.network.as_deref().map(Network::find).transpose();
    let network = network.map_err(|error| Failure::usage(format!("--network: {error}")))?;
    let predicts = arguments.validate || arguments.model == Model::Cost;
    if let (Some(_), None, false) = (&network, &arguments.ranks, predicts) {
        let message = "--network needs --ranks, or measurements with --validate or --model cost";
        return Err(Failure::usage(message));
    }
    let progress = arguments.ranks.as_ref().map(|_| Progress::start());
    let simulated = match (&network, &arguments.ranks, &progress) {
        (Some(network), Some(ranks), Some(progress)) => Some(simulate(arguments, network, ranks, progress)?),
        _ => None,
    };
    let Measurements { mut reports, files, copies } = Measurements::read(&arguments.files)?;
    reports.extend(simulated.iter().map(|simulated| simulated.report.clone()));
    if arguments.model == Model::Cost && simulated.is_none() {
        let costs = tune::predicted(&reports, network.as_ref());
        reports = costs.map_err(|error| Failure::cannot(error.to_string()))?;
    }
    let source = match (&network, &simulated) {
        (Some(network), Some(simulated)) => Source::Simulated(network, simulated),
        _ if arguments.model == Model::Cost => Source::Predicted(network.as_ref()),
        _ => Source::Measured,
    };
    let named = |report: &&Report| Mpi::of(&report.mpi_library).implementation != Implementation::Other;
    if let Some(other) = reports.iter().find(|report| arguments.by_mpi && !named(report)) {
        let accepted = Implementation::NAMED.map(Implementation::name).join(", ");
        let message =
            format!("--by-mpi: rules cannot name the MPI library '{}'; accepted: {accepted}", other.mpi_library);
        return Err(Failure::cannot(message));
    }
    let settings = arguments.settings();
    let head = Head { source, files: &files, reports: &reports, native: settings.native };
    if arguments.validate {
        let table = validated::text(&reports, network.as_ref(), settings);
        let (text, drawing) = table.map_err(|error| Failure::cannot(error.to_string()))?;
        if let Some(path) = &arguments.svg {
            write_file(path, drawing)?;
        }
        let notes = [copies, head.notes(&[])].concat();
        return Ok(Done { text, notes, ..Done::default() });
    }
    let mut blocks = tune::tune(&reports, settings).map_err(|error| Failure::cannot(error.to_string()))?;
    if let Some(simulated) = &simulated {
        simulated.limit(&mut blocks);
    }
    if blocks.is_empty() {
        return Err(nothing(arguments, &reports, simulated.as_ref()));
    }
    let rules = tune::text(&blocks, &head.text(&blocks));
    let notes = [copies, head.notes(&blocks)].concat();
    let code = progress.map_or(0, |progress| progress.code());
    let Some(output) = &arguments.output else { return Ok(Done { text: rules, notes, code }) };
    write_file(output, rules)?;
    let text = head.left_to_native(&blocks).map_or_else(String::new, |left| format!("{}: {left}\n", output.display()));
    Ok(Done { text, notes, code })
}

/// Why there are no rules.
fn nothing(arguments: &Arguments, reports: &[Report], simulated: Option<&Predicted>) -> Failure {
    if simulated.is_some() {
        return Failure::cannot("ended before all algorithms were simulated in any cell");
    }
    let files: Vec<_> = arguments.files.iter().map(|file| file.display().to_string()).collect();
    let mut cells = reports.iter().flat_map(|report| &report.cells).peekable();
    let alone = cells.peek().is_some() && cells.all(|cell| cell.ranks < 2);
    let why = match alone {
        true => {
            "holds calls of a single rank only, which the MPI library carries out; measure with collie bench -n 2 or more ranks"
        }
        false => {
            "no algorithm was measured besides native and auto, with right results; measure with collie bench -a ALGORITHM or -a all"
        }
    };
    Failure::cannot(format!("{}: {why}", files.join(", ")))
}

impl Arguments {
    /// Options that say something of what others ask for: clap does not look for those where they conflict with what else
    /// is given.
    fn refuse_what_is_not_used(&self) -> Result<(), Failure> {
        let of_ranks = [
            ("--operation", !self.operation.is_empty()),
            ("--steps", self.steps.is_some()),
            ("--patience", self.patience.is_some()),
        ];
        let given = of_ranks.into_iter().find(|(_, given)| *given && self.ranks.is_none());
        match given {
            Some((option, _)) => Err(Failure::usage(format!("{option} needs --ranks, which does not go with files"))),
            None if self.svg.is_some() && !self.validate => {
                Err(Failure::usage("--svg needs --validate, which does not go with --ranks"))
            }
            None => Ok(()),
        }
    }

    /// Whether files can be written, are named for what they are to hold, and are none of those that are read.
    fn try_outputs(&self) -> Result<(), Failure> {
        let inputs = || self.files.iter().map(PathBuf::as_path).chain(self.network.as_deref().map(Path::new));
        refuse_to_replace("--output", self.output.as_deref(), inputs())?;
        refuse_to_replace("--svg", self.svg.as_deref(), inputs())?;
        try_output("--output", self.output.as_deref(), "a rules file", &["rules", "conf", "txt"])?;
        try_output("--svg", self.svg.as_deref(), "a drawing in SVG", &["svg"])
    }

    const fn settings(&self) -> Settings {
        Settings {
            form: if matches!(self.model, Model::Tree) { Form::Tree } else { Form::Table },
            price: self.price,
            native: !self.ours,
            by_mpi: self.by_mpi,
            anywhere: self.anywhere,
            extend: match self.exact {
                true => Extend::Exact,
                false if self.ranks.is_some() => Extend::Near,
                false => Extend::Estimated,
            },
        }
    }
}

/// What simulations say.
fn simulate(arguments: &Arguments, network: &Network, ranks: &str, progress: &Progress) -> Result<Predicted, Failure> {
    let ranks = values("--ranks", ranks, 2, 2..=MOST_RANKS, |text| text.parse().ok()).map_err(Failure::usage)?;
    let chosen: Vec<_> = Operation::ALL.into_iter().filter(|known| arguments.operation.contains(known)).collect();
    let operations = if chosen.is_empty() { &Operation::ALL[..] } else { &chosen };
    let patience = arguments.patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let wanted = Wanted {
        network,
        operations,
        ranks: &ranks,
        steps: arguments.steps.unwrap_or(STEPS),
        patience: patience.unwrap_or(Duration::MAX),
    };
    predicted::report(&wanted, progress).map_err(Failure::cannot)
}
