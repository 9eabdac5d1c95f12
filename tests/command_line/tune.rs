//! `collie tune`: rules from measurements and from predictions.

use crate::samples::MEASURED;
use crate::started::{collie, failed, file, printed, text};
use std::process::{Output, Stdio};

#[test]
fn tune_takes_a_file_once() {
    let (folder, path) = file("bench.json", MEASURED);
    let same = folder.path().join(".").join("bench.json").display().to_string();
    let (code, words) = failed(&mut collie(&["tune", &path, &same]));
    assert!(code == 2 && words.contains("given twice; accepted: each file once"), "{words}");
}

#[test]
fn tune_validates_and_predicts() {
    let (_folder, path) = file("bench.json", MEASURED);
    let told = printed(&mut collie(&["tune", "--validate", &path]));
    let words: Vec<_> = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(words.contains(&"nothing table 1 0.0 % 0.0 % 0.0 % 0".to_owned()), "{told}");
    assert!(words.contains(&"nothing native 1 100.0 % 100.0 % 100.0 % 0".to_owned()), "{told}");
    // What takes long is told on standard error.
    let ranks =
        ["tune", "--network", "ethernet", "--ranks", "8-16", "--operation", "gather,allreduce", "--steps", "10000"];
    let Output { status, stdout, .. } = collie(&ranks).output().unwrap();
    assert!(status.success());
    let (_other, predicted) = file("predicted.rules", &text(&stdout));
    let told = printed(&mut collie(&["check", &predicted]));
    assert!(told.ends_with("nothing wrong\n"), "{told}");
    let rules = std::fs::read_to_string(&predicted).unwrap();
    assert!(
        rules.contains(": simulated on the network ethernet, ")
            && !rules.contains("native")
            && rules.contains("\nallreduce   12-32 ")
            && rules.contains("\ngather      4-11 "),
        "{rules}"
    );
    let (code, words) = failed(&mut collie(&["tune", "--network", "ethernet"]));
    assert_eq!(code, 2);
    assert!(words.contains("--network needs --ranks"), "{words}");
}

#[test]
fn predicted_rules_say_so_and_compare_nothing_with_native() {
    let (_folder, path) = file("bench.json", MEASURED);
    let rules = printed(&mut collie(&["tune", "--model", "cost", "--network", "ethernet", &path]));
    assert!(rules.contains(": predicted on the network ethernet, by simulation of up to 262144 steps"), "{rules}");
    assert!(rules.contains("\n#   An MPI 4.0, jobs: 1\n") && !rules.contains("native"), "{rules}");
    let presets = printed(&mut collie(&["tune", "--model", "cost", &path]));
    assert!(presets.contains(": predicted on the presets shared_memory, on one node, and ethernet, "), "{presets}");
}

#[test]
fn what_decides_nothing_is_told() {
    let (_folder, full) = file("full.json", MEASURED);
    let (_other, quick) = file("quick.json", &MEASURED.replace(r#""variant": "binomial""#, r#""variant": "auto""#));
    let Output { status, stdout, stderr } = collie(&["tune", &full, &quick]).output().unwrap();
    let (rules, words) = (text(&stdout), text(&stderr));
    assert!(status.success() && rules.contains("native over this: 512 2.00\n"), "{rules}");
    let told = "quick.json: 1 of 1 cells decide nothing: no algorithm requested by -a was measured there: bcast 512 among 8 ranks\n";
    assert!(words.starts_with("collie: ") && words.ends_with(told) && rules.contains(told), "{words}{rules}");
}

#[test]
fn rules_of_an_ended_simulation_are_of_whole_cells_and_say_so() {
    for (signal, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.rules");
        let arguments = ["tune", "--network", "ethernet", "--ranks", "4-65536", "--operation", "gather", "-o"];
        let mut command = collie(&arguments);
        let mut child = command.arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut errors, &mut String::new()).unwrap();
        // SAFETY: it touches no memory of this process.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code));
        let mut words = String::new();
        std::io::Read::read_to_string(&mut errors, &mut words).unwrap();
        assert!(words.contains("collie: not simulated, gather: "), "{words}");
        let rules = std::fs::read_to_string(&path).unwrap();
        assert!(
            rules.contains("\n# Partial: ended before everything was simulated; longer calls have no row there. Missing:\n#   gather: "),
            "{rules}"
        );
        assert!(rules.contains(" of 120 cells, the first of them on ") && rules.contains("\ngather "), "{rules}");
    }
    let hurried = ["tune", "--network", "ethernet", "--ranks", "4-65536", "--operation", "barrier", "--patience", "0"];
    let rules = printed(&mut collie(&hurried));
    assert!(rules.contains(" times are by the cost formula: more steps than --steps, or not done"), "{rules}");
}
