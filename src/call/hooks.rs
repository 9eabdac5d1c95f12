//! What services may want of calls. Calls know none of them: a service that is switched on says so here, and where none
//! is, nobody is asked.

use crate::communicator::agreement::Agreed;
use crate::communicator::state::Communicator;
use crate::monitor::{CounterId, Function};
use crate::mpi::error::Result;
use crate::process::runtime::Runtime;
use mpi_sys::{MPI_Datatype, MPI_Op};
use once_cell::sync::OnceCell;
use std::os::raw::c_int;

/// Separates waiting for late ranks from the collective itself.
pub trait Waiting: Sync {
    /// The ranks of a communicator have just agreed.
    fn agreed(&self, runtime: &Runtime, agreed: &Agreed);

    /// Makes what calls on a communicator whose ranks have agreed need. Collective over it.
    ///
    /// # Errors
    /// What PMPI returned.
    fn prepare(&self, runtime: &Runtime, communicator: &mut Communicator) -> Result;

    /// Before a blocking collective that all ranks of the communicator call: waits for the others if that is the mode, and
    /// has not been done before one in its place that the MPI library refused on this rank. `None` where waiting is not
    /// told apart.
    ///
    /// Counts it already unless it `may_be_refused`: then a handler of the program's that jumps out of it has mostly heard
    /// of that.
    fn before(&self, runtime: &Runtime, communicator: &Communicator, may_be_refused: bool) -> Option<Waited>;

    /// Such a call, where `before` gave what was waited, was refused on this rank, whose next call is the one that the
    /// others make: takes it back.
    fn refused(&self, runtime: &Runtime, communicator: &Communicator, waited: Waited);

    /// After such a call that was not refused: counts it. `call` is `None` if it failed on this rank.
    fn after(&self, runtime: &Runtime, communicator: &mut Communicator, waited: Waited, call: Option<WaitedCall>);

    /// A communicator goes away.
    fn gone(&self, communicator: &Communicator);
}

/// What was waited before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Number of the call on its communicator, the same on all its ranks.
    pub number: u64,
    /// The ticks waited.
    pub ticks: u64,
    /// Whether the call is counted already.
    pub is_counted: bool,
}

/// A call that waited for late ranks, or for none, and succeeded.
#[derive(Clone, Copy, Debug)]
pub struct WaitedCall {
    /// What was called.
    pub function: Function,
    /// Where it is counted.
    pub counter: CounterId,
    /// When it began, and how long it took, in ticks.
    pub times: (u64, u64),
}

/// Keeps single calls.
pub trait CallLog: Sync {
    /// The place of a datatype and an operation, either of which may be null, among those that calls were made with.
    fn elements(&self, datatype: MPI_Datatype, op: MPI_Op) -> u16;

    /// Keeps a call.
    fn push(&self, runtime: &Runtime, call: LoggedCall);
}

/// A call for the log.
#[derive(Clone, Copy, Debug)]
pub struct LoggedCall {
    /// Place of its communicator among those of this rank's record.
    pub place: usize,
    /// Its root; -1 where there is none.
    pub root: c_int,
    /// Where it is counted: the number of a counter of the communicator's table, or of [one apart](CounterId::apart).
    pub counter: u32,
    /// Signature bytes that this rank contributed.
    pub bytes: usize,
    /// Place of datatype and operation.
    pub elements: u16,
    /// When it began, and how long it took, in ticks.
    pub times: (u64, u64),
}

/// Keeps where the program calls collectives.
pub trait Sites: Sync {
    /// The function of the program that this thread is in a call of has made a call.
    fn count(&self, function: Function, bytes: u64, ticks: u64);
}

/// Tells what this rank knows, by [`ASKED`](crate::process::flags::ASKED) or [`DUE`](crate::process::flags::DUE), which
/// it takes back.
pub type Report = fn(&Runtime);

static WAITING: OnceCell<&'static dyn Waiting> = OnceCell::new();
static LOG: OnceCell<&'static dyn CallLog> = OnceCell::new();
static SITES: OnceCell<&'static dyn Sites> = OnceCell::new();
static REPORT: OnceCell<Report> = OnceCell::new();

/// From now on waiting is separated; the first to say so does it.
pub fn set_waiting(waiting: &'static dyn Waiting) {
    WAITING.get_or_init(|| waiting);
}

/// Who separates waiting, if that is switched on.
#[inline]
pub fn waiting() -> Option<&'static dyn Waiting> {
    WAITING.get().copied()
}

/// From now on single calls are kept; the first to say so does it.
pub fn set_log(log: &'static dyn CallLog) {
    LOG.get_or_init(|| log);
}

/// Who keeps single calls, if that is switched on.
#[inline]
pub fn log() -> Option<&'static dyn CallLog> {
    LOG.get().copied()
}

/// From now on it is kept where the program calls from; the first to say so does it.
pub fn set_sites(sites: &'static dyn Sites) {
    SITES.get_or_init(|| sites);
}

/// Who keeps where the program calls from, if that is switched on.
#[inline]
pub fn sites() -> Option<&'static dyn Sites> {
    SITES.get().copied()
}

/// Has reports that were asked for written so; the first to say so does it.
pub fn set_report(report: Report) {
    REPORT.get_or_init(|| report);
}

/// Writes the report that was asked for.
#[cold]
pub fn report(runtime: &Runtime) {
    if let Some(report) = REPORT.get() {
        report(runtime);
    }
}
