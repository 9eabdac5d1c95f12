//! `collie bench`: starts `collie-bench` under its MPI as often as asked for, and makes one result of the jobs'.

use super::job::{ENDED, Signals};
use super::launcher::Launcher;
use super::run::{place, quoted};
use super::{Done, Failure};
use crate::algorithm::counted;
use crate::bench::numbers::whole;
use crate::bench::output::CELL;
use crate::bench::plan;
use crate::bench::program::Program;
use crate::bench::result::Report;
use crate::bench::{Settings, output};
use crate::family::Family;
use crate::selection::RawConfiguration;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The MPI program, in the folder of its family.
const PROGRAM: &str = "bin/collie-bench";

/// Time native collectives against Collie's, alternating within one MPI job
///
/// Starts collie-bench under the MPI it was built for. With --repeat, the ratios are geometric means over jobs, with an
/// interval that includes what differs between jobs; docs/benchmark.md explains the numbers.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie bench -n 4\n  \
                        collie bench -n 2,4 -o allreduce,bcast -b 64K-4M -a all --html bench.html\n  \
                        collie bench -n 4 --repeat 5 --family mpich --json grid.json --csv grid.csv\n  \
                        collie bench -n 8 --plan run.json           the calls of a recorded run\n  \
                        collie bench -n 4 --scenario tree-allreduce\n  \
                        collie bench --family mpich --bandwidth 1.25G -- srun -N 4 -n 8")]
pub struct Arguments {
    /// Numbers of ranks, comma-separated; each gets jobs of its own
    #[arg(short = 'n', long, value_delimiter = ',', default_value = "2", value_parser = whole::<u32>(1..))]
    ranks: Vec<u32>,
    /// Jobs for each number of ranks
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1..))]
    repeat: u32,
    #[command(flatten)]
    started: Started,
    #[command(flatten)]
    settings: Settings,
}

/// How collie-bench is started.
#[derive(clap::Args)]
pub(super) struct Started {
    /// MPI family whose collie-bench and mpirun are used; by default that of the first mpirun found
    #[arg(long)]
    family: Option<Family>,
    /// The MPI program, instead of the one installed for FAMILY beside this program (../FAMILY/bin or
    /// ../lib/collie/FAMILY/bin)
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print what would be run
    #[arg(long)]
    dry_run: bool,
    /// Launcher with its options, instead of `mpirun -n RANKS`
    #[arg(last = true, value_name = "LAUNCHER", conflicts_with = "ranks")]
    launcher: Vec<OsString>,
}

/// The launcher to call with `-n`, if the user gave no whole one, and the program.
pub(super) struct Start<'a> {
    arguments: &'a Started,
    found: Option<OsString>,
    program: PathBuf,
}

impl Started {
    /// Finds what is to be started.
    pub(super) fn find(&self) -> Result<Start<'_>, Failure> {
        // All jobs inherit these; wrong ones are told once, before any is started.
        RawConfiguration::from_environment().parse().map_err(|errors| Failure::usage(errors.to_string()))?;
        let found = if self.launcher.is_empty() { Some(mpirun(self.family)?) } else { None };
        let program = match (&self.program, found.as_ref().or(self.launcher.first())) {
            (Some(program), _) => std::path::absolute(program).unwrap_or_else(|_| program.clone()),
            (None, launcher) => place(self.family_of(launcher)?, PROGRAM)?,
        };
        Ok(Start { arguments: self, found, program })
    }

    /// Whose programs the launcher starts.
    fn family_of(&self, launcher: Option<&OsString>) -> Result<Family, Failure> {
        let detected = || Launcher::detect(launcher?).ok().and_then(Launcher::family);
        self.family.or_else(detected).ok_or_else(|| {
            Failure::cannot(
                "cannot tell for which MPI the launcher starts programs; choose it with --family openmpi, mpich or abi",
            )
        })
    }
}

impl Start<'_> {
    /// The command of a job on `ranks` ranks, whose number is the launcher's if the user gave one; `words` go to the
    /// program.
    pub(super) fn command(&self, ranks: u32, words: impl IntoIterator<Item = String>) -> Vec<OsString> {
        let mut command = match &self.found {
            Some(launcher) => started_by(launcher, ranks),
            None => self.arguments.launcher.clone(),
        };
        command.push(self.program.clone().into());
        command.extend(words.into_iter().map(OsString::from));
        command
    }

    /// What `--dry-run` shows, where it is asked for; a failure where there is no program to run.
    pub(super) fn dry(&self, commands: &[Vec<OsString>]) -> Result<Option<Done>, Failure> {
        if self.arguments.dry_run {
            let line = |command: &Vec<OsString>| {
                command.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ") + "\n"
            };
            return Ok(Some(Done::from(commands.iter().map(line).collect::<String>())));
        }
        if self.program.is_file() {
            return Ok(None);
        }
        let program = self.program.display();
        let advice = "build it with scripts/build or install a package, or name it with --program";
        Err(Failure::cannot(format!("there is no {program}; {advice}")))
    }
}

/// Runs the jobs and writes what they found.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    arguments.settings.check().map_err(Failure::usage)?;
    let start = arguments.started.find()?;
    let commands = jobs(arguments, &start);
    if let Some(shown) = start.dry(&commands)? {
        return Ok(shown);
    }
    if start.found.is_some() {
        // Each job would find that out for itself, some of them after others have run.
        let plan = arguments.settings.plan.as_deref().map(plan::read).transpose().map_err(Failure::usage)?;
        for ranks in &arguments.ranks {
            Program::resolve(&arguments.settings, *ranks as usize, plan.as_ref()).map_err(Failure::usage)?;
        }
    }
    output::try_files(&arguments.settings).map_err(Failure::cannot)?;
    let (mut reports, mut notes) = (Vec::new(), Vec::new());
    let signals = Signals::catch();
    for command in &commands {
        match job(&signals, command) {
            Ok(report) => reports.push(report),
            // What was measured until then is not lost, also when a signal has ended this job.
            Err((failure, cells)) if reports.is_empty() && cells.is_empty() => return Err(failure),
            Err((failure, cells)) => {
                let (whole, all) = (reports.len(), counted(commands.len(), "job"));
                let part = match cells.len() {
                    0 => String::new(),
                    number => format!(" and {} of another", counted(number, "cell")),
                };
                notes.push(format!("{}; the result is that of {whole} of {all}{part}", failure.message));
                reports.extend(cells);
                break;
            }
        }
    }
    let report = Report::merge(reports);
    let (text, wrong) = output::written(&arguments.settings, &report);
    notes.extend(wrong);
    let code = if notes.is_empty() { output::code(&report) } else { signals.code().unwrap_or(1) };
    Ok(Done { text, notes, code })
}

/// The launcher of `family`, or the first of any.
fn mpirun(family: Option<Family>) -> Result<OsString, Failure> {
    // Where several MPIs are installed, Debian tells their launchers apart by these endings.
    let names = match family {
        None => &["mpirun", "mpiexec"][..],
        Some(Family::OpenMpi) => &["mpirun.openmpi", "mpirun", "mpiexec"],
        Some(Family::Mpich | Family::Abi) => &["mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec"],
    };
    // MPICH's starts programs of either interface.
    let wanted = if family == Some(Family::Abi) { Some(Family::Mpich) } else { family };
    let fits = |name: &&&str| {
        let found = Launcher::detect(OsStr::new(name)).ok().and_then(Launcher::family);
        found.is_some() && (wanted.is_none() || found == wanted)
    };
    names.iter().find(fits).map(OsString::from).ok_or_else(|| {
        let accepted = names.join(", ");
        Failure::cannot(format!("no launcher found (looked for {accepted}); name one after --"))
    })
}

/// The commands of all jobs, those of different numbers of ranks taking turns; each with a seed of its own.
fn jobs(arguments: &Arguments, start: &Start) -> Vec<Vec<OsString>> {
    let mut random = fastrand::Rng::with_seed(arguments.settings.seed);
    let mut commands = Vec::new();
    for round in 0..arguments.repeat {
        // Each once, however often it is named: jobs that begin alike would make the same calls.
        let mut numbers = arguments.ranks.clone();
        numbers.sort_unstable();
        numbers.dedup();
        random.shuffle(&mut numbers);
        for ranks in numbers {
            let settings = Settings {
                seed: arguments.settings.seed.wrapping_add(u64::from(round)),
                plan: arguments.settings.plan.as_deref().map(|path| std::path::absolute(path).unwrap_or(path.into())),
                ..arguments.settings.clone()
            };
            let words = settings.words().into_iter().chain(["--each-cell", "--json", "-"].map(str::to_owned));
            commands.push(start.command(ranks, words));
            if start.found.is_none() {
                // The number of ranks is the launcher's.
                break;
            }
        }
    }
    commands
}

fn started_by(launcher: &OsStr, ranks: u32) -> Vec<OsString> {
    let mut command = vec![launcher.to_owned(), "-n".into(), ranks.to_string().into()];
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let crowded = ranks as usize > cores;
    // Open MPI refuses to start more ranks than cores unless told to, and binds them to cores unless it is.
    if crowded && matches!(Launcher::detect(launcher), Ok(Launcher::OpenMpi)) {
        command.push("--oversubscribe".into());
    }
    command
}

/// Runs one job and reads its report; what it says on standard error is passed on. Where it fails, the cells that it had
/// measured, each in a report of its own.
fn job(signals: &Signals, command: &[OsString]) -> Result<Report, (Failure, Vec<Report>)> {
    let mut cells = Vec::new();
    let read = |line: &str| match line.strip_prefix(CELL) {
        Some(cell) => {
            // The last one may be cut off.
            cells.extend(serde_json::from_str::<Report>(cell));
            Answer::Part
        }
        None => serde_json::from_str::<Report>(line).map_or(Answer::Other, Answer::Whole),
    };
    answer(signals, command, read).map_err(|failure| (failure, cells))
}

/// What a line of a job's is.
pub(super) enum Answer<T> {
    /// What was asked for.
    Whole(T),
    /// Something that has been taken.
    Part,
    /// Words of the launcher's, or of what went wrong.
    Other,
}

/// Runs a job and finds its answer among the lines that it prints.
pub(super) fn answer<T>(
    signals: &Signals,
    command: &[OsString],
    mut read: impl FnMut(&str) -> Answer<T>,
) -> Result<T, Failure> {
    let (status, text) = signals.run(command)?;
    let mut rest = Vec::new();
    for line in text.lines() {
        match read(line) {
            // A job may fail in its end, when all was told; and a launcher may say something before or after.
            Answer::Whole(answer) => return Ok(answer),
            Answer::Part => {}
            Answer::Other => rest.push(line),
        }
    }
    // What a failed job said on standard output may hold the reason.
    rest.iter().for_each(|line| eprintln!("{line}"));
    Err(match signals.code() {
        Some(code) => Failure { message: ENDED.to_owned(), code },
        None => {
            let shown = command[0].to_string_lossy();
            Failure::cannot(format!("the job printed no result ('{shown}' ended with {status})"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn commands(line: &str, launcher: Option<&str>) -> Vec<String> {
        let arguments = Line::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}")).arguments;
        let found = launcher.map(OsString::from);
        let commands = jobs(&arguments, &Start { arguments: &arguments.started, found, program: "/p".into() });
        let joined = |command: Vec<OsString>| command.join(OsStr::new(" ")).to_string_lossy().into_owned();
        commands.into_iter().map(joined).collect()
    }

    #[test]
    fn every_job_has_its_seed_and_numbers_of_ranks_take_turns() {
        let found = commands("bench -n 1,2 --repeat 2 -o bcast --csv x.csv", Some("/nowhere/launch"));
        assert_eq!(found.len(), 4);
        for (round, pair) in found.chunks(2).enumerate() {
            let seed = format!("--seed {}", round + 1);
            assert!(
                pair.iter().all(|command| command.contains(&seed) && command.ends_with(" --each-cell --json -")),
                "{pair:?}"
            );
            assert!(pair.iter().all(|command| !command.contains("x.csv")), "{pair:?}");
            assert!(["-n 1 ", "-n 2 "].iter().all(|ranks| pair.iter().any(|command| command.contains(ranks))));
        }
    }

    #[test]
    fn a_launcher_of_the_users_own_is_taken_as_it_is() {
        let found = commands("bench --repeat 3 -- srun -N 4 -n 8", None);
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("srun -N 4 -n 8 /p --step 8 "), "{found:?}");
    }
}
