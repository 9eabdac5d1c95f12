//! How each launcher hands environment variables to the ranks it starts.
//!
//! The library is to be preloaded into the ranks only, on all nodes: set in the launcher's own environment, Open MPI
//! would not hand it to ranks on other nodes, and every launcher would load it into its own processes.

use super::program::executable;
use crate::family::Family;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// What starts the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Launcher {
    /// mpirun, mpiexec, orterun or prterun of Open MPI: -x NAME=value
    OpenMpi,
    /// mpirun or mpiexec of MPICH or Intel MPI: -genv NAME value
    Hydra,
    /// srun of Slurm: --export
    Srun,
    /// flux run: --env=NAME=value
    Flux,
    /// jsrun of IBM's Job Step Manager: --env NAME=value
    Jsrun,
    /// aprun of Cray's ALPS: -e NAME=value
    Aprun,
    /// mpiexec of Cray's PALS: --env NAME=value
    Pals,
    /// None: the program itself, or something that passes its whole environment on
    None,
}

/// Commands that start another command, given behind their own options.
const BEFORE_LAUNCHERS: &[&str] = &[
    "env", "taskset", "numactl", "timeout", "nice", "ionice", "nohup", "time", "stdbuf", "setsid", "chrt", "setarch",
    "strace",
];

impl Launcher {
    /// What `program` is: by its name, and where many share one name, by what it says about its version.
    ///
    /// # Errors
    /// It has a launcher's name, but does not say which one it is.
    pub fn detect(program: &OsStr) -> Result<Self, String> {
        let name = name_of(program);
        match name.as_str() {
            "srun" => return Ok(Self::Srun),
            "flux" => return Ok(Self::Flux),
            "jsrun" => return Ok(Self::Jsrun),
            "aprun" => return Ok(Self::Aprun),
            _ if !is_launcher(&name) => return Ok(Self::None),
            _ => {}
        }
        let said = Command::new(program).arg("--version").stdin(std::process::Stdio::null()).output();
        let said = said.map_err(|error| format!("cannot run '{}': {error}", program.to_string_lossy()))?;
        let text = [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Self::of_version(&text).ok_or_else(|| {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
            format!(
                "cannot determine what launcher '{name}' is: `{name} --version` says '{first}'; name it with --launcher"
            )
        })
    }

    /// By what it says about its version.
    fn of_version(text: &str) -> Option<Self> {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["Open MPI", "OpenRTE", "PRRTE"]) {
            Some(Self::OpenMpi)
        } else if says(&["PALS"]) {
            Some(Self::Pals)
        } else if says(&["HYDRA", "Intel(R) MPI"]) {
            Some(Self::Hydra)
        } else {
            None
        }
    }

    /// Whose programs it starts, if it starts those of one MPI only.
    pub const fn family(self) -> Option<Family> {
        match self {
            Self::OpenMpi => Some(Family::OpenMpi),
            Self::Hydra => Some(Family::Mpich),
            Self::Srun | Self::Flux | Self::Jsrun | Self::Aprun | Self::Pals | Self::None => None,
        }
    }

    /// Where the launcher stands in a command that may begin with others, such as `env` or `timeout`: its place, 0
    /// where there is none.
    pub fn place(command: &[OsString]) -> usize {
        let begins = command.first().is_some_and(|word| BEFORE_LAUNCHERS.contains(&name_of(word).as_str()));
        let launcher = command.iter().position(|word| is_launcher(&name_of(word)));
        launcher.filter(|_| begins).unwrap_or(0)
    }
}

fn name_of(program: &OsStr) -> String {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

/// Whether a program of that name starts the ranks of a job.
fn is_launcher(name: &str) -> bool {
    ["srun", "flux", "jsrun", "aprun"].contains(&name)
        || ["mpirun", "mpiexec", "orterun", "prterun"].iter().any(|known| name.starts_with(known))
}

/// A command to start, with what is new in its environment.
#[derive(Debug, PartialEq, Eq)]
pub struct Launch {
    /// Variables to set before it starts.
    pub environment: Vec<(String, String)>,
    /// Program and arguments.
    pub command: Vec<OsString>,
}

/// `command` so that the ranks it starts preload `library` and see `variables`. `inherited` is the `LD_PRELOAD` of our
/// own environment; what was to be preloaded before still is, behind `library`, which has to see the calls first.
///
/// # Errors
/// The command says about the environment what cannot be joined with this.
pub fn prepare(
    launcher: Launcher,
    command: &[OsString],
    library: &str,
    inherited: Option<&str>,
    variables: &[(String, String)],
) -> Result<Launch, String> {
    let preload = |before: Option<&str>| match before.map(str::trim) {
        None | Some("") => library.to_owned(),
        Some(before) => format!("{library}:{before}"),
    };
    let mut environment = variables.to_vec();
    let place = Launcher::place(command);
    let (before, command) = command.split_at(place);
    let (program, rest) = command.split_first().ok_or("there is no command")?;
    // Launchers that hand their own environment on need to be told of the library only, which is not for themselves.
    let one_option = |rest: &[OsString], option: &[&str]| -> Vec<OsString> {
        option.iter().map(OsString::from).chain(rest.iter().cloned()).collect()
    };
    let setting = format!("LD_PRELOAD={}", preload(inherited));
    let words = match launcher {
        Launcher::OpenMpi => {
            // What stands before a colon holds for the ranks of that part of the job only.
            let parts = rest.split(|word| word == ":").map(|part| for_open_mpi(part, variables, inherited, &preload));
            parts.collect::<Vec<_>>().join(&OsString::from(":"))
        }
        Launcher::Hydra => {
            environment.clear();
            for_hydra(rest, variables, inherited, &preload)?
        }
        Launcher::Srun => {
            let exports = |word: &OsString| word == "--export" || word.to_string_lossy().starts_with("--export=");
            if launchers_own(rest).iter().any(exports) {
                return Err(format!(
                    "srun has an --export option already; write --export=ALL,LD_PRELOAD={library} there yourself, and \
                     start it without collie run"
                ));
            }
            let export = OsString::from(format!("--export=ALL,LD_PRELOAD={}", preload(inherited)));
            std::iter::once(export).chain(rest.iter().cloned()).collect()
        }
        Launcher::Flux => {
            let Some((subcommand, rest)) = rest.split_first().filter(|(word, _)| *word == "run" || *word == "submit")
            else {
                return Err("with flux, only `flux run` and `flux submit` can be given the library; use one of these"
                    .to_owned());
            };
            let mut words = vec![subcommand.clone()];
            words.extend(one_option(rest, &[&format!("--env={setting}")]));
            words
        }
        Launcher::Jsrun | Launcher::Pals => one_option(rest, &["--env", &setting]),
        Launcher::Aprun => one_option(rest, &["-e", &setting]),
        Launcher::None => {
            environment.push(("LD_PRELOAD".to_owned(), preload(inherited)));
            rest.to_vec()
        }
    };
    let command = before.iter().cloned().chain([program.clone()]).chain(words).collect();
    Ok(Launch { environment, command })
}

fn for_open_mpi(
    words: &[OsString],
    variables: &[(String, String)],
    inherited: Option<&str>,
    preload: &dyn Fn(Option<&str>) -> String,
) -> Vec<OsString> {
    let mut words = words.to_vec();
    let mut options = Vec::new();
    match find_pair(launchers_own(&words), &["-x", "--x"], |value| {
        value == "LD_PRELOAD" || value.starts_with("LD_PRELOAD=")
    }) {
        Some(place) => {
            let given = words[place].to_string_lossy().into_owned();
            let value = preload(given.split_once('=').map_or(inherited, |(_, value)| Some(value)));
            words[place] = format!("LD_PRELOAD={value}").into();
        }
        None => options.extend(["-x".to_owned(), format!("LD_PRELOAD={}", preload(inherited))]),
    }
    options.extend(variables.iter().flat_map(|(name, _)| ["-x".to_owned(), name.clone()]));
    options.into_iter().map(OsString::from).chain(words).collect()
}

fn for_hydra(
    words: &[OsString],
    variables: &[(String, String)],
    inherited: Option<&str>,
    preload: &dyn Fn(Option<&str>) -> String,
) -> Result<Vec<OsString>, String> {
    let mut words = words.to_vec();
    let mut options = Vec::new();
    match find_pair(launchers_own(&words), &["-genv", "--genv", "-env", "--env"], |value| value == "LD_PRELOAD") {
        Some(place) => {
            let value = words.get_mut(place + 1).ok_or("-genv LD_PRELOAD has no value")?;
            *value = preload(Some(&value.to_string_lossy())).into();
        }
        None => options.extend(["-genv".to_owned(), "LD_PRELOAD".to_owned(), preload(inherited)]),
    }
    options.extend(variables.iter().flat_map(|(name, value)| ["-genv".to_owned(), name.clone(), value.clone()]));
    Ok(options.into_iter().map(OsString::from).chain(words).collect())
}

/// The words of a launcher that stand before the program, whose own arguments may look like the launcher's: all where
/// the program is not found. A name without a folder may be the value of the option before it (`--map-by node`).
fn launchers_own(words: &[OsString]) -> &[OsString] {
    let may_be_value = |at: usize| at > 0 && words[at - 1].to_string_lossy().starts_with('-');
    let is_program = |(at, word): (usize, &OsString)| {
        executable(word).is_some() && (Path::new(word).components().count() > 1 || !may_be_value(at))
    };
    &words[..words.iter().enumerate().position(is_program).unwrap_or(words.len())]
}

/// Where the word behind one of `options` stands that `is_meant`.
fn find_pair(words: &[OsString], options: &[&str], is_meant: impl Fn(&str) -> bool) -> Option<usize> {
    let pairs = words.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| options.iter().any(|option| pair[0] == *option))
        .find(|(_, pair)| pair[1].to_str().is_some_and(&is_meant))
        .map(|(place, _)| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(launcher: Launcher, command: &str, inherited: Option<&str>) -> Result<(String, String), String> {
        let command: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let variables = [("COLLIE_BCAST".to_owned(), "linear".to_owned())];
        let launch = prepare(launcher, &command, "/l.so", inherited, &variables)?;
        let environment: Vec<_> = launch.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let command: Vec<_> = launch.command.iter().map(|word| word.to_string_lossy()).collect();
        Ok((environment.join(" "), command.join(" ")))
    }

    fn words(launcher: Launcher, command: &str, inherited: Option<&str>) -> (String, String) {
        prepared(launcher, command, inherited).unwrap()
    }

    fn pair(environment: &str, command: &str) -> (String, String) {
        (environment.to_owned(), command.to_owned())
    }

    #[test]
    fn open_mpi() {
        let found = words(Launcher::OpenMpi, "mpirun -n 2 ./a", None);
        assert_eq!(found, pair("COLLIE_BCAST=linear", "mpirun -x LD_PRELOAD=/l.so -x COLLIE_BCAST -n 2 ./a"));
        let found = words(Launcher::OpenMpi, "mpirun -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x LD_PRELOAD=/l.so:/m.so -x COLLIE_BCAST -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -x LD_PRELOAD=/t.so -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST -x LD_PRELOAD=/l.so:/t.so -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -x LD_PRELOAD -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST -x LD_PRELOAD=/l.so:/m.so -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -n 1 ./a : -n 2 ./b", None);
        let options = "-x LD_PRELOAD=/l.so -x COLLIE_BCAST";
        assert_eq!(found.1, format!("mpirun {options} -n 1 ./a : {options} -n 2 ./b"), "in each part");
    }

    #[test]
    fn hydra() {
        let found = words(Launcher::Hydra, "mpiexec -n 2 ./a", None);
        assert_eq!(found, pair("", "mpiexec -genv LD_PRELOAD /l.so -genv COLLIE_BCAST linear -n 2 ./a"));
        let found = words(Launcher::Hydra, "mpiexec -genv LD_PRELOAD /t.so -n 2 ./a", None);
        assert_eq!(found.1, "mpiexec -genv COLLIE_BCAST linear -genv LD_PRELOAD /l.so:/t.so -n 2 ./a");
    }

    #[test]
    fn srun() {
        let found = words(Launcher::Srun, "srun -n 2 ./a", Some(""));
        assert_eq!(found, pair("COLLIE_BCAST=linear", "srun --export=ALL,LD_PRELOAD=/l.so -n 2 ./a"));
        let words = prepared(Launcher::Srun, "srun --export=NONE ./a", None).unwrap_err();
        assert!(words.starts_with("srun has an --export option already"), "{words}");
    }

    #[test]
    fn arguments_of_the_program_are_its_own() {
        let found = words(Launcher::OpenMpi, "mpirun -n 2 /bin/sh -x LD_PRELOAD=/t.so", None);
        let options = "-x LD_PRELOAD=/l.so -x COLLIE_BCAST";
        assert_eq!(found.1, format!("mpirun {options} -n 2 /bin/sh -x LD_PRELOAD=/t.so"));
        let found = words(Launcher::OpenMpi, "mpirun --map-by sh -x LD_PRELOAD=/t.so -n 2 sh", None);
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST --map-by sh -x LD_PRELOAD=/l.so:/t.so -n 2 sh", "sh of an option");
        let found = words(Launcher::Hydra, "mpiexec -n 2 sh -env LD_PRELOAD /t.so", None);
        let options = "-genv LD_PRELOAD /l.so -genv COLLIE_BCAST linear";
        assert_eq!(found.1, format!("mpiexec {options} -n 2 sh -env LD_PRELOAD /t.so"));
        let found = words(Launcher::Srun, "srun --export-file=vars -n 2 sh --export=mesh", None);
        assert_eq!(found.1, "srun --export=ALL,LD_PRELOAD=/l.so --export-file=vars -n 2 sh --export=mesh");
    }

    #[test]
    fn the_program_itself() {
        let found = words(Launcher::None, "./a b", Some("/m.so"));
        assert_eq!(found, pair("COLLIE_BCAST=linear LD_PRELOAD=/l.so:/m.so", "./a b"));
    }

    #[test]
    fn launchers_by_what_they_say() {
        for (text, launcher) in [
            ("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs", Some(Launcher::OpenMpi)),
            ("mpirun (Open MPI) 5.0.7\n", Some(Launcher::OpenMpi)),
            ("HYDRA build details:\n    Version:  4.0.2\n", Some(Launcher::Hydra)),
            ("Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260626", Some(Launcher::Hydra)),
            ("mpirun 1.0 of nobody", None),
        ] {
            assert_eq!(Launcher::of_version(text), launcher, "{text}");
        }
    }

    #[test]
    fn launchers_behind_other_commands() {
        let found = words(Launcher::OpenMpi, "env X=1 timeout -k 1 60 mpirun -n 2 ./a", None);
        let line = "env X=1 timeout -k 1 60 mpirun -x LD_PRELOAD=/l.so -x COLLIE_BCAST -n 2 ./a";
        assert_eq!(found, pair("COLLIE_BCAST=linear", line));
        let found = words(Launcher::Srun, "nice srun -n 2 ./a", None);
        assert_eq!(found.1, "nice srun --export=ALL,LD_PRELOAD=/l.so -n 2 ./a");
        let command = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            Launcher::place(&command("./script mpirun")),
            0,
            "what ./script does with its words is its own business"
        );
        assert_eq!(Launcher::place(&command("taskset -c 0 ./app")), 0);
    }

    #[test]
    fn launchers_that_hand_their_environment_on() {
        let found = words(Launcher::Flux, "flux run -n 2 ./a", None);
        assert_eq!(found, pair("COLLIE_BCAST=linear", "flux run --env=LD_PRELOAD=/l.so -n 2 ./a"));
        assert!(prepared(Launcher::Flux, "flux batch x", None).unwrap_err().starts_with("with flux, only `flux run`"));
        let found = words(Launcher::Jsrun, "jsrun -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "jsrun --env LD_PRELOAD=/l.so:/m.so -n 2 ./a");
        let found = words(Launcher::Aprun, "aprun -n 2 ./a", None);
        assert_eq!(found.1, "aprun -e LD_PRELOAD=/l.so -n 2 ./a");
        let found = words(Launcher::Pals, "mpiexec -n 2 ./a", None);
        assert_eq!(found.1, "mpiexec --env LD_PRELOAD=/l.so -n 2 ./a");
    }
}
