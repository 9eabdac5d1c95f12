//! Which files this job's reports and trace are, decided at rank 0 when MPI starts: placeholders filled in, relative to the
//! folder of the command, and beside what another job wrote.

use crate::mpi::{communicator, node};
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report;
use crate::selection::{Configuration, ReportFormat, ReportTarget, file_names};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Rank 0's word, once it is told.
static FILES: OnceCell<Places> = OnceCell::new();

/// Where reports and the trace go. As far as this process knows, if MPI was started by a way that is not intercepted.
pub fn files(runtime: &Runtime) -> &'static Places {
    FILES.get_or_init(|| Places::of(runtime))
}

/// Decides at rank 0 where they go.
pub fn decide(runtime: &Runtime) -> &'static Places {
    FILES.get_or_init(|| Places::of(runtime).beside_others())
}

/// Takes over what rank 0 decided and encoded.
pub fn take_over(bytes: &[u8]) {
    FILES.get_or_init(|| Places::decode(bytes));
}

/// Where the files of this job go.
#[derive(Debug)]
pub struct Places {
    /// Reports.
    pub report: Vec<ReportTarget>,
    /// The trace.
    pub trace: Option<PathBuf>,
    /// Folder of the ranks' checkpoints.
    pub checkpoints: Option<PathBuf>,
    /// What tells this job from others.
    pub job: String,
    /// Where what has been written to is, by the name that it should have had.
    written: Mutex<Vec<(PathBuf, PathBuf)>>,
}

/// Between two paths; none holds it.
const BETWEEN: u8 = 0;

impl Places {
    /// What rank 0 wants, as far as this process knows.
    fn of(runtime: &Runtime) -> Self {
        let nothing_known = Configuration::default();
        // What is wrong with rank 0's ends the job there.
        let wanted = match &runtime.configuration {
            Ok(configuration) => configuration,
            Err(_) if runtime.world_rank == 0 => runtime.own_configuration(),
            Err(_) => &nothing_known,
        };
        let folder = crate::process::folder::of_command();
        let place = |path: &Path| {
            let name = file_names::expand(&path.to_string_lossy(), |letter| value(letter, runtime));
            of_spawned(folder.join(name))
        };
        let report = wanted.report.iter().map(|target| match target {
            ReportTarget::Stderr => ReportTarget::Stderr,
            ReportTarget::File { path, format } => ReportTarget::File { path: place(path), format: *format },
        });
        let report: Vec<_> = report.collect();
        let checkpoints = wanted.checkpoint_seconds.map(|_| checkpoints(&report, || place(Path::new("collie.json"))));
        let job = format!("{} {} {}", node::host(), std::process::id(), runtime.started_unix_ns());
        let trace = wanted.trace.as_deref().map(place);
        Self { report, trace, checkpoints, job, written: Mutex::default() }
    }

    /// The same, but beside the files of jobs before, which is told.
    fn beside_others(mut self) -> Self {
        let job = report::free(&self.paths().cloned().collect::<Vec<_>>());
        if job > 1 {
            let files = self.paths_mut().filter(|path| is_file(path));
            let others: Vec<_> = files.map(|path| numbered(path, job)).collect();
            let others = others.join(", ");
            log::tell(&format!("rank 0: files of another job exist already; this job's go to {others}"));
        }
        self
    }

    /// Whether there is a place for what a rank alone knows.
    pub fn take_single_ranks(&self) -> bool {
        !self.report.is_empty() || self.checkpoints.is_some()
    }

    /// Where this job has written what should be at `path`: it writes that anew. What it has not written yet has to go beside what
    /// another job may have written since this one began.
    pub fn own(&self, path: &Path) -> Option<PathBuf> {
        self.written.lock().iter().find(|(known, _)| known == path).map(|(_, at)| at.clone())
    }

    /// Has written what should be at `path`.
    pub fn has_written(&self, path: &Path, at: PathBuf) {
        if at != path {
            log::tell(&format!("{} belongs to another job; this job's file is {}", path.display(), at.display()));
        }
        self.written.lock().push((path.to_owned(), at));
    }

    /// As bytes, for the other ranks: the reports, an empty path for stderr, the trace and the checkpoints, empty ones for none,
    /// and the job.
    pub fn encode(&self) -> Vec<u8> {
        let report = self.report.iter().map(|target| match target {
            ReportTarget::Stderr => Path::new(""),
            ReportTarget::File { path, .. } => path,
        });
        let others = [&self.trace, &self.checkpoints].map(|path| path.as_deref().unwrap_or(Path::new("")));
        let paths = report.chain(others).map(|path| path.as_os_str().as_bytes());
        paths.chain([self.job.as_bytes()]).collect::<Vec<_>>().join(&BETWEEN)
    }

    /// What rank 0 encoded.
    fn decode(bytes: &[u8]) -> Self {
        let mut paths: Vec<_> =
            bytes.split(|byte| *byte == BETWEEN).map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect();
        let job = paths.pop().unwrap_or_default().to_string_lossy().into_owned();
        let mut path = || paths.pop().filter(|path| !path.as_os_str().is_empty());
        let (checkpoints, trace) = (path(), path());
        let report = paths.into_iter().map(|path| {
            // Rank 0 has refused other endings.
            match path.extension().and_then(OsStr::to_str).and_then(ReportFormat::from_ending) {
                Some(format) => ReportTarget::File { path, format },
                None => ReportTarget::Stderr,
            }
        });
        Self { report: report.collect(), trace, checkpoints, job, written: Mutex::default() }
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let report = self.report.iter().filter_map(|target| match target {
            ReportTarget::Stderr => None,
            ReportTarget::File { path, .. } => Some(path),
        });
        report.chain(&self.trace).chain(&self.checkpoints)
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let report = self.report.iter_mut().filter_map(|target| match target {
            ReportTarget::Stderr => None,
            ReportTarget::File { path, .. } => Some(path),
        });
        report.chain(&mut self.trace).chain(&mut self.checkpoints)
    }
}

/// The folder of checkpoints: `run.checkpoint` beside `run.json`, or the like of another name where no file is written.
fn checkpoints(report: &[ReportTarget], other: impl FnOnce() -> PathBuf) -> PathBuf {
    let file = report.iter().find_map(|target| match target {
        ReportTarget::File { path, .. } if is_file(path) => Some(path.clone()),
        _ => None,
    });
    file.unwrap_or_else(other).with_extension("checkpoint")
}

/// Numbers the path and shows it.
fn numbered(path: &mut PathBuf, job: u32) -> String {
    *path = report::numbered(path, job);
    path.display().to_string()
}

/// Not a pipe or a device. What is not there yet will be one, or a folder.
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir())
}

/// Spawned processes have a `MPI_COMM_WORLD` of their own, with the environment of those that spawned them, and are not to
/// take the place of the others' files: `report.json` is `report.spawned-4711.json` for those of which the first is process
/// 4711. Pipes and devices are what they are.
fn of_spawned(path: PathBuf) -> PathBuf {
    if communicator::has_parent() && is_file(&path) {
        report::with_word(&path, &format!("spawned-{}", std::process::id()))
    } else {
        path
    }
}

/// What the placeholder stands for.
fn value(letter: char, runtime: &Runtime) -> String {
    match letter {
        'p' => std::process::id().to_string(),
        'j' => job().unwrap_or_else(|| std::process::id().to_string()),
        'h' => node::host(),
        't' => start_time(runtime),
        _ => std::env::args_os()
            .next()
            .map(PathBuf::from)
            .map_or_else(String::new, |program| program.file_name().unwrap_or_default().to_string_lossy().into_owned()),
    }
}

/// The batch system's number of the job, or else the launcher's.
fn job() -> Option<String> {
    const VARIABLES: [&str; 9] = [
        "SLURM_JOB_ID",
        "PBS_JOBID",
        "LSB_JOBID",
        "PJM_JOBID",
        "FLUX_JOB_ID",
        "COBALT_JOBID",
        "OAR_JOB_ID",
        // Grid Engine.
        "JOB_ID",
        // Open MPI's launchers.
        "PMIX_NAMESPACE",
    ];
    let set = |variable| std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
    VARIABLES.into_iter().find_map(set)
}

/// When MPI started, in local time.
pub fn start_time(runtime: &Runtime) -> String {
    let seconds = (runtime.started_unix_ns() / 1_000_000_000) as libc::time_t;
    let mut time = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: the out-parameter is valid for writes; all zeros is a valid value where nothing is written.
    let time = unsafe {
        libc::localtime_r(&raw const seconds, time.as_mut_ptr());
        time.assume_init()
    };
    let (year, month) = (time.tm_year + 1900, time.tm_mon + 1);
    format!("{year:04}{month:02}{:02}T{:02}{:02}{:02}", time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec)
}
