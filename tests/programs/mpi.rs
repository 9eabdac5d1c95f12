//! The MPIs: how each compiles and launches, and where its build of the library lies.

use crate::job::{Job, Outcome};
use libtest_mimic::Failed;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

/// Longest that any one job may take: seconds on idle cores, minutes where others load the machine.
const LIMIT: Duration = Duration::from_secs(300);

/// One MPI.
#[derive(Debug)]
pub struct Family {
    /// Name of its folder under `dist`.
    pub name: &'static str,
    mpicc: &'static str,
    mpicxx: &'static str,
    mpifort: &'static str,
    mpirun: &'static str,
}

/// Every MPI that the library is built for.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "openmpi",
        mpicc: "mpicc.openmpi",
        mpicxx: "mpicxx.openmpi",
        mpifort: "mpifort.openmpi",
        mpirun: "mpirun.openmpi",
    },
    Family {
        name: "mpich",
        mpicc: "mpicc.mpich",
        mpicxx: "mpicxx.mpich",
        mpifort: "mpifort.mpich",
        mpirun: "mpirun.mpich",
    },
];

/// One `mpirun`.
#[derive(Debug)]
pub struct Launch<'a> {
    /// Number of ranks.
    pub ranks: usize,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables for all ranks.
    pub variables: &'a [(&'a str, &'a str)],
    /// Libraries to preload, in order.
    pub preload: Vec<PathBuf>,
    /// More ranks of other programs: their number and command.
    pub others: Vec<(usize, Vec<String>)>,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for what tests build and write.
pub fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Runs a tool that ends by itself, and gives its standard output.
pub fn tool(command: &mut Command) -> Result<String, Failed> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| format!("{name}: {error}; scripts/install installs what is missing"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// One program for all ranks of an Open MPI job that becomes what its rank is to run: the number of ranks, its command.
fn by_rank(parts: &[(usize, Vec<String>)]) -> (usize, Vec<String>) {
    let (mut script, mut begin) = (String::from("case $OMPI_COMM_WORLD_RANK in"), 0);
    for (ranks, words) in parts {
        let numbers: Vec<_> = (begin..begin + ranks).map(|rank| rank.to_string()).collect();
        let words: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        script += &format!(" {}) exec {} ;;", numbers.join("|"), words.join(" "));
        begin += ranks;
    }
    (begin, ["sh", "-c", &(script + " esac")].map(str::to_owned).to_vec())
}

impl Family {
    /// This MPI's build of the library.
    pub fn library(&self) -> Result<PathBuf, Failed> {
        if tool(Command::new(self.mpicc).arg("--version")).is_err() {
            return Err(format!("there is no {}; scripts/install installs it", self.mpicc).into());
        }
        let library = root().join(format!("dist/{}/lib/libcollie.so", self.name));
        if library.exists() { Ok(library) } else { Err(format!("no {}; run scripts/build", library.display()).into()) }
    }

    /// What is preloaded into the ranks: the library, and for MPICH what makes its polling bearable.
    pub fn preload(&self) -> Result<Vec<PathBuf>, Failed> {
        let mut preload = vec![self.library()?];
        preload.extend(self.patience()?);
        Ok(preload)
    }

    /// The help that eight polling ranks on few cores need; see `c_tests/yield.c`.
    pub fn patience(&self) -> Result<Option<PathBuf>, Failed> {
        if self.name == "mpich" { self.compiled("yield.c", &["-shared", "-fPIC", "-ldl"]).map(Some) } else { Ok(None) }
    }

    /// The program compiled from `c_tests/<source>`.
    pub fn program(&self, source: &str) -> Result<PathBuf, Failed> {
        self.compiled(source, &[])
    }

    /// `c_tests/<source>` compiled with this MPI's wrapper and more flags, once and then kept while nothing changes.
    pub fn compiled(&self, source: &str, flags: &[&str]) -> Result<PathBuf, Failed> {
        static DONE: LazyLock<Mutex<HashMap<PathBuf, Result<(), String>>>> = LazyLock::new(Mutex::default);
        let folder = scratch().join(self.name);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let linked = if flags.is_empty() { "" } else { ".with_flags" };
        let target = folder.join(format!("{source}{linked}"));
        let mut done = DONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let compile =
            || self.compile(source, flags, &target).map_err(|failed| failed.message().unwrap_or("").to_owned());
        done.entry(target.clone()).or_insert_with(compile).clone()?;
        Ok(target)
    }

    fn compile(&self, source: &str, flags: &[&str], target: &Path) -> Result<(), Failed> {
        const STRICT: [&str; 6] = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];
        let mut command = match source.rsplit_once('.') {
            Some((_, "c")) => Command::new(self.mpicc),
            Some((_, "cpp")) => Command::new(self.mpicxx),
            _ => Command::new(self.mpifort),
        };
        command.current_dir(target.parent().expect("targets lie in a folder"));
        match source.rsplit_once('.') {
            Some((_, "c")) => command.arg("-std=gnu11").args(STRICT),
            // Without the C++ bindings, which MPI no longer has.
            Some((_, "cpp")) => {
                command.args(["-std=gnu++17", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]).args(STRICT)
            }
            // MPI's choice buffers are of any type, which gfortran forgives mpif.h only when told to.
            _ => command.args(["-O1", "-g", "-fallow-argument-mismatch", "-w"]),
        };
        command.arg(root().join("c_tests").join(source)).args(flags).arg("-lm").arg("-o").arg(target);
        tool(&mut command).map(drop)
    }

    /// Whether its launcher dies of a job of several programs, whatever they are: Debian's and Ubuntu's mpirun of Open MPI
    /// 5.0 does (5.0.7 to 5.0.10, open-mpi/ompi#13303).
    fn dies_of_several_programs(&self) -> Result<bool, Failed> {
        tool(Command::new(self.mpirun).arg("--version")).map(|version| version.contains("(Open MPI) 5.0."))
    }

    /// Runs a job to its end, or ends it when it takes too long.
    pub fn run(&self, launch: &Launch) -> Result<Outcome, Failed> {
        self.run_within(launch, LIMIT)
    }

    /// The same for a job that may hang by itself: ended after `limit`.
    pub fn run_within(&self, launch: &Launch, limit: Duration) -> Result<Outcome, Failed> {
        let mut command = Command::new(self.mpirun);
        // cargo's own would put the libcollie.so of these tests, which knows no MPI, before the one a program links.
        command.env_remove("LD_LIBRARY_PATH");
        let preload: Vec<_> = launch.preload.iter().map(|path| path.display().to_string()).collect();
        let preload = preload.join(":");
        let mut variables = launch.variables.to_vec();
        // What is tested is to run from the first call on every communicator, unless the test is about that.
        if !variables.iter().any(|(name, _)| *name == "COLLIE_AFTER") {
            variables.push(("COLLIE_AFTER", "1"));
        }
        if !preload.is_empty() {
            variables.push(("LD_PRELOAD", &preload));
        }
        let openmpi = self.name == "openmpi";
        if openmpi {
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.arg("--oversubscribe");
        } else {
            for (name, value) in &variables {
                command.args(["-genv", name, value]);
            }
        }
        let first = (launch.ranks, launch.command.clone());
        let mut parts: Vec<_> = std::iter::once(first).chain(launch.others.iter().cloned()).collect();
        if parts.len() > 1 && openmpi && self.dies_of_several_programs()? {
            parts = vec![by_rank(&parts)];
        }
        for (place, (ranks, words)) in parts.iter().enumerate() {
            if place > 0 {
                command.arg(":");
            }
            // Open MPI passes variables to the ranks of one program only.
            for (name, value) in variables.iter().filter(|_| openmpi) {
                command.arg("-x").arg(format!("{name}={value}"));
            }
            command.arg("-n").arg(ranks.to_string()).args(words);
        }
        Job::start(command)?.finish(limit)
    }
}
