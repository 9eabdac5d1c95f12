//! `collie check`: what is wrong with a rules file.

use super::{Done, Failure};
use crate::algorithm;
use crate::bench::from_csv;
use crate::selection::{
    Condition, ConfigurationErrors, Format, Implementation, Purpose, Rule, Rules, RulesFile, for_open_mpi, never_used,
    parse_rules,
};
use serde_json::Value;

/// Check a rules file: Collie's own format or Open MPI's (classic, version 2, JSON)
#[derive(clap::Args)]
#[command(after_help = "Prints each mistake as file:line:column: what was found; what is accepted, and exits with 1 \
                        if there is any. \
                        Rules that can never apply, and those of Open MPI that Collie cannot follow, are reported as warnings.\n\nExamples:\n  collie check site.rules\n  collie check --tables learned.rules\n  collie check --print ompi.conf\n  collie check --export classic site.rules >ompi.conf")]
pub struct Arguments {
    /// The file
    file: String,
    /// The file is one for COLLIE_TABLES, where a row whose algorithm cannot be used, or that says auto, gives way
    /// to the next one
    #[arg(long)]
    tables: bool,
    /// Print the rules in Collie's own format, whatever format the file has
    #[arg(long)]
    print: bool,
    /// Print the rules in a format of Open MPI, for its coll_tuned_dynamic_rules_filename
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["print", "tables"])]
    export: Option<Export>,
}

/// Formats of Open MPI's.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Export {
    /// For releases 4.1 and 5.0
    Classic,
    /// For releases from 6.0 on
    Json,
}

/// Reads the file and tells what is wrong, or how many rules it has.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let RulesFile { path, text } = RulesFile::read(&arguments.file);
    let text = text.map_err(|why| Failure::cannot(format!("cannot read '{path}': {why}")))?;
    let prints = arguments.print || arguments.export.is_some();
    let wrong = |errors: ConfigurationErrors| {
        let told = format!("{errors}\n");
        // Standard output may be the file that rules are to be in.
        let (text, notes) = if prints { (String::new(), vec![told.trim_end().to_owned()]) } else { (told, Vec::new()) };
        Ok(Done { text, notes, code: 1 })
    };
    let rules = match parse_rules(&path, &text) {
        Ok(rules) => rules,
        Err(errors) => match another_kind(&text) {
            Some(found) => return Err(Failure::cannot(format!("{path}: found {found}"))),
            None => return wrong(errors),
        },
    };
    let purpose = if arguments.tables { Purpose::Tables } else { Purpose::Rules };
    let notes = || warnings(&path, &rules, purpose).lines().map(str::to_owned).collect::<Vec<_>>();
    let format = match arguments.export {
        None if arguments.print => return Ok(Done { text: rules.to_string(), notes: notes(), code: 0 }),
        None => {
            let warnings = warnings(&path, &rules, purpose);
            let counted = counted(&path, &rules, !warnings.is_empty());
            return Ok(Done::from(warnings + &counted));
        }
        Some(Export::Classic) => Format::Classic,
        Some(Export::Json) => Format::Json,
    };
    let of_others = rules.iter().filter(|rule| is_of_another_mpi(rule)).count();
    let left_out = (of_others > 0).then(|| {
        format!(
            "{path}: left out what is for other MPI libraries than Open MPI: {}",
            algorithm::counted(of_others, "rule")
        )
    });
    match for_open_mpi(&rules, format) {
        Ok(text) => Ok(Done { text, notes: notes().into_iter().chain(left_out).collect(), code: 0 }),
        Err(errors) => wrong(errors),
    }
}

/// What the file is instead of rules, where that is one of Collie's own, and what is accepted.
fn another_kind(text: &str) -> Option<&'static str> {
    if from_csv::is_csv(text) {
        return Some("CSV of collie bench; accepted: rules, which collie tune makes of it");
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let kinds = [
        ("cells", "measurements of collie bench; accepted: rules, which collie tune makes of them"),
        ("per_rank", "a report of a run; accepted: rules, which collie tune makes of one in mode compare"),
        ("on_node", "a network; accepted: rules, which collie tune --network makes of it"),
    ];
    kinds.into_iter().find(|(key, _)| value.get(key).is_some()).map(|(_, found)| found)
}

/// Rules that no call gets, one line each.
fn warnings(path: &str, rules: &Rules, purpose: Purpose) -> String {
    let never = never_used(rules, purpose).into_iter().map(|(line, why)| (line, format!("this rule {why}")));
    let mut told: Vec<_> = never.chain(rules.skipped.iter().map(|(line, why)| (*line as u32, why.clone()))).collect();
    told.sort_by_key(|(line, _)| *line);
    told.iter().map(|(line, why)| format!("{path}:{line}: warning: {why}\n")).collect()
}

fn is_of_another_mpi(rule: &Rule) -> bool {
    let is_other = |known: &Condition| matches!(known, Condition::Mpi(mpi) if *mpi != Implementation::OpenMpi);
    rule.conditions.iter().any(is_other)
}

fn counted(path: &str, rules: &Rules, are_warned_of: bool) -> String {
    let wrong = if are_warned_of { "no mistake" } else { "nothing wrong" };
    format!("{path}: {}, {wrong}\n", algorithm::counted(rules.iter().count(), "rule"))
}
