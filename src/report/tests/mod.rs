//! Every writer on fixed runs; the expected bytes lie in `tests/snapshots`. `INSTA_UPDATE=always` writes them anew.

mod fixture;

use super::{Trace, diff, read, render};
use crate::monitor::{Summary, merge};
use crate::selection::ReportFormat::{self, Csv, Html, Json, Text};
use fixture::{compared, full, full_records, plain, verified};
use serde_json::Value;

/// The schema as it is handed to users.
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report-schema.json");

fn runs() -> [(&'static str, Summary); 5] {
    let empty = merge(Vec::new());
    [("plain", plain()), ("full", full()), ("compared", compared()), ("verified", verified()), ("empty", empty)]
}

fn text(format: ReportFormat, summary: &Summary) -> String {
    String::from_utf8(render(format, summary)).unwrap()
}

fn snapshot(name: &str, content: &str) {
    insta::with_settings!({ snapshot_path => "../../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, content);
    });
}

#[test]
fn text_is_as_it_was() {
    for (name, summary) in runs() {
        snapshot(&format!("{name}.txt"), &text(Text, &summary));
    }
}

#[test]
fn text_fits_a_screen() {
    for (name, summary) in runs() {
        let text = text(Text, &summary);
        assert!(text.lines().count() <= 20, "{name}: {} lines", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{name}: {line}");
            assert!(!line.ends_with(' '), "{name}: {line:?}");
        }
    }
}

#[test]
fn diff_is_as_it_was() {
    let (before, mut after) = (plain(), plain());
    after.rows.retain(|row| row.function != "MPI_Scan");
    for row in after.rows.iter_mut().filter(|row| row.function == "MPI_Allreduce") {
        row.total_seconds.mean /= 2.0;
        row.algorithm = "rabenseifner".into();
    }
    let text = diff(&before, &after);
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 100), "{text}");
    snapshot("diff.txt", &text);
}

#[test]
fn csv_is_as_it_was() {
    snapshot("full.csv", &text(Csv, &full()));
}

#[test]
fn what_found_no_room_is_in_every_form_that_has_a_place_for_it() {
    let (with, without) = (full(), plain());
    assert_eq!(read(&render(Json, &with)).unwrap().cache.map(|cache| cache.evicted), Some(8 * 1_504));
    assert!(text(Text, &with).contains("12032 evicted") && !text(Text, &without).contains("evicted"));
    let data = |summary: &Summary| text(Html, summary).split_once("application/json").unwrap().1.to_owned();
    assert!(data(&with).contains("\"cache\":{") && !data(&without).contains("\"cache\":{"));
}

#[test]
fn json_is_as_it_was() {
    snapshot("compared.json", &text(Json, &compared()));
}

#[test]
fn trace_is_as_it_was() {
    let records: Vec<_> = full_records().into_iter().take(2).collect();
    let mut trace = Trace::begin(Vec::new(), records[0].started_unix_ns).unwrap();
    for record in &records {
        trace.rank(record).unwrap();
        for event in &record.events {
            trace.event(record, event).unwrap();
        }
    }
    let written = String::from_utf8(trace.end().unwrap()).unwrap();
    let parsed: Value = serde_json::from_str(&written).unwrap();
    let entries = parsed["traceEvents"].as_array().unwrap();
    assert_eq!(entries.len(), 2 * (2 + 24));
    assert!(entries.iter().filter(|entry| entry["ph"] == "X").all(|entry| entry["ts"].as_f64().unwrap() >= 1e6));
    snapshot("trace.json", &written);
}

#[test]
fn json_reads_back_as_the_same_run() {
    for (name, summary) in runs() {
        assert_eq!(read(&render(Json, &summary)).unwrap(), summary, "{name}");
    }
}

#[test]
#[cfg(feature = "schema")]
fn json_follows_the_schema() {
    let schema: Value = serde_json::from_slice(&std::fs::read(SCHEMA).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, summary) in runs() {
        let report: Value = serde_json::from_slice(&render(Json, &summary)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let mut wrong = report;
        wrong["ranks"] = "eight".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn the_schema_is_the_summarys() {
    let mut schema = schemars::schema_for!(Summary).to_value();
    schema["title"] = "Report of a run under Collie".into();
    schema["description"] = "Written for COLLIE_REPORT=FILE.json. Times are in seconds, sizes in bytes, shares from 0 \
        to 1; a rank is a rank in MPI_COMM_WORLD. schema_version goes up when a field changes its meaning or goes away."
        .into();
    let expected = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(SCHEMA, &expected).unwrap();
    }
    let found = std::fs::read_to_string(SCHEMA).unwrap();
    assert!(found == expected, "docs/report-schema.json is not current; INSTA_UPDATE=always writes it anew");
}

#[test]
fn reports_of_other_versions_are_told_apart_from_no_reports() {
    assert!(read(b"{\"schema_version\": 99}").unwrap_err().to_string().contains("version 99"));
    assert!(read(b"{}").unwrap_err().to_string().contains("not a report"));
    assert!(read(b"ranks=8").is_err());
}

#[test]
fn the_page_needs_nothing_else_and_no_text_gets_out_of_its_data() {
    let mut summary = full();
    summary.command = "./a </script><script>alert(1)</script> {{data}} {{script}}".into();
    let page = text(Html, &summary);
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("</script>").count(), 3);
    let allowed = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!allowed.contains("http://") && !allowed.contains("https://") && !allowed.contains("src="));
    let (_, data) = page.split_once("type=\"application/json\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert_eq!(read(data.as_bytes()).unwrap(), summary);
    assert!(page.matches("<figure>").count() >= 5 && page.contains("MPI_Bcast on WORLD"));
}
