//! `collie bench` and `collie fit`: the jobs that they start, and what is left of jobs that end early.

use crate::samples::MEASURED;
use crate::started::{collie, failed, printed, refused, text};
use serde_json::Value;
use std::process::{Output, Stdio};

#[test]
fn bench_hands_its_transports_on() {
    let words = ["bench", "--dry-run", "--program", "/p", "--transport", "messages,shared", "--", "srun"];
    let told = printed(&mut collie(&words));
    assert!(told.starts_with("srun /p ") && told.contains(" --transport messages,shared "), "{told}");
    let (code, words) = failed(&mut collie(&["bench", "--dry-run", "--transport", "shared,radio", "--", "srun"]));
    assert_eq!(code, 2);
    assert!(words.contains("'radio'") && words.contains("accepted: messages, shared"), "{words}");
}

#[test]
fn fit_can_be_looked_at_first() {
    let words = ["fit", "--dry-run", "--program", "/p", "--most", "1M", "--", "srun", "-N", "3", "-n", "12"];
    let shown = printed(&mut collie(&words));
    assert_eq!(shown, "srun -N 3 -n 12 /p fit --seconds 0.2 --most 1M --name fitted\n");
    for wrong in [&["fit", "--most", "1K"][..], &["fit", "--seconds", "x"], &["fit", "-n", "0"]] {
        assert_eq!(failed(&mut collie(wrong)).0, 2, "{wrong:?}");
    }
    let (code, words) = failed(&mut collie(&["fit", "--program", "/nowhere", "--", "srun"]));
    assert!(code == 1 && words.contains("there is no /nowhere"), "{words}");
}

#[test]
fn a_signal_ends_the_job_of_bench_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (launcher, heard) = (folder.path().join("launch"), folder.path().join("heard"));
    let script = format!(
        "#!/bin/sh\ntrap 'kill $!; echo ended >{}; exit 1' TERM\nsleep 60 >/dev/null 2>&1 &\necho begun >&2\nwait\n",
        heard.display()
    );
    std::fs::write(&launcher, script).unwrap();
    std::fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = collie(&["bench", "--family", "openmpi", "--program", "/bin/true", "-o", "allreduce", "--"]);
    let mut child = command.arg(&launcher).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
    assert_eq!(line, "begun\n");
    // SAFETY: it touches no memory of this process.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGTERM) }, 0);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(heard.exists(), "the launcher has not heard of it");
    let mut words = String::new();
    std::io::Read::read_to_string(&mut errors, &mut words).unwrap();
    assert_eq!(words, "collie: ended by a signal, and the job with it\n");
}

#[test]
fn cells_of_a_job_that_is_ended_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (launcher, cell) = (folder.path().join("launch"), folder.path().join("cell"));
    let report: Value = serde_json::from_str(MEASURED).unwrap();
    std::fs::write(&cell, format!("cell {report}\nsomething went wrong\n")).unwrap();
    std::fs::write(&launcher, format!("#!/bin/sh\ncat {}\nexit 1\n", cell.display())).unwrap();
    std::fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = collie(&["bench", "--family", "openmpi", "--program", "/bin/true", "--json", "-", "--"]);
    let Output { status, stdout, stderr } = command.arg(&launcher).output().unwrap();
    assert_eq!(status.code(), Some(1));
    let told = text(&stderr);
    let words = "exit status: 1); the result is that of 0 of 1 job and 1 cell of another\n";
    assert!(told.starts_with("something went wrong\n") && told.ends_with(words), "{told}");
    let kept: Value = serde_json::from_str(&text(&stdout)).unwrap();
    let of_binomial = |report: &Value| report["cells"][0]["variants"][1]["against_native"].clone();
    assert!(of_binomial(&kept).is_object() && of_binomial(&kept) == of_binomial(&report), "{kept}");
}

#[test]
fn bench_measures_what_was_asked_for_or_nothing() {
    for (line, words) in [
        ("-b 7", "--bytes: 7 is no whole number of elements of 8 bytes (--datatype double); accepted: multiples of 8"),
        ("-b 4-1K -d float,double", "--bytes: 4 is no whole number of elements of 8 bytes"),
        ("-o barrier -b 64", "--bytes: a barrier sends no data"),
        ("--rounds 0", "'--rounds <ROUNDS>': accepted: a whole number from 1 on"),
        ("-n 2,0", "accepted: a whole number from 1 to 4294967295"),
        ("--csv x.json", "--csv 'x.json': CSV does not belong in a .json file; accepted endings: .csv"),
    ] {
        refused(&format!("bench --dry-run --program /p {line}"), words);
    }
    let told =
        printed(&mut collie(&"bench --dry-run --program /p -b 7 -d byte -- srun".split(' ').collect::<Vec<_>>()));
    assert!(told.contains(" --bytes 7 ") && told.contains(" --datatype byte "), "{told}");
}
