//! What the command says about itself and about the catalogue.

use crate::started::{collie, printed, text};
use std::process::{Output, Stdio};

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
fn help_env_prints_the_table() {
    let table = printed(&mut collie(&["help", "env"]));
    let markdown = printed(&mut collie(&["help", "env", "--markdown"]));
    for row in collie::selection::variables::VARIABLES.iter() {
        assert!(table.contains(&format!("\n{}\n  accepted: {}\n", row.name, row.accepted)), "{}", row.name);
        assert!(markdown.contains(&format!("| `{}` | {} | ", row.name, row.accepted)), "{}", row.name);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = collie(&["list", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert!(status.success(), "{status}: {}", text(&stderr));
    assert_eq!(text(&stderr), "");
}
