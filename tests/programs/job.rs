//! A command with all its descendants: ended as a whole when it takes too long, and never left behind.

use libtest_mimic::{Failed, Trial};
use std::cell::Cell;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc};
use std::time::Duration;

/// Carried in the environment by every descendant, wherever launchers move it.
const MARK: &str = "JOB_OF_COLLIE_TESTS";

/// After MPI_Abort, hydra's mpirun ends before the ranks that it has told to: what lives on longer is left behind.
const DYING: Duration = Duration::from_secs(10);

/// Jobs of few ranks share the machine: most of what they take is their launcher's. Others have it alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Ranks of a job that fills the machine.
pub const MANY: usize = 5;

thread_local! {
    /// Whether this thread's test has the machine for itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// What a test is of that has the machine for itself, before its name.
const ALONE_KIND: &str = "alone";

/// A test that looks at times, or whose jobs are to end in time: no other job runs beside it.
pub fn alone(name: impl Into<String>, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::test(name, move || while_nothing_else_runs(test)).with_kind(ALONE_KIND)
}

/// Whether a test has the machine for itself.
pub fn is_alone(trial: &Trial) -> bool {
    trial.kind() == ALONE_KIND
}

fn while_nothing_else_runs<T>(test: impl FnOnce() -> T) -> T {
    struct Alone(#[allow(dead_code, reason = "it is held, not read")] RwLockWriteGuard<'static, ()>);
    impl Drop for Alone {
        fn drop(&mut self) {
            ALONE.set(false);
        }
    }
    let _alone = Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner));
    ALONE.set(true);
    test()
}

/// A job's share of the machine.
#[allow(dead_code, reason = "they are held, not read")]
enum Share {
    OfAlone,
    All(RwLockWriteGuard<'static, ()>),
    One(RwLockReadGuard<'static, ()>),
}

impl Share {
    fn of(ranks: usize) -> Self {
        match ranks {
            _ if ALONE.get() => Self::OfAlone,
            0..MANY => Self::One(MACHINE.read().unwrap_or_else(PoisonError::into_inner)),
            _ => Self::All(MACHINE.write().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// How a job ended.
#[derive(Debug)]
pub struct Outcome {
    /// Exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
    /// The command line, for messages.
    pub command: String,
}

impl Outcome {
    /// The end of what it wrote, for messages.
    pub fn told(&self) -> String {
        let tail = |text: &str| {
            let lines: Vec<_> = text.lines().collect();
            lines[lines.len().saturating_sub(40)..].join("\n")
        };
        format!("{}\nstatus {:?}\n{}\n{}", self.command, self.status, tail(&self.stdout), tail(&self.stderr))
    }

    /// Itself if it ended well.
    pub fn success(self) -> Result<Self, Failed> {
        if self.status == Some(0) { Ok(self) } else { Err(self.told().into()) }
    }
}

/// A running command.
pub struct Job {
    child: std::process::Child,
    command: String,
    mark: String,
    stdout: std::fs::File,
    stderr: std::fs::File,
    _temporary: tempfile::TempDir,
    _share: Share,
}

impl Job {
    /// Starts it, of so many ranks, in a process group of its own, without the variables that this process may have for
    /// Collie.
    pub fn start(mut command: Command, ranks: usize) -> Result<Self, Failed> {
        let share = Share::of(ranks);
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("COLLIE_") {
                command.env_remove(&name);
            }
        }
        // Files rather than pipes: a descendant that lives on would keep a pipe open.
        let file = || tempfile::tempfile().map_err(|error| format!("temporary file: {error}"));
        let (stdout, stderr) = (file()?, file()?);
        let copy = |file: &std::fs::File| file.try_clone().map_err(|error| format!("temporary file: {error}"));
        command.stdin(Stdio::null()).stdout(copy(&stdout)?).stderr(copy(&stderr)?);
        // Open MPI's launchers share a folder of their user's, which one that ends removes while another enters it.
        let temporary = tempfile::tempdir().map_err(|error| format!("temporary folder: {error}"))?;
        command.process_group(0).env(MARK, &mark).env("TMPDIR", temporary.path());
        let text = format!("{command:?}");
        let child =
            command.spawn().map_err(|error| format!("{text}: {error}; scripts/install installs what is missing"))?;
        Ok(Self { child, command: text, mark, stdout, stderr, _temporary: temporary, _share: share })
    }

    /// Waits for its end; fails if it takes longer than `limit`, or leaves processes behind.
    pub fn finish(mut self, limit: Duration) -> Result<Outcome, Failed> {
        let (ended, wait) = mpsc::channel();
        let mut child = self.child;
        let waiter = std::thread::spawn(move || {
            let status = child.wait();
            // The receiver is gone only if this process is being ended.
            let _ = ended.send(());
            status
        });
        let in_time = wait.recv_timeout(limit).is_ok();
        if in_time {
            await_end(&self.mark, DYING);
        }
        let left = kill_marked(&self.mark);
        let status = waiter.join().expect("waiting does not panic").map_err(|error| format!("wait: {error}"))?;
        let read = |file: &mut std::fs::File| {
            let mut bytes = Vec::new();
            use std::io::Seek;
            let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
            read.map(|_| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| format!("output: {error}"))
        };
        let (stdout, stderr) = (read(&mut self.stdout)?, read(&mut self.stderr)?);
        let outcome = Outcome { status: status.code(), stdout, stderr, command: self.command };
        if !in_time {
            return Err(format!("not done after {limit:?}, ended\n{}", outcome.told()).into());
        }
        if !left.is_empty() {
            return Err(format!("left processes behind, now ended: {left:?}\n{}", outcome.told()).into());
        }
        Ok(outcome)
    }
}

/// The processes whose environment carries the mark.
fn marked(mark: &str) -> Vec<i32> {
    let entry = format!("{MARK}={mark}\0");
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(id) = process.file_name().to_string_lossy().parse::<i32>() else { continue };
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.windows(entry.len()).any(|part| part == entry.as_bytes()) {
            found.push(id);
        }
    }
    found
}

/// Waits until the marked processes that are there now have ended, each for `limit` at most.
fn await_end(mark: &str, limit: Duration) {
    for id in marked(mark) {
        // SAFETY: pidfd_open takes numbers only; poll and close get the descriptor that it gave.
        unsafe {
            let descriptor = libc::syscall(libc::SYS_pidfd_open, id, 0) as i32;
            if descriptor >= 0 {
                let mut end = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
                libc::poll(&mut end, 1, limit.as_millis() as i32);
                libc::close(descriptor);
            }
        }
    }
}

/// Kills every marked process, and gives their numbers.
fn kill_marked(mark: &str) -> Vec<i32> {
    let mut killed = Vec::new();
    // A process may start another while the list is read; whoever did not exist then is found in the next round.
    loop {
        let before = killed.len();
        for id in marked(mark) {
            if !killed.contains(&id) {
                // SAFETY: kill touches no memory of this process.
                unsafe { libc::kill(id, libc::SIGKILL) };
                killed.push(id);
            }
        }
        if killed.len() == before {
            return killed;
        }
    }
}
