//! `collie explain`: which algorithm a call gets, and why.

use crate::samples::MEASURED;
use crate::started::{collie, failed, file, printed};
use std::path::Path;

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
