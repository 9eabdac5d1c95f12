//! A job that a subcommand starts, and that ends when somebody ends the subcommand.

use super::done::Failure;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether somebody ends the job.
const OFTEN: Duration = Duration::from_millis(20);

/// What a job gets to end by itself. A terminal tells its launcher too, which tears a job down without care when it is
/// told twice.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why there is no result when a signal came.
pub const ENDED: &str = "ended by a signal, and the job with it";

/// The signals that this process ignores, number 1 in the lowest bit; none where the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Which signals end a subcommand's jobs, each of them instead of the subcommand itself.
pub struct Signals {
    caught: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches them from now on, but for those that the process was started to ignore, as by `nohup`. A second one ends
    /// the process.
    pub fn catch() -> Self {
        let ignored = ignored();
        let caught = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            // Where a signal cannot be caught, it ends the process as ever. The first one sets the flag that makes the
            // second one do so, which is therefore registered first.
            drop(flag::register_conditional_default(signal, Arc::clone(&again)));
            drop(flag::register_usize(signal, Arc::clone(&caught), signal as usize));
            drop(flag::register(signal, Arc::clone(&again)));
        }
        Self { caught }
    }

    /// The exit code of a process that such a signal has ended, as shells tell it; none if none came.
    pub fn code(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(128 + signal as u8),
        }
    }

    /// Runs a job to its end, or has it ended when a signal comes; what it printed on standard output.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self, command: &[OsString]) -> Result<(ExitStatus, String), Failure> {
        if let Some(code) = self.code() {
            return Err(Failure { message: ENDED.to_owned(), code });
        }
        let shown = command[0].to_string_lossy();
        let cannot = |error: std::io::Error| Failure::cannot(format!("cannot run '{shown}': {error}"));
        let mut start = Command::new(&command[0]);
        start.args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = start.spawn().map_err(cannot)?;
        let mut output = child.stdout.take().expect("it is piped");
        // It may print more than a pipe holds.
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            output.read_to_end(&mut bytes).map(|_| bytes)
        });
        let status = self.attend(&mut child).map_err(cannot)?;
        let bytes = reader.join().expect("reading does not panic").map_err(cannot)?;
        Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn attend(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let mut told: Option<Instant> = None;
        let mut passed_on = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.code().is_some() {
                let told = *told.get_or_insert_with(Instant::now);
                if !passed_on && told.elapsed() >= PATIENCE {
                    // It may have ended just now; its number is its own until it is waited for.
                    let _ = kill_process(Pid::from_child(child), Signal::TERM);
                    passed_on = true;
                }
            }
            std::thread::sleep(OFTEN);
        }
    }
}
