//! The command, started as users start it, and what it is given.

use std::io::Write;
use std::process::{Command, Output};

/// `collie` with these arguments, in an environment without Collie's variables.
pub fn collie(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_collie"));
    command.args(arguments);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLIE_")) {
        command.env_remove(name);
    }
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("what collie prints is UTF-8")
}

/// Standard output of a run that has to end well.
pub fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{status}: {}", text(&stderr));
    assert_eq!(text(&stderr), "");
    text(&stdout)
}

/// Exit code and standard error of a run that has to fail.
pub fn failed(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(!status.success());
    assert_eq!(text(&stdout), "");
    (status.code().unwrap(), text(&stderr))
}

/// A file in a folder of this test's own, which is gone when the value is.
pub fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(content.as_bytes()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// That a command line is refused with these words.
pub fn refused(line: &str, words: &str) {
    let (code, told) = failed(&mut collie(&line.split(' ').collect::<Vec<_>>()));
    assert!(code == 2 && told.contains(words), "{line}: {code} {told}");
}
