//! `collie report`: recorded reports in every form, and differences of them.

use crate::samples::{RECORDED, compared};
use crate::started::{collie, failed, file, printed, refused};

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
fn what_a_report_is_made_of_is_not_replaced() {
    let recorded = RECORDED.splitn(3, "---\n").nth(2).unwrap();
    let (folder, path) = file("run.json", recorded);
    let same = folder.path().join(".").join("run.json");
    let same = same.to_str().unwrap();
    let copy = folder.path().join("copy.json");
    std::fs::write(&copy, recorded).unwrap();
    let runs = format!("{},{path}", copy.display());
    let of_folder = folder.path().to_str().unwrap();
    for arguments in
        [["report", "--diff", &runs, copy.to_str().unwrap()].as_slice(), &["report", &path], &["report", of_folder]]
    {
        let (code, words) = failed(collie(arguments).args(["-o", same]));
        assert!(code == 2 && words.contains("would replace") && words.contains("accepted: another file"), "{words}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), recorded);
    }
}

#[test]
fn a_read_only_file_is_not_replaced() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    /// The user to whom nothing belongs, on most systems.
    const NOBODY: u32 = 65534;
    let (folder, path) = file("run.json", RECORDED.splitn(3, "---\n").nth(2).unwrap());
    let output = folder.path().join("output");
    fs::write(&output, "kept").unwrap();
    fs::set_permissions(&output, Permissions::from_mode(0o444)).unwrap();
    // Whoever may write to the folder could put another file in its place.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let is_root = fs::File::options().append(true).open(&output).is_ok();
    let program = folder.path().join("collie");
    if is_root {
        // Where it is built, nobody else may look.
        fs::copy(collie(&[]).get_program(), &program).unwrap();
    }
    let name = output.to_str().unwrap();
    let of_report = ["report", &path, "--format", "csv", "-o", name];
    let of_draw = ["draw", "bcast", "binomial", "--ranks", "4", "-o", name];
    for arguments in [of_report.as_slice(), &of_draw] {
        let mut command = collie(arguments);
        if is_root {
            command = std::process::Command::new(&program);
            command.args(arguments).uid(NOBODY).gid(NOBODY);
        }
        let (code, words) = failed(&mut command);
        assert!(code == 1 && words.contains("cannot write ") && words.contains("denied"), "{words}");
        assert_eq!(fs::read(&output).unwrap(), b"kept");
    }
}

#[test]
fn what_is_left_out_of_matrices_is_told() {
    let recorded = RECORDED.splitn(3, "---\n").nth(2).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(recorded).unwrap();
    report["traffic"] = serde_json::json!([{ "from": 0, "to": 1, "messages": 3, "bytes": 24, "on_node": true }]);
    report["left_out"] = serde_json::json!({ "rows": 0, "calls": 0, "events": 0, "traffic": 5000, "late": 0, "comparisons": 0,
                                             "differences": 0, "members": 0 });
    let (folder, path) = file("run.json", &report.to_string());
    let outcome = collie(&["report", &path, "--matrices"]).arg(folder.path().join("traffic")).output().unwrap();
    let told = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success() && told.lines().count() == 1, "{told}");
    assert!(told.starts_with("collie: the matrices are incomplete: 5000 pairs of ranks, "), "{told}");
    let matrix = std::fs::read_to_string(folder.path().join("traffic/collie_size.mat")).unwrap();
    assert!(matrix.starts_with("0 24 0 ") && matrix.lines().count() == 8, "{matrix}");
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
    let ends = |csv: &str| -> Vec<_> {
        csv.lines().map(|line| line.rsplitn(3, ',').take(2).map(str::to_owned).collect::<Vec<_>>().join(" ")).collect()
    };
    let others = ["false true"; 3];
    assert_eq!(ends(&csv), [&["reduce_local commutative", "false false"][..], &others].concat());
    // By an operation of the program's own, whose order does not matter.
    let of_program = format!("{}\"reduce_local\": true,\n      {}", &compared[..place], &compared[place..]);
    let (_other, path) = file("run.json", &of_program);
    let table = printed(&mut collie(&["report", &path, "--by", "verdict"]));
    assert_eq!(table.matches("\nAllreduce+ WORLD ").count(), 1, "{table}");
    assert!(table.contains("\n+: reductions by user-defined operations") && !table.contains("\n*: "), "{table}");
    let csv = printed(&mut collie(&["report", &path, "--by", "verdict", "--format", "csv"]));
    assert_eq!(ends(&csv), [&["reduce_local commutative", "true true"][..], &others].concat());
}
