//! What each rank knows, written now and then into a folder (`COLLIE_CHECKPOINT`), for jobs that end by `SIGKILL`.
//!
//! A thread says when it is time. The rank's record is taken by whichever thread of the program comes to a collective
//! next, since nobody else may look at what calls are counted in, and written by the first one: the program waits for
//! the taking only. Both happen on all ranks at much the same time, so that they wait once for all of them.

use super::{alone, own_thread, places, record};
use crate::call::attachment::Visit;
use crate::monitor::{RankRecord, Summary};
use crate::mpi::{bytes, constants, node};
use crate::process::flags::{self, DUE};
use crate::process::floating_point::apart;
use crate::process::log;
use crate::process::runtime::Runtime;
use crate::report;
use crate::selection::{ReportFormat, ReportTarget, variables};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What passes between the program's threads and the one that writes.
struct Post {
    /// Taken, and not yet written.
    record: Option<RankRecord>,
    ended: bool,
}

static POST: (Mutex<Post>, Condvar) = (Mutex::new(Post { record: None, ended: false }), Condvar::new());
static WRITER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// The thread puts a whole report together: as much as Rust's threads have.
const STACK_BYTES: usize = 2 << 20;

/// Whether there are to be checkpoints: the same on all ranks, also where one of them cannot write any.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Whether it has been told that one could not be written. The next one most often cannot be either.
static FAILED: AtomicBool = AtomicBool::new(false);

/// One file at a time: the last report of a rank is written by the program's thread.
static WRITING: Mutex<()> = Mutex::new(());

/// Starts checkpoints every `seconds` seconds.
pub fn start(runtime: &'static Runtime, seconds: u32) {
    if places::files(runtime).checkpoints.is_none() {
        return;
    }
    WANTED.store(true, Ordering::Relaxed);
    make_folder(runtime);
    let interval = Duration::from_secs(seconds.into());
    match own_thread::spawn("collie-checkpoint", STACK_BYTES, move || run(runtime, interval)) {
        Ok(writer) => *WRITER.lock() = Some(writer),
        Err(error) => log::tell(&format!("rank {}: there are no checkpoints: {error}", runtime.world_rank)),
    }
}

/// Makes the folder, unless it is there: each rank does, as they need not see the same files.
fn make_folder(runtime: &Runtime) {
    let Some(folder) = &places::files(runtime).checkpoints else { return };
    match std::fs::create_dir(folder) {
        Err(error) if !(error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir()) => {
            FAILED.store(true, Ordering::Relaxed);
            // The others of the node see the same files.
            if node::is_first() {
                log::tell(&format!(
                    "rank {}: {}: the folder {} cannot be created: {error}; unless that changes, there will be no checkpoints",
                    runtime.world_rank,
                    variables::CHECKPOINT,
                    folder.display()
                ));
            }
        }
        _ => {}
    }
}

/// Takes this rank's record and hands it to who writes it.
pub fn take(runtime: &Runtime) {
    let taken = apart(|| record::of_this_rank_alone(runtime, Visit::BetweenCalls));
    POST.0.lock().record = Some(taken);
    POST.1.notify_all();
}

/// Asks for records and writes them, until the end.
fn run(runtime: &Runtime, interval: Duration) {
    let mut next = Instant::now() + interval;
    let mut post = POST.0.lock();
    loop {
        if post.ended {
            return;
        }
        if let Some(record) = post.record.take() {
            parking_lot::MutexGuard::unlocked(&mut post, || {
                write(runtime, &alone::summary(runtime, record, "at a checkpoint"));
            });
            continue;
        }
        if POST.1.wait_until(&mut post, next).timed_out() {
            // Still set if no call has come since: then nothing is new.
            flags::set(DUE);
            next = Instant::now() + interval;
        }
    }
}

/// Writes what this rank knows into the folder, if there is one.
pub fn write(runtime: &Runtime, summary: &Summary) {
    let Some(path) = path(runtime) else { return };
    let _writing = WRITING.lock();
    let written = report::write(&ReportTarget::File { path, format: ReportFormat::Json }, summary);
    if let Err(error) = written
        && !FAILED.swap(true, Ordering::Relaxed)
    {
        log::tell(&format!("rank {}: {error}", runtime.world_rank));
    }
}

/// The file of this rank.
fn path(runtime: &Runtime) -> Option<PathBuf> {
    Some(places::files(runtime).checkpoints.as_ref()?.join(format!("rank{}.json", runtime.world_rank)))
}

/// Ends the checkpoints. They go away if rank 0 has `written` the report of all ranks in its place. Collective over
/// `MPI_COMM_WORLD` where there are any.
pub fn end(runtime: &Runtime, written: bool) {
    if !WANTED.swap(false, Ordering::Relaxed) {
        return;
    }
    POST.0.lock().ended = true;
    POST.1.notify_all();
    // A panic there has been told; nothing depends on the thread any more.
    drop(WRITER.lock().take().map(JoinHandle::join));
    flags::take(DUE);
    let mut written = vec![u8::from(written)];
    let told = runtime.uncounted(|| bytes::broadcast(constants::comm_world(), 0, &mut written));
    if told.is_ok()
        && written == [1]
        && let Some(path) = path(runtime)
    {
        // The last rank takes the folder away; a rank that wrote none has no file.
        drop(std::fs::remove_file(&path));
        drop(path.parent().map(std::fs::remove_dir));
    }
}
