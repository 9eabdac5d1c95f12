//! Measurements and verdicts, which `explain`, `tune` and `simulate` read alike.

use crate::samples::{MEASURED, compared};
use crate::started::{collie, failed, file, printed, text};
use std::process::Output;

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

#[test]
fn explain_shows_the_transports_that_were_measured() {
    let with = MEASURED.replace("\"variant\": \"binomial\"", "\"transport\": \"shared\", \"variant\": \"shared\"");
    let (_folder, path) = file("bench.json", &with);
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &path]));
    assert!(told.contains("  shared: binomial:segment=none  5 µs   2.00 (1.80 to 2.20)\n"), "{told}");
}

#[test]
fn orders_to_terminals_in_files_are_shown() {
    let (_folder, path) = file("bench.json", &MEASURED.replace("An MPI", "\\u001b[2JAn MPI"));
    let told = printed(&mut collie(&["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &path]));
    assert!(told.contains("measured on \\u001b[2JAn MPI 4.0") && !told.contains('\x1b'), "{told}");
}

#[test]
fn measurements_may_be_csv() {
    let rows = "operation,datatype,root,bytes,ranks,ranks_per_node,oversubscribed,variant,algorithm,median_seconds,mpi_library\n\
                bcast,double,0,512,8,8,false,native,native,1e-5,An MPI 4.0\n\
                bcast,double,0,512,8,8,false,binomial,binomial:segment=none,5e-6,An MPI 4.0\n";
    let (_folder, table) = file("bench.csv", rows);
    let (_other, report) = file("bench.json", MEASURED);
    let (_same, copy) = file("copy.csv", rows);
    for files in [&[table.as_str()][..], &[&report, &table]] {
        let rules = printed(collie(&["tune"]).args(files));
        let libraries = rules.matches("#   An MPI 4.0, jobs: 1\n").count();
        assert!(libraries == files.len() && rules.contains("native over this: 512 2.00"), "{rules}");
        assert_eq!(rules.contains("512 2.00 undecided"), files != [report.as_str()], "no interval tells: {rules}");
    }
    let Output { stdout, stderr, .. } = collie(&["tune", &table, &copy]).output().unwrap();
    let (rules, told) = (text(&stdout), text(&stderr));
    assert!(told.contains("copy.csv: holds the same measurements as ") && told.ends_with("count once\n"), "{told}");
    assert_eq!(rules.matches("#   An MPI 4.0, jobs: 1\n").count(), 1, "{rules}");
    let against = ["simulate", "--against", &table, "--against", &copy];
    let twice = ["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &table, "--measured", &copy];
    for (arguments, shown) in [(&against[..], "\nbcast  "), (&twice, "\nmeasured on An MPI")] {
        let Output { stdout, stderr, .. } = collie(arguments).output().unwrap();
        assert!(text(&stderr).contains("copy.csv: holds the same measurements as "), "{}", text(&stderr));
        assert_eq!(text(&stdout).matches(shown).count(), 1, "{}", text(&stdout));
    }
    let (_alone, alone) = file("alone.csv", &rows.replace("8,8,false", "1,1,false"));
    let (code, words) = failed(&mut collie(&["tune", &alone]));
    assert!(code == 1 && words.contains("alone.csv: holds calls of a single rank only"), "{words}");
    let explain = ["explain", "bcast", "--ranks", "8", "--bytes", "512", "--measured", &table];
    let told = printed(&mut collie(&explain));
    assert!(told.contains("measured on An MPI 4.0, 512 bytes, native over this:\n  binomial:segment=none"), "{told}");
    let (_wrong, wrong) = file("wrong.csv", &rows.replace("5e-6", "fast"));
    let (code, words) = failed(&mut collie(&["tune", &wrong]));
    let expected = "wrong.csv: line 3, column 10 (median_seconds): found 'fast'; accepted: seconds";
    assert!(code == 1 && words.contains(expected), "{words}");
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
fn measurements_of_more_ranks_than_there_can_be_are_refused() {
    let head = "operation,datatype,root,bytes,ranks,nodes,ranks_per_node,oversubscribed,variant,algorithm,\
                median_seconds,mpi_library";
    let row = "bcast,byte,0,8,1099511627776,1,1099511627776,false,native,,1.0,";
    let (_folder, path) = file("big.csv", &format!("{head}\n{row}\n"));
    let (code, words) = failed(&mut collie(&["tune", &path]));
    let expected = "column 5 (ranks): found '1099511627776'; accepted: a whole number up to 4294967295";
    assert!(code == 1 && words.contains(expected), "{code} {words}");
}
