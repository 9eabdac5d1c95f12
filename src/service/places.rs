//! Which files this job's reports and trace are, and which folder its checkpoints go to, decided at rank 0 when MPI
//! starts: placeholders filled in, relative to the folder of the command, and beside what another job wrote.

use crate::mpi::{communicator, node};
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report::{self, Claim};
use crate::selection::{Configuration, ReportFormat, ReportTarget, file_names, variables};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::mem::MaybeUninit;
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

/// Takes over what rank 0 decided.
pub fn take_over(decided: Decided) {
    FILES.get_or_init(|| decided.into());
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
    /// Keeps other jobs off that folder, at rank 0.
    _claim: Option<Claim>,
    /// Where what has been written to is, by the name that it should have had.
    written: Mutex<Vec<(PathBuf, PathBuf)>>,
}

/// The same as it goes to the other ranks. File names need not be UTF-8: `PathBuf` can only be encoded where they are,
/// `OsString` always.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decided {
    /// None for stderr.
    report: Vec<Option<(OsString, ReportFormat)>>,
    trace: Option<OsString>,
    checkpoints: Option<OsString>,
    job: String,
}

impl From<Decided> for Places {
    fn from(decided: Decided) -> Self {
        let Decided { report, trace, checkpoints, job } = decided;
        let report = report.into_iter().map(|file| match file {
            None => ReportTarget::Stderr,
            Some((path, format)) => ReportTarget::File { path: path.into(), format },
        });
        let [trace, checkpoints] = [trace, checkpoints].map(|path| path.map(PathBuf::from));
        Self { report: report.collect(), trace, checkpoints, job, _claim: None, written: Mutex::default() }
    }
}

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
        Self { report, trace, checkpoints, job, _claim: None, written: Mutex::default() }
    }

    /// The same, but beside the files of jobs before, which is told.
    fn beside_others(mut self) -> Self {
        self.trace_apart();
        let files: Vec<_> = self.files().cloned().collect();
        let mut claim = None;
        let job = report::free(&files, self.checkpoints.as_deref(), |job| {
            let Some(folder) = &self.checkpoints else { return true };
            claim = report::claim(&report::numbered(folder, job));
            claim.is_some()
        });
        self._claim = claim;
        if job > 1 {
            let files = self.paths_mut().filter(|path| is_file(path));
            let others: Vec<_> = files.map(|path| numbered(path, job)).collect();
            let others = others.join(", ");
            log::tell(&format!("rank 0: files of another job exist already; this job's go to {others}"));
        }
        self
    }

    /// Gives the trace a name of its own where it has that of a report, once in full and once relative to a folder.
    fn trace_apart(&mut self) {
        let Some(trace) = &self.trace else { return };
        let is_it = |target: &ReportTarget| matches!(target, ReportTarget::File { path, .. } if path == trace);
        if self.report.iter().any(is_it) {
            let apart = report::with_word(trace, "trace");
            log::tell(&format!(
                "rank 0: {} and {} name one file; the trace goes to {}",
                variables::REPORT,
                variables::TRACE,
                apart.display()
            ));
            self.trace = Some(apart);
        }
    }

    /// Whether there is a place for what a rank alone knows.
    pub fn take_single_ranks(&self) -> bool {
        !self.report.is_empty() || self.checkpoints.is_some()
    }

    /// Where this job has written what should be at `path`: it writes that anew. What it has not written yet has to go
    /// beside what another job may have written since this one began.
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

    /// What the other ranks are to know of it.
    pub fn decided(&self) -> Decided {
        let report = self.report.iter().map(|target| match target {
            ReportTarget::Stderr => None,
            ReportTarget::File { path, format } => Some((path.clone().into(), *format)),
        });
        let [trace, checkpoints] = [&self.trace, &self.checkpoints].map(|path| path.clone().map(OsString::from));
        Decided { report: report.collect(), trace, checkpoints, job: self.job.clone() }
    }

    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let report = self.report.iter().filter_map(|target| match target {
            ReportTarget::Stderr => None,
            ReportTarget::File { path, .. } => Some(path),
        });
        report.chain(&self.trace)
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

/// Spawned processes have a `MPI_COMM_WORLD` of their own, with the environment of those that spawned them, and are not
/// to take the place of the others' files: `report.json` is `report.spawned-4711.json` for those of which the first is
/// process 4711. Pipes and devices are what they are.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_trace_does_not_take_the_place_of_a_report() {
        let file = |path: &str, format| ReportTarget::File { path: path.into(), format };
        let report = vec![file("/runs/a.txt", ReportFormat::Text), file("/runs/a.json", ReportFormat::Json)];
        for (trace, apart) in [("/runs/./a.json", "/runs/a.trace.json"), ("/runs/a", "/runs/a")] {
            let (report, trace, job) = (report.clone(), Some(trace.into()), String::new());
            let mut places = Places { report, trace, checkpoints: None, job, _claim: None, written: Mutex::default() };
            places.trace_apart();
            assert_eq!(places.trace.as_deref(), Some(Path::new(apart)));
        }
    }

    #[test]
    fn what_is_decided_reaches_the_other_ranks_whatever_the_names_are() {
        let not_utf8 = |beginning: &str, end: &str| {
            PathBuf::from(OsString::from_vec([beginning.as_bytes(), b"\xff\xfe", end.as_bytes()].concat()))
        };
        let file = ReportTarget::File { path: not_utf8("/tmp/run ", ".csv"), format: ReportFormat::Csv };
        let (trace, checkpoints) = (Some(not_utf8("/", "")), None);
        let report = vec![file, ReportTarget::Stderr];
        let decided =
            Places { report, trace, checkpoints, job: "host 1 2".to_owned(), _claim: None, written: Mutex::default() };
        let bytes = postcard::to_stdvec(&decided.decided()).unwrap();
        let known = Places::from(postcard::from_bytes::<Decided>(&bytes).unwrap());
        assert_eq!((&known.report, &known.trace), (&decided.report, &decided.trace));
        assert_eq!((&known.checkpoints, &known.job), (&decided.checkpoints, &decided.job));
    }
}
