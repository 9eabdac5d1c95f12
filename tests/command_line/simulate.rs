//! `collie simulate`: times and the fastest, as far as there was time for them.

use crate::started::{collie, failed, file, printed, refused, text};
use std::process::{Output, Stdio};

#[test]
fn simulations_are_told_in_order() {
    let arguments =
        ["simulate", "allreduce", "--algorithm", "ring", "--ranks", "8,4,8", "--bytes", "16,8,16", "--network"];
    let told = text(&collie(&arguments).arg("shared_memory").output().unwrap().stdout);
    let headings: Vec<_> = told.lines().filter(|line| line.contains(" ranks, ")).collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        headings.into_iter().map(words).collect::<Vec<_>>(),
        [["4", "ranks,", "1", "node", "8", "16"], ["8", "ranks,", "1", "node", "8", "16"]]
    );
}

#[test]
fn simulate_tells_times_and_the_fastest() {
    let arguments = ["simulate", "allreduce", "--algorithm", "recursive_doubling", "--algorithm", "ring"];
    let (_folder, path) = file("map.svg", "");
    let times = printed(collie(&arguments).args(["--ranks", "32-64", "--bytes", "8,4M", "--plot", &path]));
    let fastest: Vec<_> = times.lines().filter(|line| line.starts_with("fastest")).collect();
    assert_eq!(fastest.len(), 2, "{times}");
    assert!(times.contains("\n32 ranks, 2 nodes ") && times.contains("\n64 ranks, 4 nodes "), "{times}");
    assert!(fastest.iter().all(|line| line.contains("recursive_doubling") && line.ends_with("ring")), "{times}");
    assert!(std::fs::read_to_string(&path).unwrap().contains("64 ranks"));
    let (code, why) = failed(collie(&arguments).args(["--ranks", "8", "--network", "carrier_pigeon"]));
    assert_eq!(code, 2);
    assert!(why.contains("shared_memory, ethernet, infiniband"), "{why}");
}

#[test]
fn a_long_simulation_tells_how_far_it_is_and_keeps_what_is_done() {
    let arguments = ["simulate", "allreduce", "--ranks", "8-65536", "--bytes", "8-16M", "--steps", "1000000"];
    let mut child = collie(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
    assert!(
        line.starts_with("collie: ") && line.contains(" simulations in ") && line.contains(", now allreduce "),
        "{line}"
    );
    // SAFETY: it touches no memory of this process.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(130));
    let told = text(&stdout);
    assert!(told.contains("8 ranks") && told.contains("? not simulated: "), "{told}");
}

#[test]
fn simulate_needs_something_to_do() {
    assert_eq!(failed(&mut collie(&["simulate"])).0, 2);
    assert_eq!(failed(&mut collie(&["simulate", "bcast", "--ranks", "4", "--against", "x.json"])).0, 2);
    let in_elements = |bytes: &str| ["simulate", "allreduce", "--ranks", "4", "--bytes", bytes].map(str::to_owned);
    let told = printed(collie(&[]).args(in_elements("8-100")));
    assert!(told.contains("8  ") && told.contains(" 96\n") && !told.contains("104"), "none is beyond the end: {told}");
    let (_, words) = failed(collie(&[]).args(in_elements("1-4")));
    assert!(words.contains("--bytes 1-4 holds no whole number of elements of 8 bytes"), "{words}");
    let (code, words) = failed(&mut collie(&["simulate", "--against", "/nowhere.json"]));
    assert!(code == 1 && words.contains("/nowhere.json"), "{words}");
}

#[test]
fn one_rank_is_told_as_one() {
    let told = printed(&mut collie(&["simulate", "bcast", "--ranks", "1,2", "--bytes", "8", "--algorithm", "linear"]));
    assert!(told.contains("\n1 rank, 1 node ") && told.contains("\n2 ranks, 1 node "), "{told}");
}

#[test]
fn simulations_have_a_limit_of_ranks() {
    let accepted = |least: u32| format!("': accepted: numbers from {least} to 16777216, or ranges such as 8-64");
    for ranks in ["10000000000", "8-1000000000000"] {
        refused(&format!("simulate bcast --ranks {ranks}"), &format!("--ranks '{ranks}{}", accepted(1)));
        refused(&format!("tune --network ethernet --ranks {ranks}"), &format!("--ranks '{ranks}{}", accepted(2)));
    }
    refused("tune --network ethernet --ranks 1", &accepted(2));
}
