//! `collie check`: what is wrong with rules, and what they are for Open MPI.

use crate::samples::RECORDED;
use crate::started::{collie, failed, file, printed, text};
use std::path::Path;
use std::process::Output;

#[test]
fn the_examples_of_the_rules_page_are_as_it_says() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md")).unwrap();
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        let parts = text.split(&fence).skip(1);
        parts.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    };
    let good = blocks("rules");
    assert!(good.len() >= 4);
    for example in good {
        let (_folder, path) = file("example.rules", &example);
        let told = printed(&mut collie(&["check", &path]));
        assert!(told.ends_with("nothing wrong\n") && told.lines().count() == 1, "{example}{told}");
    }
    let (_folder, path) = file("example.rules", &blocks("rules with warnings")[0]);
    let told = printed(&mut collie(&["check", &path])).replace(&path, "example.rules");
    assert_eq!(told, blocks("output")[0]);
}

#[test]
fn an_automatic_segment_is_no_number_for_open_mpi() {
    let (_folder, path) = file("my.rules", "bcast 8 * pipeline:segment=auto\n");
    let Output { status, stdout, stderr } = collie(&["check", "--export", "classic", &path]).output().unwrap();
    assert_eq!(status.code(), Some(1));
    let words = "Open MPI needs a number, such as segment=64K";
    // Standard output is the file that Open MPI is to read.
    assert!(text(&stderr).contains(words) && stdout.is_empty(), "{} {}", text(&stdout), text(&stderr));
    let (_folder, path) = file("my.rules", "bcast 8 * linear if mpi=mpich\nbcast 8 * binomial if mpi=openmpi\n");
    let Output { status, stdout, stderr } = collie(&["check", "--export", "classic", &path]).output().unwrap();
    let exported = text(&stdout);
    assert!(status.success() && exported.contains("\n  0 6 0 0\n") && !exported.contains("\n  0 1 "), "{exported}");
    let told = text(&stderr);
    assert!(told.ends_with("left out what is for other MPI libraries than Open MPI: 1 rule\n"), "{told}");
}

#[test]
fn rules_that_count_for_nothing_are_named() {
    let classic = "2\n12 # reduce_scatter\n1\n 2 1\n  0 3 0 0\n4 # alltoallv\n1\n 2 2\n  0 1 0 0\n  1024 2 0 0\n";
    let (_folder, path) = file("their.conf", classic);
    let told = printed(&mut collie(&["check", &path]));
    let lines: Vec<_> = told.lines().map(|line| line.replace(&path, "x")).collect();
    assert_eq!(
        lines[..2],
        [
            "x:2: warning: Collie has no reduce_scatter: its rules count for Open MPI alone",
            "x:10: warning: this rule is for no call: of alltoallv, the rule for 0 bytes is that for all",
        ],
        "{told}"
    );
    let classic =
        "1\n7 # bcast\n3\n 4 4\n  0 1 0 0\n  1000 3 0 0\n  500 6 0 0\n  700 1 0 0\n 8 1\n  0 1 0 0\n 8 1\n  0 6 0 0\n";
    let (_folder, path) = file("their.conf", classic);
    let told = printed(&mut collie(&["check", &path]));
    let lines: Vec<_> = told.lines().map(|line| line.replace(&path, "x")).collect();
    assert_eq!(
        lines,
        [
            "x:6: warning: this rule matches no call: line 8 comes later, begins at no more bytes than one before it, and takes all of them",
            "x:7: warning: this rule matches no call: line 8 comes later, begins at no more bytes than one before it, and takes all of them",
            "x:9: warning: these rules match no call: line 11 comes later, begins at no more ranks than one before it, and takes all of them",
            "x: 3 rules, no mistake",
        ],
        "{told}"
    );
    let json = |entries: &str| format!("{{\"collectives\":\n {{\"reduce_scatter\": {entries}}}}}");
    let (_folder, path) = file("their.json", &json("[{\"rules\": []}]"));
    let told = printed(&mut collie(&["check", &path]));
    assert!(told.contains(":2: warning: Collie has no reduce_scatter"), "{told}");
    let (_folder, path) = file("their.json", &json("7"));
    assert!(
        text(&collie(&["check", &path]).output().unwrap().stdout).contains("'7' is not accepted; accepted: a list of")
    );
    let (_folder, path) = file("their.json", "{\"collectives\": {\"bäää\": [], x}}");
    let told = text(&collie(&["check", &path]).output().unwrap().stdout);
    assert!(told.contains("their.json:1:30: no JSON: key must be a string"), "{told}");
    // A rule that no call gets is told beside what is exported, too.
    let (_folder, path) = file("my.rules", "bcast 3 * binomial:segment=none if power_of_two\n");
    let exported = collie(&["check", "--export", "classic", &path]).output().unwrap();
    assert!(text(&exported.stderr).contains(":1: warning: this rule "), "{}", text(&exported.stderr));
}

#[test]
fn check_tells_every_mistake() {
    let (_folder, path) = file("good.rules", "bcast * * binomial\nallreduce 2-8 * ring\n");
    assert_eq!(printed(&mut collie(&["check", &path])), format!("{path}: 2 rules, nothing wrong\n"));
    let own = printed(&mut collie(&["check", "--print", &path]));
    assert!(own.contains("\nallreduce   2-8        *              ring\n"), "{own}");
    let (_folder, path) = file("bad.rules", "bcast * * binomail\n\n  allreduce 2- * ring\n");
    let Output { status, stdout, .. } = collie(&["check", &path]).output().unwrap();
    assert_eq!(status.code(), Some(1));
    let lines: Vec<_> = text(&stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with(&format!("{path}:1:11: unknown bcast algorithm 'binomail'")), "{lines:?}");
    assert!(lines[1].starts_with(&format!("{path}:3:13: '2-' is not a range")), "{lines:?}");
    assert_eq!(failed(&mut collie(&["check", "/nowhere"])).0, 1);
}

#[test]
fn check_knows_what_never_travels_in_pieces() {
    let told = |rules: &str| {
        let (_folder, path) = file("never.rules", rules);
        String::from_utf8_lossy(&collie(&["check", &path]).output().unwrap().stdout).into_owned()
    };
    let never = "alltoallv * * pairwise if in_pieces\nbarrier * * linear if in_pieces\nbcast * 0 linear if in_pieces\n";
    assert_eq!(told(never).matches("this rule never matches: ").count(), 3, "{}", told(never));
    let torn =
        "bcast * 5K linear if in_pieces and shared_memory\nreduce * * linear if non_commutative and shared_memory\n";
    assert_eq!(told(torn).matches("'shared_memory' contradicts").count(), 2, "{}", told(torn));
}

#[test]
fn check_tells_what_else_a_file_is() {
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schedule/networks/ethernet.json");
    let (_folder, run) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    for (path, found) in
        [(network, "found a network; accepted: rules"), (&*run, "found a report of a run; accepted: rules")]
    {
        let (code, words) = failed(&mut collie(&["check", path]));
        assert!(code == 1 && words.contains(found), "{words}");
    }
}
