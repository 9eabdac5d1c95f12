//! The MPIs: how each compiles and launches, and where its build of the library lies.

use crate::job::{Job, Outcome};
use libtest_mimic::Failed;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

/// Longest that any one job may take: seconds on idle cores, minutes where others load the machine.
pub const LIMIT: Duration = Duration::from_secs(300);

/// One MPI.
#[derive(Debug)]
pub struct Family {
    /// What its tests are called after.
    pub name: String,
    /// The folder under `dist` of the library that serves it.
    pub kind: &'static str,
    /// The folder that it was installed into from PyPI; Debian's otherwise.
    wheel: Option<PathBuf>,
    mpicc: String,
    mpicxx: String,
    /// Those from PyPI have no Fortran.
    mpifort: Option<String>,
    mpirun: String,
}

/// The MPIs of Debian, and those from PyPI that `COLLIE_TEST_MPI` names, separated by commas: scripts/test sets it.
pub fn families() -> &'static [Family] {
    static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
        let named = std::env::var("COLLIE_TEST_MPI").unwrap_or_default();
        let wheels = named.split(',').filter(|name| !name.is_empty()).map(Family::of_wheel);
        ["openmpi", "mpich"].into_iter().map(Family::of_debian).chain(wheels).collect()
    });
    &FAMILIES
}

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

/// The build for a family of MPIs.
pub fn library_of(kind: &str) -> Result<PathBuf, Failed> {
    let library = root().join(format!("dist/{kind}/lib/libcollie.so"));
    if library.exists() { Ok(library) } else { Err(format!("no {}; run scripts/build", library.display()).into()) }
}

impl Family {
    fn of_debian(kind: &'static str) -> Self {
        let named = |program: &str| format!("{program}.{kind}");
        let (name, mpifort) = (kind.to_owned(), Some(named("mpifort")));
        let (mpicc, mpicxx, mpirun) = (named("mpicc"), named("mpicxx"), named("mpirun"));
        Self { name, kind, wheel: None, mpicc, mpicxx, mpifort, mpirun }
    }

    /// One that scripts/wheels installs; `abi` is the standard ABI as MPICH 5 has it.
    fn of_wheel(name: &str) -> Self {
        let (kind, folder, suffix) = match name {
            "abi" => ("abi", "mpich5", "_abi"),
            _ if name.starts_with("openmpi") => ("openmpi", name, ""),
            _ => ("mpich", name, ""),
        };
        let folder = root().join("target/wheels").join(folder);
        let program = |program: &str| folder.join("bin").join(program).display().to_string();
        let (mpicc, mpicxx) = (program(&format!("mpicc{suffix}")), program(&format!("mpicxx{suffix}")));
        let mpirun = program("mpirun");
        Self { name: name.to_owned(), kind, mpicc, mpicxx, mpifort: None, mpirun, wheel: Some(folder) }
    }

    /// Whether it is one of those that only a selection of the tests is run with, unless `COLLIE_TEST_MPI_ALL=1`.
    pub fn is_sampled(&self) -> bool {
        self.wheel.is_some() && std::env::var("COLLIE_TEST_MPI_ALL").map_or(true, |value| value != "1")
    }

    /// The Python whose mpi4py runs on it: those from PyPI have one, but for the standard ABI.
    pub fn python(&self) -> Option<PathBuf> {
        self.wheel.as_ref().filter(|_| self.kind != "abi").map(|wheel| wheel.join("bin/python"))
    }

    /// Whether it compiles Fortran.
    pub fn has_fortran(&self) -> bool {
        self.mpifort.is_some()
    }

    /// Whether it is Open MPI.
    pub fn is_open_mpi(&self) -> bool {
        self.kind == "openmpi"
    }

    /// Its launcher, which may be run as root.
    pub fn launcher(&self) -> Command {
        let mut command = Command::new(&self.mpirun);
        // cargo's own would put the libcollie.so of these tests, which knows no MPI, before the one a program links.
        command.env_remove("LD_LIBRARY_PATH");
        if self.is_open_mpi() {
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.arg("--oversubscribe");
        }
        if let Some(wheel) = &self.wheel {
            // Intel's launcher starts others by name, and its programs have no folder to look for their libraries in.
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", wheel.join("bin").display()));
            command.env("LD_LIBRARY_PATH", wheel.join("lib"));
        }
        command
    }

    /// A compiler wrapper.
    fn compiler(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(wheel) = &self.wheel {
            // Only Intel's looks at it.
            command.env("I_MPI_ROOT", wheel);
        }
        command
    }

    /// This MPI's build of the library.
    pub fn library(&self) -> Result<PathBuf, Failed> {
        if tool(self.compiler(&self.mpicc).arg("--version")).is_err() {
            let installs = if self.wheel.is_some() { "scripts/wheels" } else { "scripts/install" };
            return Err(format!("there is no {}; {installs} installs it", self.mpicc).into());
        }
        library_of(self.kind)
    }

    /// The builds that are for others of the MPIs that are tested: Debian's two are always among them.
    pub fn other_libraries(&self) -> Result<Vec<PathBuf>, Failed> {
        let kinds: BTreeSet<_> = families().iter().map(|family| family.kind).collect();
        kinds.into_iter().filter(|kind| *kind != self.kind).map(library_of).collect()
    }

    /// What is preloaded into the ranks: the library, and for MPICH what makes its polling bearable.
    pub fn preload(&self) -> Result<Vec<PathBuf>, Failed> {
        let mut preload = vec![self.library()?];
        preload.extend(self.patience()?);
        Ok(preload)
    }

    /// The help that eight polling ranks on few cores need; see `c_tests/yield.c`.
    pub fn patience(&self) -> Result<Option<PathBuf>, Failed> {
        if self.kind != "openmpi" {
            self.compiled("yield.c", &["-shared", "-fPIC", "-ldl"]).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The program compiled from `c_tests/<source>`.
    pub fn program(&self, source: &str) -> Result<PathBuf, Failed> {
        self.compiled(source, &[])
    }

    /// `c_tests/<source>` compiled with this MPI's wrapper and more flags, once and then kept while nothing changes.
    pub fn compiled(&self, source: &str, flags: &[&str]) -> Result<PathBuf, Failed> {
        static DONE: LazyLock<Mutex<HashMap<PathBuf, Result<(), String>>>> = LazyLock::new(Mutex::default);
        let folder = scratch().join(&self.name);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let flags_in_name: String = flags.concat().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let target = folder.join(format!("{source}{flags_in_name}"));
        let mut done = DONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let compile =
            || self.compile(source, flags, &target).map_err(|failed| failed.message().unwrap_or("").to_owned());
        done.entry(target.clone()).or_insert_with(compile).clone()?;
        Ok(target)
    }

    fn compile(&self, source: &str, flags: &[&str], target: &Path) -> Result<(), Failed> {
        const STRICT: [&str; 6] = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];
        let mut command = match (source.rsplit_once('.'), &self.mpifort) {
            (Some((_, "c")), _) => self.compiler(&self.mpicc),
            (Some((_, "cpp")), _) => self.compiler(&self.mpicxx),
            (_, Some(mpifort)) => self.compiler(mpifort),
            _ => return Err(format!("{} compiles no Fortran", self.name).into()),
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

    /// Whether its launcher dies of a job of several programs, whatever they are: Debian's and Ubuntu's mpirun of Open
    /// MPI 5.0 does (5.0.7 to 5.0.10, open-mpi/ompi#13303).
    fn dies_of_several_programs(&self) -> Result<bool, Failed> {
        self.is_open_mpi_5()
    }

    /// Whether it is Open MPI 5.0, whose launcher is PRRTE.
    pub fn is_open_mpi_5(&self) -> Result<bool, Failed> {
        tool(Command::new(&self.mpirun).arg("--version")).map(|version| version.contains("(Open MPI) 5.0."))
    }

    /// Runs a job to its end, or ends it when it takes too long. Again, where the launcher got a wrong end of it.
    pub fn run(&self, launch: &Launch) -> Result<Outcome, Failed> {
        let outcome = self.run_within(launch, LIMIT)?;
        if self.has_tripped(&outcome) { self.run_within(launch, LIMIT) } else { Ok(outcome) }
    }

    /// Whether the launcher itself went wrong, as happens once in thousands of jobs on a busy machine: Open MPI 4's
    /// takes a rank that has ended for one that has left MPI out, and has no number for its process any more; Intel
    /// MPI's dies of a pipe that its ranks have closed.
    fn has_tripped(&self, outcome: &Outcome) -> bool {
        if self.is_open_mpi() {
            outcome.stderr.contains(" with PID 0 on") && outcome.stderr.contains("exiting improperly")
        } else {
            outcome.status == Some(141)
        }
    }

    /// The same for a job that may hang by itself: ended after `limit`.
    pub fn run_within(&self, launch: &Launch, limit: Duration) -> Result<Outcome, Failed> {
        let mut command = self.launcher();
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
        let openmpi = self.is_open_mpi();
        if openmpi {
            // Its launcher gives ranks that it ends by SIGTERM no time to speak of before it kills them, unless told
            // so. It lets all of that pass, so those that write no report get less.
            let reports = variables.iter().any(|(name, value)| *name == "COLLIE_REPORT" && *value != "off");
            let seconds = if reports { "4" } else { "2" };
            command.env("OMPI_MCA_odls_base_sigkill_timeout", seconds);
            command.env("PRTE_MCA_odls_base_sigkill_timeout", seconds);
        }
        if !openmpi {
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
        let ranks = parts.iter().map(|(ranks, _)| ranks).sum();
        Job::start(command, ranks)?.finish(limit)
    }
}
