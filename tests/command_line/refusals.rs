//! What every subcommand refuses alike.

use crate::samples::{MEASURED, RECORDED};
use crate::started::{collie, failed, file, refused, text};

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
        // What the option needs conflicts with something else.
        &["tune", MEASURED, "--network", "ethernet", "--model", "cost", "--operation", "bcast"],
        &["tune", MEASURED, "--validate", "--steps", "5"],
        &["tune", "--network", "ethernet", "--ranks", "2", "--operation", "barrier", "--svg", "/nonexistent/q.svg"],
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
