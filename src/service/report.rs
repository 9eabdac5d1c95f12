//! The report of all ranks.

use super::partial::{self, OnStderr};
use super::record::{self, Moment};
use super::{learned, outputs, places, synchronise, trace};
use crate::call::attachment::Visit;
use crate::communicator::making;
use crate::monitor::{Bounds, Merged, RankRecord, Summary, TrafficRecord};
use crate::mpi::bytes::{self, ToRoot};
use crate::mpi::{Error, Result, communicator, constants};
use crate::process::floating_point::apart;
use crate::process::guard;
use crate::process::log;
use crate::process::monitoring::Monitoring;
use crate::process::runtime::Runtime;
use crate::report::{left_out, name_sites};
use serde::{Deserialize, Serialize};
use std::os::raw::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// What rank 0 wants the ranks' records for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Wanted {
    report: bool,
    trace: bool,
    learned: bool,
}

impl Wanted {
    /// By this process: it is rank 0.
    fn here(runtime: &Runtime, is_last: bool) -> Self {
        let files = places::files(runtime);
        Self {
            report: !files.report.is_empty(),
            trace: files.trace.is_some(),
            learned: is_last && learned::is_kept(runtime),
        }
    }
}

/// What reports before the last one took, on rank 0.
static EARLIER_NS: AtomicU64 = AtomicU64::new(0);

/// Gathers what all ranks recorded and writes it at rank 0. Collective over `MPI_COMM_WORLD`. False if it could not be
/// written; nothing of the program's depends on that.
pub fn report(runtime: &Runtime) -> bool {
    // An error handler of the program's may ask for it, in the middle of a call that goes on afterwards.
    gather(runtime, if guard::is_in_a_call() { Visit::InACall } else { Visit::BetweenCalls }, false)
}

/// The same at the end of the run, where what was learned is handed on to the runs to come.
pub fn last_report(runtime: &Runtime) -> bool {
    gather(runtime, Visit::BetweenCalls, true)
}

/// What this rank alone knows, where others may not have come to Collie. False, as it is not the report of all ranks.
pub fn of_this_rank(runtime: &Runtime) -> bool {
    let others_are_missed = places::files(runtime).trace.is_some() || learned::is_kept(runtime);
    if runtime.world_rank == 0 && others_are_missed {
        log::tell(
            "no trace is written, and nothing to the file of COLLIE_LEARN: MPI_Init was called past Collie, and other ranks might \
             not answer",
        );
    }
    let when = "in MPI_Finalize, as MPI_Init was called past Collie and other ranks might not answer";
    partial::report(runtime, when, Visit::BetweenCalls, OnStderr::FirstRank);
    false
}

fn gather(runtime: &Runtime, visit: Visit, is_last: bool) -> bool {
    // Before anything waits for other ranks.
    let now = Moment::now(runtime);
    // Counted before the gathering adds to it.
    let native = runtime.monitoring.as_ref().map(Monitoring::records).unwrap_or_default();
    apart(|| runtime.uncounted(|| gather_and_write(runtime, (now, native), visit, is_last))).unwrap_or_else(|error| {
        if Wanted::here(runtime, is_last) != Wanted::default() {
            log::tell(&format!("rank {}: the report could not be gathered: {error}", runtime.world_rank));
        }
        // As where a process has failed and the program goes on without it.
        if is_last {
            let when = "in MPI_Finalize, as not all ranks could be asked";
            partial::report(runtime, when, Visit::BetweenCalls, OnStderr::FirstRank);
        }
        false
    })
}

fn gather_and_write(
    runtime: &Runtime,
    (now, native): (Moment, [Vec<TrafficRecord>; 2]),
    visit: Visit,
    is_last: bool,
) -> Result<bool> {
    let at_root = runtime.world_rank == 0;
    let own = at_root.then(|| Wanted::here(runtime, is_last));
    let wanted = bytes::of_first(constants::comm_world(), own.as_ref())?;
    if wanted == Wanted::default() {
        return Ok(true);
    }
    // Late ranks are waited for here, which is no cost of the report's.
    communicator::all(constants::comm_world(), true)?;
    let begun = runtime.clock.raw();
    let [native_traffic, native_collectives] = native;
    let combined = synchronise::combine(runtime, visit)?;
    let record = record::of_this_rank(runtime, combined, visit, now);
    if let Some(words) = left_out(&record.under_way) {
        let rank = runtime.world_rank;
        log::tell(&format!("rank {rank}: the report leaves out {words}"));
    }
    let record = RankRecord { native_traffic, native_collectives, ..record };
    let leave = if runtime.world_size > 1 { making::ask(constants::comm_world())? } else { None };
    let way = ToRoot::open(runtime.world_rank, runtime.world_size, leave.is_some())?;
    drop(leave);
    let mut written = true;
    if wanted.trace {
        let path = if at_root { places::files(runtime).trace.as_deref() } else { None };
        written = trace::write(runtime, &way, path, &record)?;
    }
    let all = if wanted.report || wanted.learned { merged(&way, record)? } else { None };
    way.close()?;
    if let Some(all) = all {
        let mut summary = all.finish();
        name_sites(&mut summary);
        let taken = runtime.nanoseconds(runtime.clock.raw().saturating_sub(begun));
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let earlier = match is_last {
            true => EARLIER_NS.load(Ordering::Relaxed),
            false => EARLIER_NS.fetch_add(taken, Ordering::Relaxed) + taken,
        };
        summary.overhead.finalize_seconds = is_last.then(|| seconds(taken));
        summary.overhead.reports_seconds = (earlier > 0).then(|| seconds(earlier));
        if wanted.learned {
            learned::write(runtime, &summary);
        }
        written &= write(runtime, &summary);
    }
    Ok(written)
}

/// What all ranks recorded, at rank 0. Collective.
fn merged(way: &ToRoot, record: RankRecord) -> Result<Option<Merged>> {
    way.merged(Merged::of(record, &Bounds::REPORT), Merged::encode, |all, bytes| {
        let theirs = Merged::decode(&bytes).map_err(|error| {
            log::tell(&error.to_string());
            Error(mpi_sys::MPI_ERR_OTHER as c_int)
        })?;
        drop(bytes);
        all.add(theirs, &Bounds::REPORT);
        Ok(())
    })
}

/// Writes to every target; one line on stderr for each that fails.
fn write(runtime: &Runtime, summary: &Summary) -> bool {
    let mut written = true;
    for target in &places::files(runtime).report {
        written &= outputs::write_report(runtime, target, summary);
    }
    written
}
