//! What starts the ranks of a job, and where it stands in a command.

use super::program::name_of;
use crate::family::Family;
use std::ffi::{OsStr, OsString};
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
    /// flux run or flux submit: --env=NAME=value
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

/// Whether a program of that name starts the ranks of a job.
fn is_launcher(name: &str) -> bool {
    ["srun", "flux", "jsrun", "aprun"].contains(&name)
        || ["mpirun", "mpiexec", "orterun", "prterun"].iter().any(|known| name.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn launchers_stand_behind_known_commands_only() {
        let command = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            Launcher::place(&command("./script mpirun")),
            0,
            "what ./script does with its words is its own business"
        );
        assert_eq!(Launcher::place(&command("taskset -c 0 ./app")), 0);
    }
}
