//! Spawned processes: a `MPI_COMM_WORLD` of their own, with the environment of those that spawned them. What they write must
//! not take the place of the others' files.

use super::outputs::with_word;
use super::runtime::Runtime;
use crate::mpi::communicator;
use crate::selection::ReportTarget;
use once_cell::sync::OnceCell;
use std::path::{Path, PathBuf};

/// What tells the files of this `MPI_COMM_WORLD` from those of others: nothing for one that `mpirun` started.
#[derive(Debug, Default)]
pub struct World(OnceCell<Option<u32>>);

impl World {
    /// Not known yet.
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// `first` is the process of rank 0.
    pub fn told(&self, first: u32) {
        self.0.get_or_init(|| communicator::has_parent().then_some(first));
    }

    /// `report.json` is `report.spawned-4711.json` for processes of which the first is process 4711. Pipes and devices are
    /// what they are.
    pub fn path(&self, path: &Path) -> PathBuf {
        // Nobody has told where MPI was started by a way that is not intercepted.
        let first = self.0.get_or_init(|| communicator::has_parent().then(std::process::id));
        match first {
            Some(first) if std::fs::metadata(path).map_or(true, |found| found.is_file()) => {
                with_word(path, &format!("spawned-{first}"))
            }
            _ => path.to_owned(),
        }
    }
}

/// Where a report of this process's world goes.
pub fn target(runtime: &Runtime, target: &ReportTarget) -> ReportTarget {
    match target {
        ReportTarget::Stderr => ReportTarget::Stderr,
        ReportTarget::File { path, format } => ReportTarget::File { path: runtime.world.path(path), format: *format },
    }
}
