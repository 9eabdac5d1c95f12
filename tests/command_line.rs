//! The `collie` command, run as users run it.

#![cfg(feature = "cli")]

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `collie` with these arguments, in an environment without Collie's variables.
fn collie(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_collie"));
    command.args(arguments);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLIE_")) {
        command.env_remove(name);
    }
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("what collie prints is UTF-8")
}

/// Standard output of a run that has to end well.
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{status}: {}", text(&stderr));
    assert_eq!(text(&stderr), "");
    text(&stdout)
}

/// Exit code and standard error of a run that has to fail.
fn failed(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(!status.success());
    assert_eq!(text(&stdout), "");
    (status.code().unwrap(), text(&stderr))
}

/// A file in a folder of this test's own, which is gone when the value is.
fn file(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(content.as_bytes()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn every_subcommand_has_help_with_examples() {
    let overview = printed(&mut collie(&["--help"]));
    let commands = overview.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<_> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(names.contains(&"list") && names.contains(&"explain"), "{overview}");
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        let help = printed(&mut collie(&[name, "--help"]));
        assert!(help.contains("Examples:\n"), "{name}: {help}");
        assert_eq!(printed(&mut collie(&["help", name])), help);
    }
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    for arguments in [
        &["lsit"] as &[&str],
        &["list", "brodcast"],
        &["explain", "bcast"],
        &["explain", "bcast", "--ranks", "0"],
        &["explain", "bcast", "--ranks", "1"],
        &["explain", "allreduce", "--ranks", "4", "--element", "0"],
        &["tune", "--network", "ethernet", "--ranks", "1"],
        &["explain", "bcast", "--ranks", "4", "--bytes", "1KB"],
        &["explain", "bcast", "--ranks", "4", "--root", "4"],
        &["explain", "bcast", "--ranks", "4", "--non-commutative"],
        &["explain", "allreduce", "--ranks", "4", "--root", "3"],
        &["explain", "barrier", "--ranks", "4", "--bytes", "8"],
        &["run", "--rules", "/dev/null", "--", "mpirun", "true"],
        &["explain", "bcast", "--ranks", "4", "--user-defined"],
        &["explain", "allreduce", "--ranks", "4", "--bytes", "9"],
        &["explain", "bcast", "--ranks", "4", "--nodes", "3,2"],
        &["explain", "bcast", "--ranks", "4", "--nodes", "5"],
        &["explain", "barrier", "--ranks", "4", "--numa", "5"],
        &["explain", "bcast", "--ranks", "4", "--network", "measure"],
        &["simulate", "bcast", "--ranks", "4", "--network", "measure"],
        &["draw", "barrier", "mcs", "--ranks", "4", "--numa", "3,2"],
        &["help", "envv"],
        &["help", "list", "--markdown"],
        &["check"],
    ] {
        let (code, words) = failed(&mut collie(arguments));
        assert_eq!(code, 2, "{arguments:?}: {words}");
        assert!(!words.is_empty());
    }
    let (_, words) = failed(&mut collie(&["list", "brodcast"]));
    assert!(words.contains("unknown operation 'brodcast'; accepted: bcast, "), "{words}");
    let (_, words) = failed(&mut collie(&["help", "envv"]));
    assert!(words.contains("did you mean 'env'?"), "{words}");
    let (_, words) = failed(&mut collie(&["explain", "allreduce", "--ranks", "4", "--element", "0"]));
    assert!(words.contains("accepted: bytes from 1 to 1024G"), "{words}");
    let (_, words) = failed(&mut collie(&["tune", "--network", "ethernet", "--ranks", "1"]));
    assert!(words.contains("accepted: numbers from 2 to "), "{words}");
}

#[test]
fn list_names_every_algorithm_once() {
    let overview = printed(&mut collie(&["list"]));
    let json: serde_json::Value = serde_json::from_str(&printed(&mut collie(&["list", "--json"]))).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), collie::algorithm::all().count());
    for (row, known) in rows.iter().zip(collie::algorithm::all()) {
        assert_eq!(row["operation"], known.operation.name());
        assert_eq!(row["name"], known.name);
        assert_eq!(row["ordered"], known.ordered);
        assert!(overview.contains(known.summary), "{known:?}");
    }
    let bcast = printed(&mut collie(&["list", "bcast"]));
    assert!(bcast.contains("binomial\n") && !bcast.contains("rabenseifner"), "{bcast}");
}

#[test]
fn explain_tells_what_decided() {
    let plain = printed(&mut collie(&["explain", "allreduce", "--ranks", "48", "--bytes", "64"]));
    assert!(plain.starts_with("allreduce of 64 bytes among 48 ranks on one node, commutative\ngets "), "{plain}");
    assert!(plain.contains("\nby default one_node:"), "{plain}");
    let arguments = ["explain", "allreduce", "--ranks", "6", "--bytes", "1M", "--non-commutative"];
    let refused = printed(collie(&arguments).env("COLLIE_ALLREDUCE", "ring"));
    assert!(refused.contains("(ring of COLLIE_ALLREDUCE does not keep rank order"), "{refused}");
    assert!(refused.contains("  COLLIE_ALLREDUCE "), "{refused}");
    let measure = printed(collie(&["explain", "bcast", "--ranks", "2"]).env("COLLIE_NETWORK", "measure"));
    assert!(measure.contains("(COLLIE_NETWORK=measure); here the preset shared_memory is used instead"), "{measure}");
    let native = printed(collie(&["explain", "bcast", "--ranks", "2"]).env("COLLIE_MODE", "native"));
    assert!(native.contains("stays with the MPI library\nby COLLIE_MODE=native"), "{native}");
}

#[test]
fn what_is_wrong_with_a_file_is_told_of_where_it_was_named() {
    for (option, variable) in [("--rules", "COLLIE_RULES"), ("--network", "COLLIE_NETWORK")] {
        let explain = ["explain", "bcast", "--ranks", "4"];
        let (_, by_option) = failed(collie(&explain).args([option, "/no/such"]).env(variable, "/nor/that"));
        assert!(by_option.starts_with(&format!("collie: {option}: ")), "{by_option}");
        let (_, by_variable) = failed(collie(&explain).env(variable, "/no/such"));
        assert!(by_variable.starts_with(&format!("collie: {variable}: ")), "{by_variable}");
    }
    let of_module = printed(collie(&["explain", "bcast", "--ranks", "4"]).env("COLLIE_ROOT", "/opt/collie"));
    assert!(of_module.contains("gets "), "{of_module}");
}

#[test]
fn numa_nodes_are_told_and_drawn() {
    let explain = |more: &[&str]| {
        let arguments = ["explain", "barrier", "--ranks", "5", "--transport", "shared"];
        printed(collie(&arguments).args(more).env("COLLIE_BARRIER", "numa_hierarchical").env("COLLIE_NUMA", "3"))
    };
    let told = explain(&[]);
    let heading = "barrier among 5 ranks on one node, sharing memory of 3 NUMA nodes\ngets numa_hierarchical";
    assert!(told.starts_with(heading), "{told}");
    assert!(explain(&["--numa", "2"]).contains("of 2 NUMA nodes\n"));
    assert!(explain(&["--numa", "1"]).contains("on one node, sharing memory\n"));
    let draw = |numa| printed(&mut collie(&["draw", "barrier", "numa_hierarchical", "--ranks", "6", "--numa", numa]));
    let [one, two, unequal] = ["1", "2", "4,2"].map(draw);
    assert!(one != two && two != unequal);
}

#[test]
fn explain_tells_what_combines_in_the_same_order() {
    let explain = |reproducible| {
        let arguments = ["explain", "allreduce", "--ranks", "4", "--bytes", "64"];
        let variables = [("COLLIE_REPRODUCIBLE", reproducible), ("COLLIE_ALLREDUCE", "recursive_doubling")];
        printed(collie(&arguments).envs(variables))
    };
    let told = explain("on");
    for (name, order) in [("rabenseifner", "the same"), ("ring", "another")] {
        let line = told.lines().find(|line| line.trim_start().starts_with(&format!("{name} "))).unwrap();
        assert!(line.ends_with(&format!("could be used, combines in {order} order")), "{told}");
    }
    assert!(!explain("off").contains("combines"));
}

#[test]
fn explain_reads_rules() {
    let (_folder, path) = file("my.rules", "# mine\nbcast 9-inf * linear if several_nodes\nbcast * * binomial\n");
    let explain = |nodes: &str| {
        printed(&mut collie(&["explain", "bcast", "--ranks", "9", "--bytes", "1K", "--nodes", nodes, "--rules", &path]))
    };
    assert!(explain("1").contains(&format!("gets binomial:segment=none\nby {path}:3\n")), "{}", explain("1"));
    assert!(explain("4,4,1").contains(&format!("gets linear\nby {path}:2\n")), "{}", explain("4,4,1"));
    let nearly = format!("for so many ranks and bytes, but only if:\n  {path}:2  linear  several_nodes\n");
    assert!(explain("1").contains(&nearly) && !explain("4,4,1").contains("but only if"), "{}", explain("1"));
    let arguments = ["explain", "bcast", "--ranks", "9", "--rules", "/nowhere.rules"];
    let (code, words) = failed(&mut collie(&arguments));
    assert_eq!(code, 2);
    assert!(words.contains("collie: --rules: cannot read '/nowhere.rules': "), "{words}");
}

#[test]
fn explain_tells_what_auto_leaves_a_call_to() {
    let explain = |variable: &str, text: &str| {
        let (_folder, path) = file("my.rules", text);
        let told = printed(collie(&["explain", "bcast", "--ranks", "4", "--bytes", "1K"]).env(variable, &path));
        let heard: Vec<_> = told.lines().filter(|line| line.contains(&format!("{path}:"))).collect();
        heard.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()
    };
    let rows = explain("COLLIE_TABLES", "bcast * * auto\nbcast * * linear\n");
    let [by, first, second] = &rows[..] else { panic!("{rows:?}") };
    assert!(
        by.ends_with(":2") && first.ends_with(" leaves it to the next row") && second.ends_with(" used"),
        "{rows:?}"
    );
    let rules = explain("COLLIE_RULES", "bcast * * auto\nbcast * * linear\n");
    assert!(matches!(&rules[..], [only] if only.ends_with(" leaves it to the tables")), "{rules:?}");
}

#[test]
fn explain_tells_transports_apart() {
    let text = "bcast * * shared_queue if shared_memory\nbcast * * linear if no_shared_memory\n";
    let (_folder, path) = file("my.rules", text);
    let explain = |more: &[&str]| {
        let arguments = [&["explain", "bcast", "--ranks", "4", "--bytes", "1K", "--rules", &path], more].concat();
        printed(&mut collie(&arguments))
    };
    let shared = explain(&["--transport", "shared"]);
    assert!(shared.starts_with("bcast of 1K bytes among 4 ranks on one node, sharing memory\n"), "{shared}");
    assert!(shared.contains("\nauto is based on t_W/t = 1000 bytes (shared_memory)\n"), "{shared}");
    assert!(shared.contains("gets shared_queue:") && shared.contains(&format!("\nby {path}:1\n")), "{shared}");
    let inside = explain(&["--transport", "shared", "--nodes", "2"]);
    for (messages, words) in [(explain(&[]), ""), (inside, ", sharing memory inside them")] {
        let heading = format!(
            "bcast of 1K bytes among 4 ranks on {}{words}\n",
            if words.is_empty() { "one node" } else { "2 nodes of up to 2 ranks" }
        );
        assert!(messages.starts_with(&heading), "{messages}");
        assert!(messages.contains(&format!("gets linear\nby {path}:2\n")), "{messages}");
    }
    // There are no kernels for the program's own operations.
    let reduction = |more: &[&str]| {
        let arguments = ["explain", "allreduce", "--ranks", "4", "--bytes", "64", "--oversubscribed"];
        printed(collie(&arguments).args(more).env("COLLIE_TRANSPORT", "shared"))
    };
    let by_kernel = reduction(&[]);
    assert!(by_kernel.contains("sharing memory") && by_kernel.contains("\nby default shared_memory:"), "{by_kernel}");
    for own in ["--non-commutative", "--user-defined"] {
        let own = reduction(&[own]);
        assert!(own.contains("operation is the program's own") && !own.contains("default shared_memory:"), "{own}");
    }
    let configured = collie(&["explain", "barrier", "--ranks", "4"]).env("COLLIE_TRANSPORT", "shared").output();
    let configured = String::from_utf8(configured.unwrap().stdout).unwrap();
    assert!(configured.contains("\nby default shared_memory:"), "{configured}");
}

#[test]
fn explain_tells_why_best_leaves_a_call_to_the_library() {
    let explain = |more: &[&str]| {
        let arguments = [&["explain", "bcast", "--bytes", "64"], more].concat();
        printed(collie(&arguments).env("COLLIE_MODE", "best"))
    };
    let measured = explain(&["--ranks", "2", "--mpi", "openmpi", "--mpi-version", "4.1.4"]);
    assert!(measured.starts_with("bcast of 64 bytes among 2 ranks on one node, openmpi 4.1.4\n"), "{measured}");
    assert!(measured.contains("stays with the MPI library\nby best one_node:"), "{measured}");
    assert!(measured.contains("in mode replace: knomial:radix=4,segment=none\nby default one_node:"), "{measured}");
    let unknown = explain(&["--ranks", "48"]);
    let because = |of: &str| {
        format!(
            "stays with the MPI library\nby best: not measured\nbecause no measurement of such calls{of} is known,\n"
        )
    };
    let unnamed = because(" of an MPI library that is not named (--mpi, --mpi-version)");
    assert!(unknown.contains(&unnamed), "{unknown}");
    let of_some_version = explain(&["--ranks", "48", "--mpi", "mpich"]);
    let unnamed = because(" of mpich of a version that is not named (--mpi-version)");
    assert!(of_some_version.contains(&unnamed), "{of_some_version}");
    let named = explain(&["--ranks", "48", "--mpi", "mpich", "--mpi-version", "1.0"]);
    assert!(named.contains(&because("")), "{named}");
    let learn = |reproducible: &str| {
        let mut command = collie(&["explain", "allreduce", "--ranks", "48", "--bytes", "64"]);
        printed(command.env("COLLIE_MODE", "learn").env("COLLIE_REPRODUCIBLE", reproducible))
    };
    let tried = "\nmode learn starts there, and tries Collie's algorithms";
    assert!(learn("off").contains(tried), "{}", learn("off"));
    assert!(!learn("on").contains(tried) && learn("on").contains("by best: not measured"), "{}", learn("on"));
    let (code, words) = failed(&mut collie(&["explain", "bcast", "--ranks", "2", "--mpi", "lam"]));
    assert_eq!(code, 2);
    assert!(words.contains("accepted: openmpi, mpich, intel, cray, mvapich"), "{words}");
}

#[test]
fn explain_shows_rule_evidence_and_times() {
    let (_folder, path) =
        file("my.rules", "# seen on Monday\n# and on Tuesday\nbcast 9-inf * linear\nbcast * * binomial # best\n");
    let (_other, report) = file("bench.json", MEASURED);
    let arguments = ["explain", "bcast", "--ranks", "8", "--bytes", "1K", "--rules", &path, "--measured", &report];
    let told = printed(&mut collie(&arguments));
    assert!(
        told.contains(&format!("by {path}:4\n  bcast * * binomial # best\n  # seen on Monday\n  # and on Tuesday\n")),
        "{told}"
    );
    let heard = told.lines().find(|line| line.contains(&format!("{path}:4 "))).unwrap();
    assert!(heard.contains("µs") && heard.ends_with("used"), "{told}");
    assert!(told.contains("with the time predicted on the network shared_memory"), "{told}");
    assert!(told.contains("measured on An MPI 4.0, 512 bytes, native over this:\n"), "{told}");
    assert!(told.contains("  binomial:segment=none  5 µs   2.00 (1.80 to 2.20)\n"), "{told}");
    let other = printed(&mut collie(&["explain", "bcast", "--ranks", "4", "--measured", &report]));
    assert!(other.contains("measured on An MPI 4.0: no bcast among 4 ranks on such nodes"), "{other}");
}

#[test]
fn explain_tells_what_was_learned_in_words() {
    let learned = r##"# What Collie has learned while programs ran (COLLIE_MODE=learn, COLLIE_LEARN): rules, each below its evidence.
# operation ranks      bytes          algorithm
#: {"machine":"a processor, 2 cores","mpi":"An MPI 4.0","date":"2026-11-22","function":"MPI_Bcast","bytes_from":512,"bytes_to":1023,"commutative":true,"units_per_rank":4,"ranks":8,"nodes":1,"most_on_node":8,"oversubscribed":false,"algorithm":"linear","won":true,"calls":1200,"tried_calls":9,"spent_seconds":0.0,"saved_seconds":0.0,"candidates":[{"algorithm":"linear","calls":1199,"seconds":2e-6},{"algorithm":"native","calls":1}]}
bcast       8          512-1023       linear if one_node and no_shared_memory and not_oversubscribed
"##;
    let (_folder, path) = file("learned.rules", learned);
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512", "--rules", &path]));
    let expected = format!(
        "by {path}:4\n  bcast 8 512-1023 linear if one_node and no_shared_memory and not_oversubscribed\n  \
         learned from 1200 calls, last on 2026-11-22, on a processor, 2 cores with An MPI 4.0: \
         linear 2 µs, 1199 calls; native not measured, 1 call\n"
    );
    assert!(told.contains(&expected), "{told}");
    assert!(!told.contains('{') && !told.contains("# operation"), "{told}");
    // As the file of mode learn it counts where it was learned, of calls about which nobody else decides.
    let learning = |more: &[(&str, &str)]| {
        let mut explain = collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512"]);
        printed(explain.env("COLLIE_MODE", "learn").env("COLLIE_LEARN", &path).envs(more.iter().copied()))
    };
    let head = format!("but where it was learned (machine and MPI library below), {path}:4 comes first:\n");
    let told = learning(&[]);
    assert!(told.contains(&(head + expected.split_once('\n').unwrap().1)), "{told}");
    for more in [("COLLIE_BCAST", "ring"), ("COLLIE_MODE", "best")] {
        assert!(!learning(&[more]).contains("comes first"), "{more:?}");
    }
    // A rule that somebody has edited is a rule, and comes behind those of COLLIE_RULES.
    let edited = learned.replacen("512-1023       linear", "512-2K         ring", 1);
    let (_other, edited) = file("edited.rules", &edited);
    let (_mine, auto) = file("mine.rules", "bcast * * auto\n");
    assert!(learning(&[("COLLIE_LEARN", &edited)]).contains("edited.rules:4 comes first:\n  bcast 8 512-2K ring if"));
    assert!(!learning(&[("COLLIE_LEARN", &edited), ("COLLIE_RULES", &auto)]).contains("comes first"));
}

#[test]
fn explain_knows_where_ranks_lie() {
    let rules = "bcast * * linear if ranks_per_node=6-inf\nbcast * * ring if ranks_per_node=5 and power_of_two\n";
    let (_folder, path) = file("nodes.rules", rules);
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--nodes", "5,3", "--rules", &path]));
    assert!(
        told.contains(" among 8 ranks on 2 nodes of up to 5 ranks") && told.contains(&format!("by {path}:2\n")),
        "{told}"
    );
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--rules", &path]));
    assert!(told.contains(&format!("by {path}:1\n")), "{told}");
}

/// The preset ethernet, with so many ranks on each node.
fn ethernet(ranks_per_node: usize) -> (tempfile::TempDir, String) {
    let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schedule/networks/ethernet.json");
    let mut network: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(preset).unwrap()).unwrap();
    network["ranks_per_node"] = ranks_per_node.into();
    file("network.json", &network.to_string())
}

#[test]
fn predictions_are_for_where_the_ranks_of_the_call_lie() {
    let binomial = |ranks_per_node, nodes: &str| {
        let (_folder, network) = ethernet(ranks_per_node);
        let arguments = ["explain", "bcast", "--ranks", "8", "--bytes", "64K", "--network", &network, "--nodes", nodes];
        let told = printed(&mut collie(&arguments));
        let row =
            told.lines().rev().find_map(|line| line.trim_start().strip_prefix("binomial ")).expect("it has a row");
        row.trim_start().split("  ").next().unwrap().to_owned()
    };
    assert_eq!(binomial(1, "1"), "27.6 µs");
    assert_eq!(binomial(16, "1"), "27.6 µs");
    assert_eq!(binomial(1, "8"), binomial(16, "8"));
    assert!(binomial(16, "8") != "27.6 µs" && binomial(1, "2") != "27.6 µs");
}

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
fn predictions_are_held_against_whatever_bench_measured() {
    let learn = r#"{"variant": "learn", "algorithm": "learn", "seconds": {"median": 1e-5, "p10": 9e-6, "p90": 2e-5, "min": 8e-6}},
        {"variant": "shared: shared_queue", "algorithm": "shared_queue:fragment=auto", "transport": "shared",
         "seconds": {"median": 2e-6, "p10": 1e-6, "p90": 3e-6, "min": 1e-6}}]}"#;
    let all = MEASURED.replacen("}}]}", &format!("}}}},{learn}"), 1);
    let (_folder, path) = file("bench.json", &all);
    let told = printed(&mut collie(&["simulate", "--against", &path, "--network", "shared_memory"]));
    assert!(told.contains("binomial ") && told.contains("  shared: shared_queue") && !told.contains("learn"), "{told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("bcast  ")).count(), 2, "{told}");
}

/// A report of `collie bench`: bcast of 512 bytes among eight ranks.
const MEASURED: &str = r#"{"schema_version": 1, "collie_version": "1", "mpi_library": "An MPI 4.0", "cold": false, "runs": 1, "seed": 1,
    "cells": [{"operation": "bcast", "datatype": "double", "root": 0, "bytes": 512, "ranks": 8, "ranks_per_node": [8],
        "oversubscribed": false, "rounds": 100, "variants": [
        {"variant": "native", "algorithm": "native", "seconds": {"median": 1e-5, "p10": 9e-6, "p90": 2e-5, "min": 8e-6}},
        {"variant": "binomial", "algorithm": "binomial:segment=none",
         "seconds": {"median": 5e-6, "p10": 4e-6, "p90": 6e-6, "min": 4e-6},
         "against_native": {"ratio": 2.0, "low": 1.8, "high": 2.2}}]}]}"#;

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
fn bench_hands_its_transports_on() {
    let words = ["bench", "--dry-run", "--program", "/p", "--transport", "messages,shared", "--", "srun"];
    let told = printed(&mut collie(&words));
    assert!(told.starts_with("srun /p ") && told.contains(" --transport messages,shared "), "{told}");
    let (code, words) = failed(&mut collie(&["bench", "--dry-run", "--transport", "shared,radio", "--", "srun"]));
    assert_eq!(code, 2);
    assert!(words.contains("'radio'") && words.contains("accepted: messages, shared"), "{words}");
}

#[test]
fn explain_shows_the_transports_that_were_measured() {
    let with = MEASURED.replace("\"variant\": \"binomial\"", "\"transport\": \"shared\", \"variant\": \"shared\"");
    let (_folder, path) = file("bench.json", &with);
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &path]));
    assert!(told.contains("  shared: binomial:segment=none  5 µs   2.00 (1.80 to 2.20)\n"), "{told}");
}

#[test]
fn tune_takes_a_file_once() {
    let (folder, path) = file("bench.json", MEASURED);
    let same = folder.path().join(".").join("bench.json").display().to_string();
    let (code, words) = failed(&mut collie(&["tune", &path, &same]));
    assert!(code == 2 && words.contains("given twice; accepted: each file once"), "{words}");
}

#[test]
fn orders_to_terminals_in_files_are_shown() {
    let (_folder, path) = file("bench.json", &MEASURED.replace("An MPI", "\\u001b[2JAn MPI"));
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &path]));
    assert!(told.contains("measured on \\u001b[2JAn MPI 4.0") && !told.contains('\x1b'), "{told}");
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
fn measurements_may_be_csv() {
    let rows = "operation,datatype,root,bytes,ranks,ranks_per_node,oversubscribed,variant,algorithm,median_seconds,mpi_library\n\
                bcast,double,0,512,8,8,false,native,native,1e-5,An MPI 4.0\n\
                bcast,double,0,512,8,8,false,binomial,binomial:segment=none,5e-6,An MPI 4.0\n";
    let (_folder, table) = file("bench.csv", rows);
    let (_other, report) = file("bench.json", MEASURED);
    let (_same, copy) = file("copy.csv", rows);
    for files in [&[table.as_str()][..], &[&report, &table], &[&table, &copy]] {
        let rules = printed(collie(&["tune"]).args(files));
        let libraries = rules.matches("#   An MPI 4.0, jobs: 1\n").count();
        assert!(libraries == files.len() && rules.contains("native over this: 512 2.00"), "{rules}");
        assert_eq!(rules.contains("512 2.00 undecided"), files != [report.as_str()], "no interval tells: {rules}");
    }
    let explain = ["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &table];
    let told = printed(&mut collie(&explain));
    assert!(told.contains("measured on An MPI 4.0, 512 bytes, native over this:\n  binomial:segment=none"), "{told}");
    let (_wrong, wrong) = file("wrong.csv", &rows.replace("5e-6", "fast"));
    let (code, words) = failed(&mut collie(&["tune", &wrong]));
    let expected = "wrong.csv: line 3, column 10 (median_seconds): found 'fast'; accepted: seconds";
    assert!(code == 1 && words.contains(expected), "{words}");
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

/// A report of a run of mode compare, from the snapshot that holds how these are written.
fn compared() -> String {
    let snapshot =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/compared.json.snap"));
    snapshot.unwrap().rsplit_once("---\n").unwrap().1.replace("ring:segment=128K", "ring")
}

#[test]
fn explain_and_tune_read_the_verdicts_of_a_run() {
    let (_folder, path) = file("run.json", &compared());
    let arguments = ["explain", "allreduce", "--ranks", "8", "--nodes", "2", "--bytes", "1M", "--measured", &path];
    let told = printed(&mut collie(&arguments));
    assert!(told.contains("measured on Open MPI v4.1.4, "), "{told}");
    let row = told.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
    assert!(row[0] == "native" && told.contains("  1.56 (1.55 to 1.56)\n"), "{told}");
    assert!(told.contains(", 1M to 2097151 bytes, native over this:\n"), "{told}");
    // Of a run with more ranks than cores, as its ranks say.
    let crowded = compared().replace("\"pid\": ", "\"oversubscribed\": true,\n      \"pid\": ");
    let (_other, crowded) = file("crowded.json", &crowded);
    let arguments = ["--ranks", "8", "--nodes", "2", "--bytes", "1M", "--oversubscribed", "--measured", &crowded];
    assert!(printed(collie(&["explain", "allreduce"]).args(arguments)).contains("  1.56 (1.55 to 1.56)\n"));
    let Output { status, stdout, stderr } = collie(&["tune", &path]).output().unwrap();
    let (rules, words) = (text(&stdout), text(&stderr));
    assert!(status.success() && rules.contains("\nallreduce "), "{rules}");
    let told = "run.json: 1 of 4 verdicts count for nothing: barrier among 8 ranks (compared too few times)\n";
    assert!(words.ends_with(told) && rules.contains(told), "{words}");
}

#[test]
fn verdicts_on_calls_of_several_algorithms_count_for_none_and_are_told() {
    let mut report: serde_json::Value = serde_json::from_str(&compared()).unwrap();
    let rows = report["rows"].as_array_mut().unwrap();
    let bcast = rows.iter().find(|row| row["function"] == "MPI_Bcast" && row["bytes_from"] == 64).unwrap();
    let mut other = bcast.clone();
    other["algorithm"] = "linear".into();
    rows.push(other);
    let (_folder, path) = file("run.json", &report.to_string());
    let Output { status, stdout, stderr } = collie(&["tune", &path]).output().unwrap();
    let (rules, words) = (text(&stdout), text(&stderr));
    assert!(status.success() && rules.contains("\nallreduce ") && !rules.contains("\nbcast "), "{rules}");
    let told = "run.json: 2 of 4 verdicts count for nothing: bcast 64-127 among 8 ranks (carried out by several \
                algorithms: binomial:segment=none, linear); barrier among 8 ranks (compared too few times)\n";
    assert!(words.ends_with(told) && rules.contains(told), "{words}{rules}");
    report["comparisons"].as_array_mut().unwrap().retain(|row| row["function"] == "MPI_Bcast");
    let (_folder, path) = file("run.json", &report.to_string());
    let (code, words) = failed(&mut collie(&["tune", &path]));
    assert!(
        code == 1 && words.contains("several of Collie's algorithms carried out the calls of each verdict"),
        "{words}"
    );
}

#[test]
fn files_without_measurements_are_told_for_what_they_are() {
    let replaced = compared().replace("\"mode\": \"compare\"", "\"mode\": \"replace\"");
    let verdicts = replaced.find("\"comparisons\"").unwrap();
    let replaced = replaced[..verdicts].to_owned() + &replaced[verdicts..].replace("ratio_low", "was_low");
    for (content, found) in [
        (replaced.as_str(), "found a report of a run in mode replace, without verdicts"),
        ("bcast * * binomial\n", "found no JSON ("),
        ("[1, 2]", "found a JSON list"),
        ("{\"schema_version\": 2}", "found JSON of another kind (fields: schema_version)"),
        ("{\"cells\": [1]}", "found a malformed report of collie bench: "),
        ("{\"schema_version\": 1, \"rows\": []}", "found a report of schema version 1; this Collie reads version 2"),
    ] {
        let (_folder, path) = file("run.json", content);
        for command in [
            &["tune", &path] as &[&str],
            &["explain", "bcast", "--ranks", "8", "--measured", &path],
            &["simulate", "--against", &path],
        ] {
            let (code, words) = failed(&mut collie(command));
            assert_eq!(code, 1, "{words}");
            assert!(words.contains(&format!("{path}: {found}")), "{words}");
            assert!(
                words
                    .contains("; accepted: what collie bench --json or --csv wrote, or a run with COLLIE_MODE=compare"),
                "{words}"
            );
        }
    }
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
fn nothing_is_no_value_and_words_of_the_command_are_checked() {
    let run = |options: &[&str], command: &[&str]| {
        let fixed = ["run", "--dry-run", "--family", "openmpi", "--launcher", "open-mpi"];
        failed(&mut collie(&[&fixed, options, &["--"], command].concat()))
    };
    for (options, words) in [
        (["--mode", ""], "--mode: found nothing; accepted: a value, or no --mode at all"),
        (["-a", "allreduce="], "--algorithm 'allreduce=': accepted: operation=algorithm"),
    ] {
        let (code, told) = run(&options, &["mpirun", "true"]);
        assert!(code == 2 && told.contains(words), "{code}: {told}");
    }
    for command in [&["mpirun", "-x", "COLLIE_MODE=foo", "true"][..], &["mpirun", "env", "COLLIE_MODE=foo", "true"]] {
        let (code, told) = run(&[], command);
        assert!(code == 2 && told.contains("in the command: COLLIE_MODE: 'foo' is not accepted; "), "{code}: {told}");
    }
    let genv = ["mpirun", "-genv", "COLLIE_MODE", "foo", "true"];
    let hydra = ["run", "--dry-run", "--family", "mpich", "--launcher", "hydra", "--"];
    assert_eq!(failed(&mut collie(&[&hydra[..], &genv].concat())).0, 2);
    let (code, told) = failed(&mut collie(&["explain", "bcast", "--ranks", "4", "--rules", ""]));
    assert!(code == 2 && told.contains("--rules: found nothing"), "{code}: {told}");
    let (code, told) = failed(collie(&["explain", "bcast", "--ranks", "4"]).env("COLLIE_TRACE", "off"));
    assert!(code == 2 && told.contains("COLLIE_TRACE: 'off' is not accepted; accepted: the name of a file"), "{told}");
    let inner = "hierarchical:node=knomial:radix=1";
    let (_, told) = failed(collie(&["explain", "bcast", "--ranks", "4"]).env("COLLIE_BCAST", inner));
    assert!(
        told.contains("accepted: an inner algorithm's parameters in parentheses: name(parameter=value,...)"),
        "{told}"
    );
    assert_eq!(failed(&mut collie(&["run", "--", "./nosuch"])), (127, "collie: ./nosuch: no such file\n".to_owned()));
}

#[test]
fn what_nobody_waits_for_is_refused() {
    let long = collie(&["draw", "bcast", "pipeline:segment=1", "--ranks", "8", "--bytes", "1M"]).output().unwrap();
    assert!(!long.status.success() && text(&long.stderr).contains("more than 262144 steps"), "{}", text(&long.stderr));
    let many = collie(&["explain", "allreduce", "--ranks", "4294967295"]).output().unwrap();
    assert!(text(&many.stderr).contains("from 2 to 1048576"), "{}", text(&many.stderr));
}

#[test]
fn explain_tells_what_rests_on_limits_that_a_run_measures() {
    let arguments =
        ["explain", "allreduce", "--ranks", "2", "--bytes", "512", "--mpi", "openmpi", "--mpi-version", "4.1.4"];
    let unknown = printed(collie(&arguments).env("COLLIE_MODE", "best"));
    let known = printed(collie(&arguments).env("COLLIE_MODE", "best").env("COLLIE_LIMITS", "256"));
    let algorithm = known.lines().find_map(|line| line.strip_prefix("gets ")).expect("one of ours");
    let words = format!(
        "where messages of that length travel in fragments, which a run measures (COLLIE_LIMITS sets it here): {algorithm}\n"
    );
    assert!(unknown.contains(&words) && !known.contains("travel in fragments, which a run"), "{unknown}\n{known}");
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
fn draw_writes_a_picture_or_says_why_not() {
    let (_folder, path) = file("fibonacci.svg", "");
    assert_eq!(printed(&mut collie(&["draw", "reduce", "fibonacci", "--ranks", "7", "-o", &path])), "");
    let drawing = std::fs::read_to_string(&path).unwrap();
    assert!(
        drawing.starts_with("<svg ") && drawing.contains("Fibonacci") && drawing.ends_with("</svg>\n"),
        "{drawing}"
    );
    let same = printed(&mut collie(&["draw", "reduce", "fibonacci", "--ranks", "7"]));
    assert_eq!(same, drawing);
    let (code, why) = failed(&mut collie(&["draw", "allgather", "neighbor_exchange", "--ranks", "7"]));
    assert_eq!(code, 1);
    assert!(why.contains("needs an even number of ranks, not 7"), "{why}");
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
fn help_env_prints_the_table() {
    let table = printed(&mut collie(&["help", "env"]));
    let markdown = printed(&mut collie(&["help", "env", "--markdown"]));
    for row in collie::selection::variables::VARIABLES.iter() {
        assert!(table.contains(&format!("\n{}\n  accepted: {}\n", row.name, row.accepted)), "{}", row.name);
        assert!(markdown.contains(&format!("| `{}` | {} | ", row.name, row.accepted)), "{}", row.name);
    }
}

/// A file of the repository.
fn page(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_page_of_algorithms_is_current() {
    let current = printed(&mut collie(&["list", "--markdown"]));
    assert!(page("docs/algorithms.md") == current, "docs/algorithms.md is out of date; scripts/docs writes it anew");
}

#[test]
fn the_pictures_are_current() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed(&mut collie(&["list", "--pictures", &folder.path().to_string_lossy()])), "");
    let names = |folder: &std::path::Path| {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.collect::<std::collections::BTreeSet<_>>()
    };
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    assert_eq!(names(&kept), names(folder.path()), "scripts/docs writes docs/pictures anew");
    for name in names(folder.path()) {
        let current = std::fs::read_to_string(folder.path().join(&name)).unwrap();
        assert!(
            page(&format!("docs/pictures/{name}")) == current,
            "{name} is out of date; scripts/docs writes it anew"
        );
        assert!(page("docs/algorithms.md").contains(&format!("(pictures/{name})")), "{name} is not shown");
    }
}

#[test]
fn the_variables_in_the_readme_are_current() {
    let readme = page("README.md");
    let (_, rest) = readme.split_once("<!-- variables -->\n").expect("the README has a section of variables");
    let (section, _) = rest.split_once("<!-- /variables -->").expect("the section of variables ends");
    let current = printed(&mut collie(&["help", "env", "--markdown"]));
    assert!(section.trim() == current.trim(), "the README's variables are out of date; scripts/docs writes them anew");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = collie(&["list", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert!(status.success(), "{status}: {}", text(&stderr));
    assert_eq!(text(&stderr), "");
}

/// Makes `to` an executable copy of `from`, by another process: what this one wrote itself, it could not start while a
/// child that another test has just forked still has it open for writing.
fn install(from: &Path, to: &Path) {
    assert!(Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap().success());
}

/// A folder laid out as `scripts/build` leaves it, with a launcher in it that only tells how it was called.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new(families: &[&str], version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("bin")).unwrap();
        install(Path::new(env!("CARGO_BIN_EXE_collie")), &path("bin/collie"));
        for family in families {
            std::fs::create_dir_all(path(family).join("lib")).unwrap();
            std::fs::write(path(family).join("lib/libcollie.so"), "").unwrap();
        }
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n\
             echo \"$*\"\nenv | grep '^COLLIE_' | sort\nexit 7\n"
        );
        std::fs::write(path("mpirun.text"), script).unwrap();
        install(&path("mpirun.text"), &path("mpirun"));
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        let folder = std::fs::canonicalize(self.folder.path()).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    }

    /// `collie run` with `options`, then this launcher with two ranks of ./app.
    fn run(&self, options: &[&str]) -> Command {
        let mut command = collie(&[]);
        let mut installed = Command::new(self.path("bin/collie"));
        for (name, value) in command.env_remove("LD_PRELOAD").get_envs() {
            match value {
                Some(value) => installed.env(name, value),
                None => installed.env_remove(name),
            };
        }
        installed.arg("run").args(options).args(["--", &self.path("mpirun"), "-n", "2", "./app"]);
        installed
    }
}

#[test]
fn run_hands_library_and_variables_to_open_mpi() {
    let installed = Installed::new(&["openmpi", "mpich"], "mpirun (Open MPI) 4.1.4");
    let library = installed.path("openmpi/lib/libcollie.so");
    let options = ["--algorithm", "bcast=linear", "--algorithm", "allreduce=ring", "--report", "off"];
    let Output { status, stdout, stderr } = installed.run(&options).env("COLLIE_GATHER", "native").output().unwrap();
    assert_eq!(text(&stderr), "");
    assert_eq!(status.code(), Some(7), "the launcher's own status");
    assert_eq!(
        text(&stdout),
        format!(
            "-x LD_PRELOAD={library} -x COLLIE_ALLREDUCE=ring -x COLLIE_BCAST=linear -x COLLIE_GATHER=native \
             -x COLLIE_REPORT=off -n 2 ./app\n\
             COLLIE_ALLREDUCE=ring\nCOLLIE_BCAST=linear\nCOLLIE_GATHER=native\nCOLLIE_REPORT=off\n"
        )
    );
}

#[test]
fn run_takes_one_algorithm_for_an_operation() {
    let installed = Installed::new(&["mpich"], "HYDRA build details:");
    let (code, words) = failed(&mut installed.run(&["-a", "allreduce=ring", "-a", "allreduce=native"]));
    assert_eq!(code, 2);
    assert!(words.contains("--algorithm 'allreduce=native': another --algorithm says 'ring' for allreduce"), "{words}");
    let shown = printed(&mut installed.run(&["--dry-run", "-a", "allreduce=ring", "-a", "allreduce=ring"]));
    assert!(shown.contains("-genv COLLIE_ALLREDUCE ring -n 2"), "{shown}");
}

#[test]
fn run_hands_library_and_variables_to_hydra() {
    let installed = Installed::new(&["mpich"], "HYDRA build details:");
    let library = installed.path("mpich/lib/libcollie.so");
    let Output { stdout, .. } = installed.run(&["--mode", "native"]).output().unwrap();
    assert_eq!(text(&stdout), format!("-genv LD_PRELOAD {library} -genv COLLIE_MODE native -n 2 ./app\n"));
}

#[test]
fn run_can_be_looked_at_first() {
    let installed = Installed::new(&["openmpi"], "mpirun (Open MPI) 4.1.4");
    let (library, launcher) = (installed.path("openmpi/lib/libcollie.so"), installed.path("mpirun"));
    let shown = printed(&mut installed.run(&["--dry-run", "--algorithm", "reduce=linear"]));
    let options = format!("-x LD_PRELOAD={library} -x COLLIE_REDUCE=linear");
    assert_eq!(shown, format!("COLLIE_REDUCE=linear {launcher} {options} -n 2 ./app\n"));
    let bound = installed.run(&["--dry-run"]).env("LD_BIND_NOW", "1").output().unwrap();
    assert!(bound.status.success() && text(&bound.stderr).starts_with("collie: LD_BIND_NOW is set: "));
    let shown = printed(&mut installed.run(&["--dry-run", "--launcher", "none", "--family", "openmpi"]));
    assert_eq!(shown, format!("LD_PRELOAD={library} {launcher} -n 2 ./app\n"));
}

#[test]
fn run_refuses_before_anything_is_started() {
    let installed = Installed::new(&["mpich"], "mpirun (Open MPI) 4.1.4");
    let missing = installed.path("openmpi/lib/libcollie.so");
    let (code, words) = failed(&mut installed.run(&[]));
    let advice = "build it with scripts/build or install a package, or name one with collie run --library";
    assert_eq!((code, words), (1, format!("collie: there is no {missing}; {advice}\n")));
    let (code, words) = failed(&mut installed.run(&["--algorithm", "bcast=lineer"]));
    assert_eq!(code, 2);
    let start = "collie: --algorithm 'bcast=lineer': unknown bcast algorithm 'lineer'; accepted: ";
    assert!(words.starts_with(start), "{words}");
    assert!(words.ends_with("; did you mean 'linear'?\n"), "{words}");
    for (option, value) in [
        ("--rules", "/nowhere.rules"),
        ("--mode", "foo"),
        ("--report", "x.pdf"),
        ("--log", "loud"),
        ("--algorithm", "gater=linear"),
    ] {
        let (code, words) = failed(&mut installed.run(&[option, value]));
        assert_eq!(code, 2, "{words}");
        assert!(words.starts_with(&format!("collie: {option}")) && !words.contains("COLLIE_"), "{words}");
    }
    let (code, words) = failed(installed.run(&["--mode", "native"]).env("COLLIE_RULES", "/nowhere.rules"));
    assert_eq!(code, 2);
    assert!(words.starts_with("collie: COLLIE_RULES: cannot read '/nowhere.rules'"), "{words}");
    assert_eq!(failed(&mut installed.run(&["--algorithm", "bcast"])).0, 2);
    assert_eq!(failed(&mut installed.run(&["--library", "/nowhere.so"])).0, 1);
    let unknown = Installed::new(&["openmpi"], "mpirun of nobody");
    let (code, words) = failed(&mut unknown.run(&[]));
    assert_eq!(code, 1);
    assert!(words.contains("cannot determine what launcher 'mpirun' is") && words.contains("--launcher"), "{words}");
    let with_library = |path: &str| failed(&mut collie(&["run", "--library", path, "--", "/nowhere/app"]));
    let (code, words) = with_library(&installed.path("mpirun"));
    assert_eq!(code, 1);
    assert!(words.ends_with("accepted: a library of Collie, as is in the folder lib of each family\n"), "{words}");
    std::fs::write(installed.path("own.so"), b"\x7fELF\0collie_version\0").unwrap();
    let (code, words) = with_library(&installed.path("own.so"));
    assert_eq!(code, 127, "{words}");
}

#[test]
fn run_tells_a_launcher_and_a_program_of_two_mpis_apart() {
    let installed = Installed::new(&["mpich"], "mpirun (Open MPI) 4.1.4");
    let program = installed.path("app.text");
    std::fs::write(&program, b"\x7fELF\0libmpich.so.12\0").unwrap();
    install(Path::new(&program), Path::new(&installed.path("app")));
    let mut command = installed.run(&["--report", "off"]);
    let Output { status, stdout, stderr } = command.current_dir(installed.path(".")).output().unwrap();
    assert_eq!(status.code(), Some(7), "it is started all the same");
    assert!(text(&stdout).contains(&installed.path("mpich/lib/libcollie.so")), "{}", text(&stdout));
    let told = "collie: the launcher is of Open MPI, the program uses MPICH, Intel MPI and compatible libraries: each \
                of its processes may find itself alone, as rank 0 of 1\n";
    assert_eq!(text(&stderr), told);
}

/// The JSON report of a fixed run.
const RECORDED: &str = include_str!("snapshots/compared.json.snap");

#[test]
fn a_recorded_report_comes_out_in_every_form() {
    let (folder, path) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    let summary = printed(&mut collie(&["report", &path]));
    assert!(summary.starts_with("Collie ") && summary.contains("against native: 1 faster, 1 slower"), "{summary}");
    assert!(printed(&mut collie(&["report", &path, "--format", "csv"])).starts_with("function,communicator,"));
    let json = printed(&mut collie(&["report", &path, "--format", "json"]));
    assert_eq!(json.trim_end(), RECORDED.splitn(3, "---\n").nth(2).unwrap().trim_end());
    let page = folder.path().join("run.html");
    assert_eq!(printed(&mut collie(&["report", &path, "--output", page.to_str().unwrap()])), "");
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    let difference = printed(&mut collie(&["report", "--all", "--diff", &path, &path]));
    assert!(difference.starts_with("A: run time ") && difference.contains(" same "), "{difference}");
    let page = folder.path().join("difference.html");
    let (code, words) = failed(&mut collie(&["report", "--diff", &format!("{path},{path}"), &path]));
    assert!(code == 1 && words.contains("--diff: numbers 1 and 2 of A are the same run; accepted"), "{words}");
    let (_other, other) = file("other.json", &json.replacen("\"run_seconds\": ", "\"run_seconds\": 1", 1));
    let runs = format!("{path},{other}");
    assert_eq!(printed(&mut collie(&["report", "--diff", &runs, &runs, "-o", page.to_str().unwrap()])), "");
    assert!(std::fs::read_to_string(page).unwrap().contains("\"told_apart_by\":\"2 and 2 runs"));
}

#[test]
fn damaged_reports_of_a_folder_are_named_and_runs_that_are_not_alike_refused() {
    let recorded = RECORDED.splitn(3, "---\n").nth(2).unwrap();
    let (folder, path) = file("run.json", recorded);
    std::fs::write(folder.path().join("rank1.json"), &recorded[..recorded.len() / 2]).unwrap();
    let outcome = collie(&["report"]).arg(folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success() && told.starts_with("collie: left out "), "{told}");
    assert!(told.contains("rank1.json: ") && told.lines().count() == 1, "{told}");
    let other = folder.path().join("other.json");
    std::fs::write(&other, recorded.replacen("\"mode\": \"compare\"", "\"mode\": \"native\"", 1)).unwrap();
    let runs = format!("{path},{}", other.display());
    let (code, words) = failed(&mut collie(&["report", "--diff", &runs, &path]));
    assert!(code == 1 && words.contains("--diff: runs of A are not alike") && words.contains("mode native"), "{words}");
}

#[test]
fn a_report_is_as_long_and_as_wide_as_asked_for() {
    let (folder, path) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    let lines = |text: String| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
    let screen = lines(printed(&mut collie(&["report", &path])));
    assert!(screen.len() <= 20 && screen.iter().all(|length| *length <= 100), "{screen:?}");
    let all = printed(&mut collie(&["report", &path, "--all"]));
    assert!(all.contains("by function") && all.lines().count() > 40, "{all}");
    let ranks = printed(collie(&["report", &path, "--by", "rank", "--top", "3"]).env("COLUMNS", "70"));
    assert!(ranks.contains("and 5 more ranks") && !ranks.contains("Allreduce"), "{ranks}");
    assert!(lines(ranks).iter().all(|length| *length <= 70));
    let table = printed(&mut collie(&["report", &path, "--by", "verdict", "--format", "csv"]));
    assert!(table.lines().count() == 5 && table.contains(",faster,"), "{table}");
    let (code, message) = failed(&mut collie(&["report", &path, "--by", "size"]));
    assert!(
        code == 2
            && message.contains("accepted: row, function, communicator, message, region, site, rank, late, verdict"),
        "{message}"
    );
    let picture = folder.path().join("run.pdf");
    let (code, message) = failed(&mut collie(&["report", &path, "-o", picture.to_str().unwrap()]));
    assert!(code == 2 && message.contains("run.pdf' names no format; accepted: .txt, .json, .csv, .html"), "{message}");
    assert!(!picture.exists());
    let text = folder.path().join("run.txt");
    printed(&mut collie(&["report", &path, "-o", text.to_str().unwrap()]));
    assert!(std::fs::read_to_string(text).unwrap().contains("by rank"));
}

#[test]
fn what_is_no_recorded_report_is_refused() {
    let (folder, path) = file("run.json", "{\"schema_version\": 99}");
    let (code, message) = failed(&mut collie(&["report", &path]));
    assert!(code == 1 && message.contains(&path) && message.contains("version 99"), "{code} {message}");
    let missing = folder.path().join("missing.json");
    let (code, message) = failed(&mut collie(&["report", missing.to_str().unwrap()]));
    assert!(code == 1 && message.contains("missing.json"), "{code} {message}");
    let (code, message) = failed(&mut collie(&["report", &path, "--format", "pdf"]));
    assert!(code == 2 && message.contains("accepted: text, json, csv, html"), "{code} {message}");
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
fn simulate_needs_something_to_do() {
    assert_eq!(failed(&mut collie(&["simulate"])).0, 2);
    assert_eq!(failed(&mut collie(&["simulate", "bcast", "--ranks", "4", "--against", "x.json"])).0, 2);
    let (code, words) = failed(&mut collie(&["simulate", "--against", "/nowhere.json"]));
    assert!(code == 1 && words.contains("/nowhere.json"), "{words}");
}

/// That a command line is refused with these words.
fn refused(line: &str, words: &str) {
    let (code, told) = failed(&mut collie(&line.split(' ').collect::<Vec<_>>()));
    assert!(code == 2 && told.contains(words), "{line}: {code} {told}");
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

#[test]
fn wrong_variables_are_told_before_jobs_start() {
    for command in ["bench", "fit"] {
        let (code, words) =
            failed(collie(&[command, "--dry-run", "--program", "/p", "--", "srun"]).env("COLLIE_MODE", "foo"));
        assert!(code == 2 && words.contains("COLLIE_MODE") && words.contains("'foo'"), "{words}");
    }
}

#[test]
fn what_is_accepted_is_told_of_negative_numbers_too() {
    let whole = "accepted: a whole number from ";
    for (line, words) in [
        (
            "explain bcast --ranks -3",
            "invalid value '-3' for '--ranks <RANKS>': accepted: a whole number from 2 to 1048576",
        ),
        ("explain bcast --ranks 4 --root -1", whole),
        ("explain bcast --ranks 4 --bytes -3", "accepted: bytes, with K, M, G as powers of 1024"),
        ("explain allreduce --ranks 4 --element 0", "accepted: bytes from 1 to 1024G"),
        ("draw bcast binomial --ranks -3", "accepted: a whole number from 1 to 256"),
        ("simulate bcast --ranks -3", "--ranks '-3': accepted: numbers from 1 to "),
        ("simulate bcast --ranks 8 --patience -1", "accepted: a number of seconds"),
        ("simulate bcast --ranks 8 --steps -1", whole),
        ("tune --price -1 x.json", "accepted: 0 to 10"),
        ("bench -n -3", whole),
        ("bench --rounds -1", whole),
        ("bench --step -2", "accepted: a whole number from 2 on"),
        ("bench -b -8", "'-8' is not a size or range of sizes"),
        ("bench --in-a-row -1", whole),
        ("fit -n -1", whole),
        ("report x.json --top -1", whole),
    ] {
        refused(line, words);
    }
}

#[test]
fn one_rank_is_told_as_one() {
    let told = printed(&mut collie(&["simulate", "bcast", "--ranks", "1,2", "--bytes", "8", "--algorithm", "linear"]));
    assert!(told.contains("\n1 rank, 1 node ") && told.contains("\n2 ranks, 1 node "), "{told}");
}

#[test]
fn measurements_of_more_ranks_than_there_can_be_are_refused() {
    let head = "operation,datatype,root,bytes,ranks,nodes,ranks_per_node,oversubscribed,variant,algorithm,\
                median_seconds,mpi_library";
    let row = "bcast,byte,0,8,1099511627776,1,1099511627776,false,native,,1.0,";
    let (_folder, path) = file("big.csv", &format!("{head}\n{row}\n"));
    let (code, words) = failed(&mut collie(&["tune", &path]));
    let expected = "column 5 (ranks): found '1099511627776'; accepted: a whole number up to 4294967295";
    assert!(code == 1 && words.contains(expected), "{code} {words}");
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

#[test]
fn files_of_another_form_are_told_for_what_they_are() {
    let accepted = "; accepted: a report that a run with COLLIE_REPORT=run.json wrote";
    for (name, content, found) in [
        ("run.json", "{}", "an empty JSON object"),
        ("run.json", "", "an empty file"),
        ("run.csv", "function,communicator,bytes\nMPI_Bcast,world,8\n", "CSV (columns: function, communicator, bytes)"),
        ("bench.json", MEASURED, "JSON of collie bench (--json)"),
        ("run.json", "{\"a\": 1}", "JSON of another kind (fields: a)"),
    ] {
        let (_folder, path) = file(name, content);
        for command in [&["report", &path][..], &["report", "--diff", &path, &path]] {
            let (code, words) = failed(&mut collie(command));
            assert!(code == 1 && words.contains(&format!("{path}: found {found}{accepted}")), "{words}");
        }
        if content != MEASURED {
            let (code, words) = failed(&mut collie(&["tune", &path]));
            assert!(
                code == 1 && words.contains(&format!("{path}: found {found}; accepted: what collie bench")),
                "{words}"
            );
        }
    }
}

#[test]
fn a_report_holds_what_was_asked_for_or_is_not_written() {
    let (folder, path) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    for form in ["html", "json"] {
        for option in ["--by rank", "--top 3"] {
            let words = format!(": a report in {form} holds all of every table; accepted: with --format text or csv");
            refused(&format!("report {path} {option} --format {form}"), &words);
        }
    }
    let output = folder.path().join("x.json");
    let words = "x.json': a report in html does not belong in a .json file; accepted endings: .html, .htm";
    refused(&format!("report {path} --format html -o {}", output.display()), words);
    assert!(!output.exists());
    let named = folder.path().join("x.page");
    printed(&mut collie(&["report", &path, "--format", "html", "-o", named.to_str().unwrap()]));
}

#[test]
fn drawings_and_rules_do_not_go_into_files_of_another_form() {
    let svg = "x.png': a drawing in SVG does not belong in a .png file; accepted endings: .svg";
    refused("draw bcast binomial --ranks 4 -o x.png", &format!("--output '{svg}"));
    refused("simulate bcast --ranks 4 --plot x.png", &format!("--plot '{svg}"));
    refused("tune --validate --svg x.png y.json", &format!("--svg '{svg}"));
    refused(
        "tune y.json -o x.json",
        "--output 'x.json': a rules file does not belong in a .json file; accepted endings: .rules, .conf, .txt",
    );
    refused(
        "fit -o x.csv",
        "--output 'x.csv': a network in JSON does not belong in a .csv file; accepted endings: .json",
    );
}

#[test]
fn every_file_that_cannot_be_written_is_told_alike() {
    let (_folder, measured) = file("bench.json", MEASURED);
    let (_other, recorded) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    for line in [
        "draw bcast binomial --ranks 4 -o /nowhere/x.svg".to_owned(),
        "simulate bcast --ranks 4 --bytes 8 --plot /nowhere/x.svg".to_owned(),
        format!("tune {measured} -o /nowhere/x.rules"),
        format!("tune {measured} --validate --svg /nowhere/x.svg"),
        format!("report {recorded} -o /nowhere/x.html"),
        "list --pictures /proc/nowhere".to_owned(),
    ] {
        let (code, words) = failed(&mut collie(&line.split(' ').collect::<Vec<_>>()));
        assert!(
            code == 1 && words.starts_with("collie: cannot write /") && words.contains("nowhere"),
            "{line}: {words}"
        );
    }
}

#[test]
fn a_verdict_never_stands_beside_a_ratio_that_denies_it() {
    let mut level = compared();
    for (from, to) in
        [("0.7703512616696837", "0.9986"), ("0.7678257815244123", "0.9982"), ("0.7732341183097726", "0.9991")]
    {
        assert!(level.contains(from), "{from}");
        level = level.replace(from, to);
    }
    let (_folder, path) = file("run.json", &level);
    let table = printed(&mut collie(&["report", &path, "--by", "verdict"]));
    let slower = table.lines().find(|line| line.contains(" slower ")).unwrap();
    assert!(slower.contains(" 0.999 ") && slower.contains(" 0.998-0.999 "), "{table}");
}

#[test]
fn reductions_whose_order_matters_have_verdicts_of_their_own() {
    let compared = compared();
    let start = compared.find("\"comparisons\"").unwrap();
    let place = start + compared[start..].find("\"calls\"").unwrap();
    let in_order = format!("{}\"commutative\": false,\n      {}", &compared[..place], &compared[place..]);
    let (_folder, path) = file("run.json", &in_order);
    let table = printed(&mut collie(&["report", &path, "--by", "verdict"]));
    assert_eq!(table.matches("\nAllreduce* WORLD ").count(), 1, "{table}");
    assert!(table.contains("\n*: reductions by operations that are not commutative"), "{table}");
    let csv = printed(&mut collie(&["report", &path, "--by", "verdict", "--format", "csv"]));
    let ends: Vec<_> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(ends, ["commutative", "false", "true", "true", "true"]);
}

#[test]
fn what_has_no_effect_is_refused() {
    refused("simulate barrier --ranks 5 --bytes 8", "--bytes is for operations with data; barrier has none");
    refused("simulate allreduce --ranks 4 --bytes 8,9", "--bytes 9 is not a whole number of elements of 8 bytes");
    refused(
        "draw allreduce ring --ranks 4 --numa 2",
        "--numa is for algorithms in shared memory; allreduce ring sends messages",
    );
    refused("tune --network ethernet --ranks 8 --ours", "the argument '--ranks <RANKS>' cannot be used with '--ours'");
    refused("explain gather --ranks 4 --bytes 3 --element 5", "--element is for reductions; gather reduces nothing");
    refused("explain barrier --ranks 4 --numa 2", "--numa is for ranks that share memory");
    refused("explain reduce --ranks 4 --element 3000G", "accepted: bytes from 1 to 1024G");
    refused("simulate --against x.json --patience 0", "--patience");
    let (_folder, path) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    refused(&format!("report {path} --format json -o -"), "--output '-': accepted: the name of a file");
}

#[test]
fn explain_takes_messages_in_the_pieces_that_variables_say() {
    let line = ["explain", "allreduce", "--ranks", "40", "--nodes", "16,16,8", "--bytes", "64K"];
    let ring = |variable: &str, value: &str| {
        let text = printed(collie(&line).env(variable, value));
        let mut rows = text.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
        rows.find(|row| row.first() == Some(&"ring")).map(|row| row[1..3].join(" ")).unwrap()
    };
    assert_ne!(ring("COLLIE_PIECE", "off"), ring("COLLIE_PIECE", "1K"));
    assert_ne!(ring("COLLIE_LIMITS", "off"), ring("COLLIE_LIMITS", "1024x8"));
    let shared = printed(&mut collie(&["explain", "barrier", "--ranks", "8", "--transport", "shared"]));
    assert!(shared.contains("by default shared_memory:") && shared.contains("\n  barrier "), "{shared}");
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
