//! Modes `compare` and `verify` under a program whose results are known, and under one whose messages are corrupted.

use crate::job::alone;
use crate::mpi::{Family, Launch};
use crate::programs::accounted;
use crate::report::{self, Report, Row};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

type Test = fn(&Family) -> Result<(), Failed>;
type Fits = Box<dyn Fn(&Row) -> bool>;

/// What looks at times.
const TIMED: &[(&str, Test)] = &[
    ("best", best),
    ("best_by_its_tables", best_by_its_tables),
    ("compare", compare),
    ("compare_with_itself", compare_with_itself),
    ("compare_by_threads", compare_by_threads),
    ("whoever_looks_on_the_same_actions_are_played", one_player),
];

const TESTS: &[(&str, Test)] = &[
    ("passed_on_by_sizes", passed_on_by_sizes),
    ("verify", verify),
    ("verify_looks_at_no_padding", no_padding),
    ("verify_looks_into_types_by_precision", types_by_precision),
    ("verify_judges_what_it_can", own_operations),
    ("verify_of_elements_far_apart", far_apart),
    ("verify_allows_what_the_order_decides", of_orders),
    ("verify_judges_each_element_by_its_own", of_neighbours),
    ("verify_gives_ours_where_native_is_wrong", wrong_natively),
    ("verify_finds_a_corrupted_message", corrupted),
    ("verify_ends_the_job", corrupted_to_the_end),
];

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let timed = TIMED.iter().map(|(name, test)| (name, *test, true));
    let others = TESTS.iter().map(|(name, test)| (name, *test, false));
    let trial = |(name, test, is_timed): (&&str, Test, bool)| {
        let name = format!("{}::{name}", family.name);
        if is_timed { alone(name, move || test(family)) } else { Trial::test(name, move || test(family)) }
    };
    timed.chain(others).map(trial).collect()
}

/// An algorithm of Collie's for every call of `rounds.c`, whatever default tables say.
fn forced(mode: &str) -> [(&str, &str); 4] {
    [("COLLIE_MODE", mode), ("COLLIE_ALLREDUCE", "ring"), ("COLLIE_BCAST", "binomial"), ("COLLIE_REDUCE", "binomial")]
}

/// Mode `best` with rules: each size gets what its rule says, and of what none speaks the tables decide.
fn best(family: &Family) -> Result<(), Failed> {
    let path = crate::mpi::scratch().join(format!("best-{}-{}.rules", family.name, std::process::id()));
    std::fs::write(&path, "allreduce * 0-1K native\nallreduce * * ring\nbcast * * binomial if one_node\n")?;
    let file = path.display().to_string();
    let found = accounted(family, "rounds.c", &[], 3, &[("COLLIE_MODE", "best"), ("COLLIE_RULES", &file)]);
    std::fs::remove_file(&path)?;
    let (outcome, report) = found?;
    let by_rule = |algorithm: &'static str, line: u32| {
        let rule = format!("{file}:{line}");
        move |row: &Row| row.algorithm == algorithm && row.decided_by == rule
    };
    let expected: [(&str, Fits); 4] = [
        ("MPI_Allreduce", Box::new(by_rule("native", 1))),
        ("MPI_Allreduce", Box::new(by_rule("ring", 2))),
        ("MPI_Bcast", Box::new(by_rule("binomial:segment=none", 3))),
        ("MPI_Reduce", Box::new(is_by_tables)),
    ];
    for (number, (function, fits)) in expected.iter().enumerate() {
        let calls = report.calls(|row| row.function == *function && fits(row));
        if calls != 180 {
            let rows = &report.rows;
            let number = number + 1;
            return Err(format!(
                "{calls} calls of {function} are place {number} of those expected\n{rows:#?}\n{}",
                outcome.told()
            )
            .into());
        }
    }
    if report.whole["mode"] == "best" { Ok(()) } else { Err("the report does not say mode best".into()) }
}

/// Whether what decided is what was measured, or that nothing was.
fn is_by_tables(row: &Row) -> bool {
    row.decided_by.starts_with("best one_node") || row.decided_by == "best: not measured" && row.algorithm == "native"
}

/// Without rules, the tables decide everything.
fn best_by_its_tables(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "rounds.c", &[], 2, &[("COLLIE_MODE", "best")])?;
    let strays = report.calls(|row| !is_by_tables(row));
    if strays > 0 {
        return Err(format!("{strays} calls decided by something else\n{:#?}\n{}", report.rows, outcome.told()).into());
    }
    Ok(())
}

/// Half of the epochs run natively, half with Collie's algorithm, and each cell has its verdict.
fn compare(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "rounds.c", &[], 3, &forced("compare"))?;
    let comparisons = report.whole["comparisons"].as_array().ok_or("no comparisons")?;
    let functions: Vec<_> = comparisons.iter().filter_map(|row| row["function"].as_str()).collect();
    for (function, cells) in [("MPI_Allreduce", 2), ("MPI_Bcast", 1), ("MPI_Reduce", 1)] {
        if functions.iter().filter(|found| **found == function).count() != cells {
            return Err(format!("{function}: not {cells} comparisons\n{comparisons:#?}\n{}", outcome.told()).into());
        }
        let native = report.calls(|row| row.function == function && row.algorithm == "native");
        let ours = report.calls(|row| row.function == function && row.algorithm != "native");
        // 60 calls a rank and cell, in six to ten pairs of epochs of three to five.
        let cells = cells as u64;
        if native + ours != 180 * cells || native.min(ours) < 54 * cells {
            return Err(format!("{function}: {native} native calls, {ours} of ours").into());
        }
    }
    comparisons.iter().try_for_each(judged)
}

fn judged(row: &Value) -> Result<(), Failed> {
    let at = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
    let verdict = row["verdict"].as_str().unwrap_or_default();
    let (low, high) = (at("ratio_low"), at("ratio_high"));
    // The interval leaves 1 out where there is a verdict; ties may shift the test's edge a little.
    let fits = match verdict {
        "faster" => low > 0.99 && at("saved_seconds") > 0.0,
        "slower" => high < 1.01 && at("saved_seconds") < 0.0,
        "no_difference" => low < 1.01 && high > 0.99 && row["saved_seconds"].is_null(),
        _ => false,
    };
    let holds = row["calls"] == 60
        && (6.0..=10.0).contains(&at("pairs"))
        && at("native_median_seconds") > 0.0
        && at("collie_median_seconds") > 0.0
        && low <= at("ratio")
        && at("ratio") <= high
        && (0.0..=1.0).contains(&at("p_value"))
        && fits;
    if holds { Ok(()) } else { Err(format!("not a comparison of 60 calls\n{row:#}").into()) }
}

/// Native against native, in a program whose calls repeat themselves in many ways: no algorithm of Collie's runs, and
/// of 40 comparisons about two tell a difference.
fn compare_with_itself(family: &Family) -> Result<(), Failed> {
    let variables = [("COLLIE_MODE", "compare-self"), ("COLLIE_ALLREDUCE", "ring")];
    let (outcome, report) = accounted(family, "periodic.c", &[], 2, &variables)?;
    let comparisons = report.whole["comparisons"].as_array().ok_or("no comparisons")?;
    let verdicts = |wanted: &str| comparisons.iter().filter(|row| row["verdict"] == wanted).count();
    let (faster, slower) = (verdicts("faster"), verdicts("slower"));
    // More than nine of 40 at 5 % come once in 30,000 runs.
    if comparisons.len() != 40 || verdicts("too_few_epochs") > 0 || faster + slower > 9 {
        return Err(format!("{faster} faster, {slower} slower\n{comparisons:#?}\n{}", outcome.told()).into());
    }
    let played = report.whole["played"]["calls"].as_u64().unwrap_or(0);
    let ours = report.calls(|row| row.algorithm != "native");
    let other = report.calls(|row| row.decided_by == "native epoch in Collie's place");
    if played > 0 || ours > 0 || other == 0 {
        let told = outcome.told();
        return Err(
            format!("{played} calls were played, {ours} counted as ours, {other} in their place\n{told}").into()
        );
    }
    Ok(())
}

/// Threads take turns apart, each on its communicator.
fn compare_by_threads(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "pitfall_12_threads.c", &[], 2, &forced("compare"))?;
    if !outcome.stdout.contains("check: this MPI has no MPI_THREAD_MULTIPLE") {
        let (native, ours) =
            (report.calls(|row| row.algorithm == "native"), report.calls(|row| row.algorithm != "native"));
        let communicators = report.whole["communicators"].as_array().map_or(0, Vec::len);
        if native == 0 || ours == 0 || communicators != 4 {
            return Err(format!("{native} native calls, {ours} of ours, {communicators} communicators").into());
        }
    }
    Ok(())
}

/// Settings that watch calls in some way, and must change nothing about what carries them out.
const WATCHED: [(&str, &[(&str, &str)]); 6] = [
    ("verified", &[("COLLIE_MODE", "verify")]),
    ("traced", &[("COLLIE_TRACE", "TRACE")]),
    ("watched", &[("COLLIE_WATCHDOG", "60")]),
    ("synchronised by clock", &[("COLLIE_SYNC", "clock")]),
    ("synchronised by barrier", &[("COLLIE_SYNC", "barrier")]),
    ("logged", &[("COLLIE_LOG", "collie=trace")]),
];

/// The same calls are played, from programs that were kept, as the same actions, with and without somebody who looks
/// on.
fn one_player(family: &Family) -> Result<(), Failed> {
    let alone = played(family, &[])?;
    if alone[0] == 0 || alone[0] != alone[1] {
        return Err(format!("{alone:?}: calls, kept, actions").into());
    }
    let trace = crate::mpi::scratch().join(format!("trace-{}.json", std::process::id())).display().to_string();
    for (name, variables) in WATCHED {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, if *value == "TRACE" { &*trace } else { *value })).collect();
        let watched = played(family, &variables)?;
        if watched != alone {
            return Err(format!("{name}: {watched:?} in place of {alone:?}: calls, kept, actions").into());
        }
    }
    drop(std::fs::remove_file(&trace));
    // Half of the calls are native; the others are played like any.
    let (outcome, report) = accounted(family, "rounds.c", &[], 3, &forced("compare"))?;
    let of_rows = report.calls(|row| row.algorithm != "native");
    let [calls, kept, _] = of_player(&report);
    if calls == 0 || [calls, kept] != [of_rows; 2] {
        return Err(format!("compare: {of_rows} calls by ours, {calls} played, {kept} kept\n{}", outcome.told()).into());
    }
    Ok(())
}

/// What the player counted of the calls of `rounds.c`: calls, those from kept programs, actions.
fn played(family: &Family, variables: &[(&str, &str)]) -> Result<[u64; 3], Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let mut all = vec![
        ("COLLIE_REPORT", &*path_text),
        ("COLLIE_ALLREDUCE", "ring"),
        ("COLLIE_BCAST", "binomial"),
        ("COLLIE_REDUCE", "binomial"),
        ("COLLIE_GATHER", "linear"),
        ("COLLIE_SCATTER", "linear"),
        ("COLLIE_ALLGATHER", "ring"),
        ("COLLIE_BARRIER", "dissemination"),
    ];
    all.extend(variables);
    let command = vec![family.program("rounds.c")?.display().to_string()];
    let launch = Launch { ranks: 3, command, variables: &all, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    Ok(of_player(&report))
}

fn of_player(report: &Report) -> [u64; 3] {
    ["calls", "kept", "actions"].map(|name| report.whole["played"][name].as_u64().unwrap_or(0))
}

/// Right results are called equal, also sums that another order rounds in another way.
fn verify(family: &Family) -> Result<(), Failed> {
    let mut settings = forced("verify").to_vec();
    settings.push(("COLLIE_ON_DIFFERENCE", "abort"));
    for result in ["native", "ours"] {
        settings.truncate(5);
        settings.push(("COLLIE_VERIFY_RESULT", result));
        verified(family, &settings, result)?;
    }
    Ok(())
}

/// One of the two counts as the program's call, and says beside what.
fn verified(family: &Family, settings: &[(&str, &str)], result: &str) -> Result<(), Failed> {
    let (outcome, report) = accounted(family, "rounds.c", &[], 3, settings)?;
    for (function, calls) in [("MPI_Allreduce", 360), ("MPI_Bcast", 180), ("MPI_Reduce", 180)] {
        let told = report.calls(|row| {
            let native = row.algorithm == "native" && row.decided_by.starts_with("mode verify, beside ");
            row.function == function && if result == "native" { native } else { row.algorithm != "native" }
        });
        if told != calls {
            return Err(format!("{function}: {told} calls, not {calls}\n{}", outcome.told()).into());
        }
    }
    let verification = &report.whole["verification"];
    // Four calls a round on three ranks: two sums for all, one for a root, and a broadcast, of which a root has no result.
    if verification["calls"] != 60 * (2 * 3 + 1 + 2)
        || verification["failed"] != serde_json::Value::Null
        || verification["differences"].as_array().is_none_or(|found| !found.is_empty())
    {
        return Err(format!("{verification:#}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Long doubles with different bytes in the places that are nobody's are equal.
fn no_padding(family: &Family) -> Result<(), Failed> {
    let settings = [
        ("COLLIE_MODE", "verify"),
        ("COLLIE_ON_DIFFERENCE", "abort"),
        ("COLLIE_ALLREDUCE", "recursive_doubling"),
        ("COLLIE_REDUCE", "binomial"),
    ];
    let (outcome, report) = accounted(family, "long_doubles.c", &[], 3, &settings)?;
    let verification = &report.whole["verification"];
    // Eight kinds of reduction, for all three ranks and for one.
    if verification["calls"] != 8 * (3 + 1) || verification["differences"].as_array().is_none_or(|all| !all.is_empty())
    {
        return Err(format!("{verification:#}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// Calls with types and operations made for them that are left to the MPI library are found by the sizes of these: they
/// are counted as by who looks at all of each call, as a trace has it.
fn passed_on_by_sizes(family: &Family) -> Result<(), Failed> {
    let native = ["BCAST", "GATHER", "SCATTER", "ALLGATHER", "ALLTOALL", "ALLREDUCE", "REDUCE"];
    let native = native.map(|operation| format!("COLLIE_{operation}"));
    let by_mode = vec![("COLLIE_MODE", "native")];
    let by_choice = native.iter().map(|variable| (variable.as_str(), "native")).collect::<Vec<_>>();
    let trace = crate::mpi::scratch().join(format!("sizes-{}-{}.trace.json", family.name, std::process::id()));
    let trace_text = trace.display().to_string();
    for settings in [by_mode, by_choice] {
        let counted = |more: &[(&str, &str)]| -> Result<_, Failed> {
            let settings = [&settings[..], more].concat();
            let (outcome, report) = accounted(family, "made_alike.c", &[], 3, &settings)?;
            let rows = report.whole["rows"].as_array().cloned().unwrap_or_default();
            let columns = ["function", "bytes_from", "algorithm", "decided_by", "calls_all_ranks", "bytes"];
            let row = |row: &Value| columns.map(|column| row[column].to_string()).join(" ");
            let mut rows: Vec<_> = rows.iter().map(row).collect();
            rows.sort();
            Ok((rows, outcome))
        };
        let (by_sizes, outcome) = counted(&[])?;
        let (by_arguments, _) = counted(&[("COLLIE_TRACE", &trace_text)])?;
        std::fs::remove_file(&trace)?;
        if by_sizes != by_arguments || by_sizes.len() < 7 {
            return Err(format!("{by_sizes:#?}\nand with a trace\n{by_arguments:#?}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// Types that are looked into for bytes that are nobody's may be made of predefined ones without names.
fn types_by_precision(family: &Family) -> Result<(), Failed> {
    let settings = [("COLLIE_MODE", "verify"), ("COLLIE_ALLGATHER", "ring"), ("COLLIE_BCAST", "binomial")];
    accounted(family, "types_by_precision.c", &[], 3, &settings).map(drop)
}

/// Memory that types of absolute addresses span is not there to be copied.
fn far_apart(family: &Family) -> Result<(), Failed> {
    for result in ["native", "ours"] {
        let settings = [
            ("COLLIE_MODE", "verify"),
            ("COLLIE_ON_DIFFERENCE", "abort"),
            ("COLLIE_VERIFY_RESULT", result),
            ("COLLIE_BCAST", "binomial"),
            ("COLLIE_SCATTER", "linear"),
        ];
        let (outcome, report) = accounted(family, "bottom.c", &["few"], 3, &settings)?;
        let verification = &report.whole["verification"];
        if verification["calls"].as_u64() < Some(18) || verification["differences"] != serde_json::json!([]) {
            return Err(format!("{verification:#}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// What operations of the program's make of numbers of one kind is judged as those of MPI are; of elements of several
/// kinds, and of bytes, nothing is said but that: no difference is reported where there is none but of rounding.
fn own_operations(family: &Family) -> Result<(), Failed> {
    let settings = [("COLLIE_MODE", "verify"), ("COLLIE_ALLREDUCE", "ring")];
    let (outcome, report) = accounted(family, "own_operations.c", &[], 5, &settings)?;
    let verification = &report.whole["verification"];
    let unjudged = verification["not_comparable"].as_u64().unwrap_or_default();
    // Four calls on five ranks; two of the kinds cannot be judged where some element was rounded in another way.
    let judged = verification["calls"] == 4 * 5 && verification["differences"] == serde_json::json!([]);
    if !judged || unjudged == 0 || unjudged > 2 * 5 {
        return Err(format!("{verification:#}\n{}", outcome.told()).into());
    }
    Ok(())
}

/// NaNs, overflow and zeros that come out as the order of the folds decides are no differences, and neither is what
/// cancellation leaves; in place, at every root, and by pairs too.
fn of_orders(family: &Family) -> Result<(), Failed> {
    for algorithm in ["ring", "recursive_doubling"] {
        let settings = [
            ("COLLIE_MODE", "verify"),
            ("COLLIE_ON_DIFFERENCE", "abort"),
            ("COLLIE_ALLREDUCE", algorithm),
            ("COLLIE_REDUCE", "binomial"),
        ];
        let (outcome, report) = accounted(family, "judged.c", &[], 4, &settings)?;
        let verification = &report.whole["verification"];
        // Fourteen kinds, each to four roots and twice to all four.
        let all_compared =
            verification["calls"] == 14 * (4 + 2 * 4) && verification["differences"] == serde_json::json!([]);
        if !all_compared || verification["not_comparable"].as_u64().is_none_or(|number| number == 0) {
            return Err(format!("{algorithm}: {verification:#}\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// A wrong element is found however large its neighbours are, and all calls that differ count, listed or not.
fn of_neighbours(family: &Family) -> Result<(), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [("COLLIE_MODE", "verify"), ("COLLIE_ALLREDUCE", "ring"), ("COLLIE_REPORT", &*path_text)];
    let command = vec![family.program("judged.c")?.display().to_string(), "10".to_owned()];
    let mut preload = vec![family.compiled("miscounting_tool.c", &["-shared", "-fPIC", "-ldl"])?];
    preload.extend(family.preload()?);
    let launch = Launch { ranks: 2, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    let report = Report::read(&path, &outcome)?;
    let verification = &report.whole["verification"];
    let listed = verification["differences"].as_array().ok_or("no differences")?;
    let fits = verification["differing"] == 10 * 3
        && listed.len() == 16
        && listed.iter().all(|found| found["rank"] == 1 && found["element"] == 3);
    if fits { Ok(()) } else { Err(format!("{verification:#}\n{}", outcome.told()).into()) }
}

/// A native allreduce that gives a wrong sum: the difference is told either way, and the program ends well with ours.
fn wrong_natively(family: &Family) -> Result<(), Failed> {
    for (result, status) in [("native", 1), ("ours", 0)] {
        let path = report::fresh();
        let path_text = path.display().to_string();
        let mut variables = forced("verify").to_vec();
        variables.extend([("COLLIE_VERIFY_RESULT", result), ("COLLIE_REPORT", &path_text)]);
        let command = vec![family.program("rounds.c")?.display().to_string(), "numbers".to_owned()];
        let mut preload = vec![family.compiled("miscounting_tool.c", &["-shared", "-fPIC", "-ldl"])?];
        preload.extend(family.preload()?);
        let launch = Launch { ranks: 2, command, variables: &variables, preload, others: Vec::new() };
        let outcome = family.run(&launch)?;
        let differences = outcome.stderr.lines().filter(|line| line.contains("differs from the native result")).count();
        if outcome.status != Some(status) || differences == 0 {
            return Err(format!("{result}: {differences} differences\n{}", outcome.told()).into());
        }
    }
    Ok(())
}

/// The wrong bit is told with rank, call, element and both values; the program gets the native result and ends well.
fn corrupted(family: &Family) -> Result<(), Failed> {
    let (outcome, report) = under_corruption(family, "report")?;
    let outcome = outcome.success()?;
    let report = report.ok_or("no report")?;
    let differences = report.whole["verification"]["differences"].as_array().ok_or("no differences")?;
    // Rank 0 got the wrong bit; that the ranks' results are not the same, both see.
    let expected = [(0, 3, "1061", "1125"), (1, 0, "one result on all ranks", "results that differ between ranks")];
    let fits = differences.len() == 2
        && expected.iter().zip(differences).all(|((rank, element, native, ours), found)| {
            found["rank"] == *rank
                && found["function"] == "MPI_Allreduce"
                && found["algorithm"] == "recursive_doubling"
                && found["call"] == 6
                && found["element"] == *element
                && found["native"] == *native
                && found["ours"] == *ours
        });
    let told = "rank 0: MPI_Allreduce, verified call 6 on MPI_COMM_WORLD, 6 MPI_INT, MPI_SUM: recursive_doubling differs \
                from the native result at element 3: native 1061, ours 1125";
    if fits && outcome.stderr.contains(told) {
        Ok(())
    } else {
        Err(format!("{differences:#?}\n{}", outcome.told()).into())
    }
}

/// Asked to, it ends the job with a code of its own.
fn corrupted_to_the_end(family: &Family) -> Result<(), Failed> {
    let (outcome, _) = under_corruption(family, "abort")?;
    if outcome.status == Some(65) && outcome.stderr.contains("MPI_Allreduce, verified call 6") {
        Ok(())
    } else {
        Err(outcome.told().into())
    }
}

/// `rounds.c` on two ranks, Collie's sixth message of rank 1 with a bit turned over. Only MPI_Allreduce is Collie's, so
/// that its sixth message is its sixth call's.
fn under_corruption(family: &Family, on_difference: &str) -> Result<(crate::job::Outcome, Option<Report>), Failed> {
    let path = report::fresh();
    let path_text = path.display().to_string();
    let variables = [
        ("COLLIE_MODE", "verify"),
        ("COLLIE_ON_DIFFERENCE", on_difference),
        ("COLLIE_ALLREDUCE", "recursive_doubling"),
        ("COLLIE_BCAST", "native"),
        ("COLLIE_REDUCE", "native"),
        // The message that is corrupted is to be one of a collective.
        ("COLLIE_LIMITS", "off"),
        ("COLLIE_REPORT", &path_text),
    ];
    let command = vec![family.program("rounds.c")?.display().to_string(), "numbers".to_owned()];
    let mut preload = vec![family.compiled("corrupting_tool.c", &["-shared", "-fPIC", "-ldl"])?];
    preload.extend(family.preload()?);
    let launch = Launch { ranks: 2, command, variables: &variables, preload, others: Vec::new() };
    let outcome = family.run(&launch)?;
    let report = if path.exists() { Some(Report::read(&path, &outcome)?) } else { None };
    Ok((outcome, report))
}
