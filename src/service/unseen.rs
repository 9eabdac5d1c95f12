//! Processes that used MPI without a call that came by: they have no report, which is told where it could be looked for.

use crate::mpi::library;
use crate::process::{log, runtime};

/// Where launchers and batch systems put a process's rank: what MPI knew is gone by the end.
const RANKS: [&str; 5] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID"];

/// Tells so, as the process ends. One of a job's ranks does.
pub fn tell_if_past() {
    let rank = RANKS.iter().find_map(|name| std::env::var(name).ok());
    // Of two that are loaded the calls come to the first.
    if !runtime::has_never_started() || rank.is_some_and(|rank| rank != "0") || library::is_there_twice() {
        return;
    }
    if let Some(file) = library::initialised() {
        log::tell(&words(&file));
    }
}

fn words(file: &str) -> String {
    format!(
        "this process used MPI ({file}) past libcollie.so, which saw no MPI_Init: nothing was replaced or recorded. \
         Another tool may be preloaded before it, or the program looks up MPI's functions in the MPI library itself"
    )
}
