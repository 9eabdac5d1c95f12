//! Which MPI a command's program uses: by the libraries that the loader would give it, for Python by those that its
//! mpi4py loads.

use super::preloads::is_sanitizer;
use crate::family::Family;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What was found out about a command.
pub struct Found {
    /// The MPI of its first word that has one.
    pub family: Option<Family>,
    /// Each file that was looked at, with what was found, for a user who has to be told that it did not help.
    pub looked_at: Vec<String>,
    /// Runtimes of sanitizers that it needs.
    pub sanitizers: Vec<String>,
    /// The first word that has an MPI library in its own file, whose calls nobody else sees.
    pub with_own_mpi: Option<PathBuf>,
}

/// Looks at each word of a command that is a program: which of a launcher's words are values of options is its own
/// business.
pub fn family_of(words: &[impl AsRef<OsStr>]) -> Found {
    let (mut looked_at, mut with_own_mpi) = (Vec::new(), None);
    for word in words {
        let Some(file) = executable(word.as_ref()) else { continue };
        let (Needed { family, sanitizers, has_other_mpi }, what) = look_at(&file);
        if family.is_some() {
            return Found { family, looked_at, sanitizers, with_own_mpi: None };
        }
        if with_own_mpi.is_none() && !has_other_mpi && std::fs::read(&file).is_ok_and(|bytes| has_own_mpi(&bytes)) {
            with_own_mpi = Some(file.clone());
        }
        looked_at.push(format!("{}: {what}", file.display()));
    }
    Found { family: None, looked_at, sanitizers: Vec::new(), with_own_mpi }
}

/// What a program needs, as far as it matters here.
#[derive(Debug, Default)]
struct Needed {
    family: Option<Family>,
    sanitizers: Vec<String>,
    /// Whether it needs a library that calls itself after MPI, whatever it is.
    has_other_mpi: bool,
}

/// The name of the program that a word would start: the last part of its path.
pub(super) fn name_of(program: &OsStr) -> String {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

/// The file that a word would start.
pub(super) fn executable(word: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let may_be_run = |path: &Path| path.metadata().is_ok_and(|at| at.is_file() && at.permissions().mode() & 0o111 != 0);
    let direct = Path::new(word);
    if direct.components().count() > 1 {
        return Some(direct.to_owned()).filter(|path| may_be_run(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(direct)).find(|path| may_be_run(path))
}

fn look_at(file: &Path) -> (Needed, &'static str) {
    if let Some(python) = python_of(file) {
        let needed = Needed { family: loaded_by_mpi4py(&python), ..Needed::default() };
        return (needed, "a Python whose mpi4py loads no MPI library that is known, or that has no mpi4py");
    }
    (needed_by(file), "needs no known MPI library")
}

/// The Python that runs it: itself, or what a script names in its first line.
fn python_of(file: &Path) -> Option<PathBuf> {
    let is_python = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    if is_python(file) {
        return Some(file.to_owned());
    }
    let mut start = [0; 256];
    let length = std::io::Read::read(&mut std::fs::File::open(file).ok()?, &mut start).ok()?;
    let line = String::from_utf8_lossy(start[..length].strip_prefix(b"#!")?).lines().next()?.to_owned();
    let mut words = line.split_whitespace();
    let first = PathBuf::from(words.next()?);
    if first.ends_with("env") {
        return words.next().filter(|word| is_python(Path::new(word))).and_then(|word| executable(OsStr::new(word)));
    }
    Some(first).filter(|path| is_python(path))
}

/// Asked without initialising MPI, so that no launcher is needed.
fn loaded_by_mpi4py(python: &Path) -> Option<Family> {
    const SCRIPT: &str = "import mpi4py\nmpi4py.rc(initialize=False, finalize=False)\nfrom mpi4py import MPI\n\
                          for line in open('/proc/self/maps'):\n    print(line.rstrip().rsplit(' ', 1)[-1])\n";
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).env_remove("LD_PRELOAD").stdin(Stdio::null()).stderr(Stdio::null());
    let printed = command.output().ok()?.stdout;
    String::from_utf8_lossy(&printed).lines().find_map(Family::of_library)
}

/// By all libraries that the loader would give it; where it cannot be asked, by the names in the file.
fn needed_by(file: &Path) -> Needed {
    let listed = Command::new("ldd").arg(file).env_remove("LD_PRELOAD").stdin(Stdio::null()).output();
    let mut needed = listed.map(|listed| in_list(&String::from_utf8_lossy(&listed.stdout))).unwrap_or_default();
    needed.family = needed.family.or_else(|| named_in(&std::fs::read(file).ok()?));
    needed
}

/// By lines such as `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)`.
fn in_list(text: &str) -> Needed {
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    Needed {
        has_other_mpi: names.clone().any(|name| name.starts_with("libmpi")),
        family: text.split_whitespace().find_map(Family::of_library),
        sanitizers: names.filter(|name| is_sanitizer(name)).map(str::to_owned).collect(),
    }
}

/// Whether a program's file, with its table of symbols, has MPI's procedures itself: what is only linked with a library
/// names no `PMPI_Init`.
fn has_own_mpi(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF") && file.split(|byte| *byte == 0).any(|name| name == b"PMPI_Init")
}

/// By the names of libraries in a program's file, where they stand as they are, each ended by a zero byte.
fn named_in(file: &[u8]) -> Option<Family> {
    if !file.starts_with(b"\x7fELF") {
        return None;
    }
    let mut names = file.split(|byte| *byte == 0).filter(|name| name.starts_with(b"libmpi") && name.len() < 64);
    names.find_map(|name| Family::of_library(std::str::from_utf8(name).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn families_by_what_a_program_names() {
        assert_eq!(named_in(b"\x7fELF..\0libmpi.so.40\0libc.so.6\0"), Some(Family::OpenMpi));
        assert_eq!(named_in(b"\x7fELF\0libmpich.so.12\0"), Some(Family::Mpich));
        assert_eq!(named_in(b"\x7fELF\0libmpi_abi.so.1\0"), Some(Family::Abi));
        assert_eq!(named_in(b"\x7fELF\0libc.so.6\0"), None);
        assert_eq!(named_in(b"libmpi.so.40\0"), None, "no program");
    }

    #[test]
    fn what_a_program_needs_by_the_loaders_list() {
        let list = "\tlinux-vdso.so.1 (0x7)\n\tlibasan.so.8 => /lib/libasan.so.8 (0x7)\n\tlibmpi.so.40 => /x/libmpi.so.40 (0x7)\n";
        let Needed { family, sanitizers, has_other_mpi } = in_list(list);
        assert_eq!((family, &sanitizers[..]), (Some(Family::OpenMpi), &["libasan.so.8".to_owned()][..]));
        assert!(has_other_mpi && !in_list("\tlibc.so.6 => /lib/libc.so.6 (0x7)\n").has_other_mpi);
        assert!(has_own_mpi(b"\x7fELF\0MPI_Init\0PMPI_Init\0") && !has_own_mpi(b"\x7fELF\0MPI_Init\0"));
    }

    #[test]
    fn the_python_of_a_script() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, line: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("{line}\nprint(1)\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let own = script("python3.99", "#!/bin/sh");
        assert_eq!(python_of(&own), Some(own.clone()), "by its own name");
        let direct = script("direct", &format!("#!{} -u", own.display()));
        assert_eq!(python_of(&direct), Some(own));
        let shell = script("shell", "#!/bin/sh");
        assert_eq!(python_of(&shell), None);
        let found = family_of(&[shell.as_os_str(), OsStr::new("--option"), OsStr::new("no such program")]);
        assert_eq!(found.family, None);
        assert_eq!(found.looked_at, [format!("{}: needs no known MPI library", shell.display())]);
    }
}
