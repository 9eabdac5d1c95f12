//! The folder that the job was started in: what relative names of files mean, wherever the program goes later.

use once_cell::sync::OnceCell;
use std::path::{Path, PathBuf};

/// What launchers are called, with more behind it where several are installed.
const LAUNCHERS: [&str; 5] = ["mpirun", "mpiexec", "orterun", "prterun", "srun"];

/// Processes between a launcher and a rank at most: the launcher's own on this node, shells, wrappers.
const MOST_BETWEEN: usize = 16;

/// Where this process began.
static BEGUN: OnceCell<PathBuf> = OnceCell::new();

/// Looks before `main` can go elsewhere.
#[used]
#[unsafe(link_section = ".init_array")]
static REMEMBER: extern "C" fn() = remember;

extern "C" fn remember() {
    if let Ok(folder) = std::env::current_dir() {
        BEGUN.get_or_init(|| folder);
    }
}

/// That of the launcher where it runs on this node, or as Open MPI's tells it; otherwise that in which this process
/// began. Not `PWD`: what starts a launcher in another folder often leaves that as it was.
pub fn of_command() -> PathBuf {
    let of_open_mpi = || std::env::var_os("OMPI_MCA_initial_wdir").map(PathBuf::from);
    let is_there = |folder: &PathBuf| folder.is_absolute() && folder.is_dir();
    let begun = || BEGUN.get().cloned();
    of_launcher().filter(is_there).or_else(|| of_open_mpi().filter(is_there)).or_else(begun).unwrap_or_else(|| {
        // Without a name, names of files are what the system makes of them.
        std::env::current_dir().unwrap_or_default()
    })
}

fn of_launcher() -> Option<PathBuf> {
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..MOST_BETWEEN {
        let folder = PathBuf::from(format!("/proc/{process}"));
        let (name, parent) = name_and_parent(&folder)?;
        if LAUNCHERS.iter().any(|launcher| name.starts_with(launcher)) {
            return std::fs::read_link(folder.join("cwd")).ok();
        }
        process = parent;
    }
    None
}

/// Of `PID (name) state parent ...`; the name may hold anything.
fn name_and_parent(folder: &Path) -> Option<(String, u32)> {
    let text = std::fs::read(folder.join("stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    Some((name, after.split_whitespace().nth(1)?.parse().ok()?))
}
