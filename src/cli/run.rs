//! `collie run`: a program under the preload, however its launcher hands variables to the ranks.

use super::handing_on::{Launch, Variable, prepare};
use super::launcher::Launcher;
use super::program::{self, Found};
use super::{Done, Failure, options};
use crate::family::Family;
use crate::reading;
use crate::selection::{ConfigurationErrors, RawConfiguration, operation_named, variables};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// Run an MPI program with Collie preloaded into its ranks
///
/// Determines the launcher (that of Open MPI, MPICH or Intel MPI, Slurm, Flux, jsrun, aprun, PALS, or none) and passes
/// it the library and the COLLIE_ variables in such a way that all ranks get them, and nothing else does. Exits with
/// the program's own status.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie run -- mpirun -n 8 ./app\n  \
                        collie run --algorithm allreduce=ring --algorithm bcast=native -- mpirun -n 8 ./app\n  \
                        collie run --report stderr,run.json -- mpiexec.hydra -n 4 ./app input\n  \
                        collie run --dry-run -- mpirun -n 8 ./app")]
pub struct Arguments {
    /// Algorithm of an operation, as in COLLIE_ALLREDUCE=ring; may be given several times
    #[arg(short, long = "algorithm", value_name = "OPERATION=ALGORITHM")]
    algorithms: Vec<String>,
    /// Sets COLLIE_MODE
    #[arg(long)]
    mode: Option<String>,
    /// Sets COLLIE_RULES
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Sets COLLIE_REPORT
    #[arg(long, value_name = "TARGETS")]
    report: Option<String>,
    /// Sets COLLIE_LOG
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// The library, instead of the one installed for FAMILY beside this program (../FAMILY/lib or
    /// ../lib/collie/FAMILY/lib)
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// MPI family of the library, if it cannot be determined from launcher and program
    #[arg(long)]
    family: Option<Family>,
    /// Kind of launcher, if it cannot be determined from the launcher's name and version
    #[arg(long)]
    launcher: Option<Launcher>,
    /// Print what would be run
    #[arg(long)]
    dry_run: bool,
    /// Launcher with its arguments, or the program itself
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Becomes the command; returns only if that fails, or nothing is to be run.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let variables = checked_variables(arguments)?;
    let program = &arguments.command[Launcher::place(&arguments.command)];
    check_words(&arguments.command)?;
    let launcher = match arguments.launcher {
        Some(launcher) => launcher,
        None => Launcher::detect(program).map_err(Failure::cannot)?,
    };
    let start = Launcher::place(&arguments.command) + usize::from(launcher != Launcher::None);
    let found = program::family_of(&arguments.command[start..]);
    let (library, doubt) = library(arguments, launcher, &found)?;
    let (library, inherited) = ((&*library, &found.sanitizers[..]), std::env::var("LD_PRELOAD").ok());
    let launch = prepare(launcher, &arguments.command, library, inherited.as_deref(), &variables);
    let Launch { environment, command } = launch.map_err(Failure::usage)?;
    let doubts: Vec<String> = doubt.into_iter().chain(bound_at_once()).collect();
    if arguments.dry_run {
        return Ok(Done { notes: doubts, ..Done::from(written(&environment, &command)) });
    }
    // Now, since no one is left to do so when this process has become the command.
    doubts.iter().for_each(|note| eprintln!("collie: {note}"));
    let error = std::process::Command::new(&command[0]).args(&command[1..]).envs(environment).exec();
    let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    Err(Failure { message: format!("cannot run '{}': {error}", command[0].to_string_lossy()), code })
}

/// Whether the loader is told to bind all symbols of a library at once, which those of MPI cannot be in a process without
/// MPI.
fn bound_at_once() -> Option<String> {
    let is_set = std::env::var_os("LD_BIND_NOW").is_some_and(|value| !value.is_empty());
    is_set.then(|| {
        "LD_BIND_NOW is set: of what the launcher starts, programs without MPI, such as shells, cannot be loaded with Collie"
            .to_owned()
    })
}

/// Variables that the command sets itself, for the launcher or by `env`, are checked as those of the environment are; but
/// for names of files, which the program may look for in another folder.
fn check_words(command: &[OsString]) -> Result<(), Failure> {
    const FILES: [&str; 4] = [variables::RULES, variables::TABLES, variables::NETWORK, variables::LEARN];
    let mut settings = Vec::new();
    let mut is_for_env = false;
    let words: Vec<&str> = command.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    for (place, word) in words.iter().enumerate() {
        let before = |number: usize| place.checked_sub(number).map_or("", |place| words[place]);
        let is_of_launcher = ["-x", "--x"].contains(&before(1));
        match word.split_once('=') {
            Some(setting) if is_of_launcher || is_for_env => settings.push(setting),
            _ if ["-genv", "-env"].contains(&before(2)) => settings.push((before(1), word)),
            // Its options may have values of their own.
            _ => is_for_env = is_for_env && word.starts_with('-') || word.rsplit('/').next() == Some("env"),
        }
    }
    settings.retain(|(name, _)| name.starts_with(variables::PREFIX) && !FILES.contains(name));
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let wrong = |errors: ConfigurationErrors| Failure::usage(format!("in the command: {errors}"));
    RawConfiguration::new(settings).parse().map(drop).map_err(wrong)
}

/// All `COLLIE_` variables of the run. They are checked here, before any rank is started.
fn checked_variables(arguments: &Arguments) -> Result<Vec<Variable>, Failure> {
    let mut all = RawConfiguration::from_environment().variables;
    // Each with its option.
    let mut asked = Vec::new();
    let mut set = |option: String, name: &str, value: String| {
        all.retain(|(known, _)| known != name);
        all.push((name.to_owned(), value));
        asked.push((name.to_owned(), option));
    };
    let mut chosen = BTreeMap::new();
    for setting in &arguments.algorithms {
        let option = format!("--algorithm '{setting}'");
        let refuse = || Failure::usage(format!("{option}: accepted: operation=algorithm"));
        let named = setting.split_once('=').filter(|(_, choice)| !choice.trim().is_empty());
        let (operation, choice) = named.ok_or_else(refuse)?;
        let operation = operation_named(operation).map_err(|error| Failure::usage(format!("{option}: {error}")))?;
        match chosen.insert(operation, choice) {
            Some(other) if other != choice => {
                let message = format!(
                    "{option}: another --algorithm says '{other}' for {operation}; accepted: one for each operation"
                );
                return Err(Failure::usage(message));
            }
            _ => set(option, variables::of(operation), choice.to_owned()),
        }
    }
    // Rank 0 may start in another folder.
    let rules = arguments.rules.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let options = [
        ("--mode", variables::MODE, arguments.mode.clone()),
        ("--rules", variables::RULES, rules.map(|path| path.to_string_lossy().into_owned())),
        ("--report", variables::REPORT, arguments.report.clone()),
        ("--log", variables::LOG, arguments.log.clone()),
    ];
    for (option, name, value) in options {
        match value {
            // Not the same as leaving it out, which an unset variable of a script is likely to mean.
            Some(value) if value.trim().is_empty() => return Err(options::empty(option)),
            Some(value) => set(option.to_owned(), name, value),
            None => {}
        }
    }
    let raw = RawConfiguration::new(all);
    raw.parse().map_err(|errors| Failure::usage(options::blamed(errors, &asked).to_string()))?;
    let is_asked = |name: &str| asked.iter().any(|(asked, _)| asked == name);
    let variable = |(name, value): (String, _)| Variable { is_asked: is_asked(&name), name, value };
    Ok(raw.variables.into_iter().map(variable).collect())
}

/// The absolute path of the library to preload, with what makes us doubt that it is of use.
fn library(arguments: &Arguments, launcher: Launcher, found: &Found) -> Result<(String, Option<String>), Failure> {
    let Some(path) = &arguments.library else {
        let (family, doubt) = family(arguments, launcher, found)?;
        return Ok((usable(place(family, LIBRARY)?)?, doubt));
    };
    let path = usable(std::path::absolute(path).unwrap_or_else(|_| path.clone()))?;
    let content =
        reading::bytes(Path::new(&path)).map_err(|error| Failure::cannot(format!("cannot read '{path}': {error}")))?;
    if !is_collie(&content) {
        return Err(Failure::cannot(format!(
            "--library '{path}': accepted: a library of Collie, as is in the folder lib of each family"
        )));
    }
    Ok((path, None))
}

/// Whether a file is the library: what else is preloaded, or cannot be, leaves the program without Collie silently.
fn is_collie(content: &[u8]) -> bool {
    const SYMBOL: &[u8] = b"collie_version\0";
    content.starts_with(b"\x7fELF") && content.windows(SYMBOL.len()).any(|window| window == SYMBOL)
}

/// The path of a library as `LD_PRELOAD` takes it.
pub(super) fn usable(path: PathBuf) -> Result<String, Failure> {
    if !path.is_file() {
        return Err(Failure::cannot(format!(
            "there is no {}; build it with scripts/build or install a package, or name one with collie run --library",
            path.display()
        )));
    }
    match path.to_str() {
        Some(text) if !text.contains([' ', ':', ',', '\t']) => Ok(text.to_owned()),
        _ => Err(Failure::cannot(format!(
            "'{}' cannot be put into LD_PRELOAD: it contains a space, colon or comma",
            path.display()
        ))),
    }
}

/// The library, in the folder of its family.
pub(super) const LIBRARY: &str = "lib/libcollie.so";

/// Where the folders of the families lie, seen from the folder above that of this program: as `scripts/build` leaves
/// them, and as packages have them.
const BESIDE: [&str; 2] = ["", "lib/collie"];

/// Where `file` of `family` is, seen from this program; where it is nowhere, the first place it might be.
pub(super) fn place(family: Family, file: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    let own = own.map_err(|error| Failure::cannot(format!("cannot find out where collie itself is: {error}")))?;
    let above = own.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    Ok(place_below(above, family, file))
}

fn place_below(above: &Path, family: Family, file: &str) -> PathBuf {
    let [first, packaged] = BESIDE.map(|beside| above.join(beside).join(family.folder()).join(file));
    if !first.is_file() && packaged.is_file() { packaged } else { first }
}

/// The program's MPI where the program tells, else the launcher's, else that of the only library there is; with a note
/// where program and launcher are of two.
fn family(arguments: &Arguments, launcher: Launcher, found: &Found) -> Result<(Family, Option<String>), Failure> {
    if let Some(family) = arguments.family {
        return Ok((family, own_mpi(found)));
    }
    if let Some(family) = found.family.or_else(|| launcher.family()) {
        let apart = launcher.family().and_then(|launchers| apart(launchers, family));
        return Ok((family, apart.or_else(|| own_mpi(found))));
    }
    let built: Vec<_> =
        Family::ALL.into_iter().filter(|family| place(*family, LIBRARY).is_ok_and(|path| path.is_file())).collect();
    match built[..] {
        [only] => Ok((only, None)),
        _ => Err(unknown_family(&arguments.command, &found.looked_at)),
    }
}

/// What comes of a program into which MPI is linked statically.
fn own_mpi(found: &Found) -> Option<String> {
    found.with_own_mpi.as_ref().map(|program| {
        let program = program.display();
        format!("{program} seems to have an MPI library in its own file: Collie sees no calls of such a program")
    })
}

/// What comes of a launcher of one MPI and a program of another. Programs of the standard ABI run under either.
fn apart(launcher: Family, program: Family) -> Option<String> {
    (launcher != program && program != Family::Abi).then(|| {
        format!(
            "the launcher is of {}, the program uses {}: each of its processes may find itself alone, as rank 0 of 1",
            launcher.described(),
            program.described()
        )
    })
}

/// That nothing told which MPI it is, with what was looked at.
pub(super) fn unknown_family(words: &[impl AsRef<OsStr>], looked_at: &[String]) -> Failure {
    // Whoever misspells a name is to look at that first.
    if let Some(first) = words.first().map(AsRef::as_ref)
        && looked_at.is_empty()
        && program::executable(first).is_none()
    {
        let (what, code) = match Path::new(first).components().count() > 1 {
            true if !Path::new(first).exists() => ("no such file", 127),
            true => ("no program that may be run", 126),
            false => ("no such program in PATH", 127),
        };
        return Failure { message: format!("{}: {what}", first.display()), code };
    }
    let files = if looked_at.is_empty() { "no program in it was found".to_owned() } else { looked_at.join("; ") };
    let message =
        format!("cannot tell which MPI the program uses ({files}); choose it with --family openmpi, mpich or abi");
    Failure::cannot(message)
}

/// As a shell would read it.
fn written(environment: &[(String, String)], command: &[OsString]) -> String {
    let environment = environment.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let command = command.iter().map(|word| quoted(&word.to_string_lossy()));
    environment.chain(command).collect::<Vec<_>>().join(" ") + "\n"
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "_-./=:,+@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_and_programs_of_two_families() {
        let note = apart(Family::OpenMpi, Family::Mpich).unwrap();
        assert!(note.starts_with("the launcher is of Open MPI, the program uses MPICH, Intel MPI"), "{note}");
        assert_eq!(apart(Family::Mpich, Family::Mpich), None);
        assert_eq!(apart(Family::OpenMpi, Family::Abi), None);
    }

    #[test]
    fn libraries_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let found = || place_below(folder.path(), Family::Mpich, LIBRARY);
        let built = folder.path().join("mpich/lib/libcollie.so");
        assert_eq!(found(), built, "what a message names where there is none");
        let packaged = put("lib/collie/mpich/lib/libcollie.so");
        assert_eq!(found(), packaged);
        assert_eq!(place_below(folder.path(), Family::Abi, LIBRARY), folder.path().join("abi/lib/libcollie.so"));
        put("mpich/lib/libcollie.so");
        assert_eq!(found(), built);
    }
}
