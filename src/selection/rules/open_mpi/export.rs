//! Our rules in Open MPI's formats, for those who hand what they found to the native library.
//!
//! Where our rules overlap, the first one wins; the axis of communicator sizes, and in the classic format that of
//! message sizes, is cut where any rule begins or ends. `native` and `auto` become Open MPI's own decision.

use super::super::{BytesOf, Condition, Rule, Rules, Span};
use super::{COLLECTIVES, Settings, Theirs, algorithms};
use crate::algorithm::{Choice, Operation, Value, parse_choice};
use crate::selection::error::{ConfigurationError, ConfigurationErrors, Location};
use crate::selection::mpi_library::Implementation;
use crate::selection::wanted::Wanted;
use serde_json::json;
use std::fmt::Write;

/// A format of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Read by every release. Written for the search of 4.1 and 5.0; 6.0 takes sizes of communicators in another way.
    Classic,
    /// Read from 6.0 on.
    Json,
}

/// A rule of ours in their terms.
struct Translated {
    ranks: Span,
    /// As they count them.
    bytes: Span,
    condition: Option<Condition>,
    /// None for their own decision.
    algorithm: Option<(&'static Theirs, Settings)>,
}

/// `rules` in their format.
///
/// # Errors
/// Every rule that cannot be said in it.
pub fn export(rules: &Rules, format: Format) -> Result<String, ConfigurationErrors> {
    let mut wrong = Vec::new();
    let mut translated = Vec::new();
    for (number, name) in COLLECTIVES.iter().enumerate() {
        let Some(operation) = Operation::from_name(name) else { continue };
        let mut of_operation = Vec::new();
        for rule in rules.of(operation) {
            let others = |known: &Condition| matches!(known, Condition::Mpi(mpi) if *mpi != Implementation::OpenMpi);
            // What holds under other libraries is nothing to this one.
            if rule.conditions.iter().any(others) {
                continue;
            }
            match sizes(rule).iter().map(|rule| translate(rule, format)).collect::<Result<Vec<_>, _>>() {
                Ok(rules) => of_operation.extend(rules),
                Err(message) => {
                    let place = Location::File { path: rules.path.to_string(), line: rule.line as usize, column: 1 };
                    wrong.push((rule.line, ConfigurationError { place, message }));
                }
            }
        }
        if !of_operation.is_empty() {
            translated.push((number, *name, of_operation));
        }
    }
    if !wrong.is_empty() {
        // In the order of the file, not of the operations.
        wrong.sort_by_key(|(line, _)| *line);
        let wrong = wrong.into_iter().map(|(_, error)| error).collect();
        return Err(ConfigurationErrors(wrong));
    }
    Ok(match format {
        Format::Classic => classic(&translated),
        Format::Json => json_text(&translated),
    })
}

/// The same rule for each of the communicator sizes that its conditions leave, without those that say which.
fn sizes(rule: &Rule) -> Vec<Rule> {
    let Some(wanted) = rule.power_of_two() else { return vec![rule.clone()] };
    let powers = (0..MOST_RANKS.ilog2() + 1).map(|power| Span { least: 1 << power, most: 1 << power });
    let mut conditions = rule.conditions.clone();
    conditions.retain(|condition| !matches!(condition, Condition::PowerOfTwo | Condition::NotPowerOfTwo));
    let all = Span::between(powers.chain([rule.ranks]), MOST_RANKS).into_iter();
    // Every power of two is a span by itself.
    let here = all.filter(|ranks| rule.ranks.contains(ranks.least) && ranks.least.is_power_of_two() == wanted);
    here.map(|ranks| Rule { ranks, conditions: conditions.clone(), ..rule.clone() }).collect()
}

/// What a rule asks of places, in their terms.
///
/// # Errors
/// What they cannot say.
fn place(rule: &Rule, format: Format) -> Result<Option<Condition>, String> {
    // What holds there, and what nobody can say there.
    let is_taken_to_hold =
        |condition: &&Condition| matches!(condition, Condition::Mpi(Implementation::OpenMpi) | Condition::Commutative);
    let conditions: Vec<_> = rule.conditions.iter().filter(|condition| !is_taken_to_hold(condition)).collect();
    match (&conditions[..], format) {
        ([], _) => Ok(None),
        ([only @ (Condition::OneNode | Condition::OnePerNode)], Format::Json) => Ok(Some(**only)),
        ([Condition::RanksPerNode(Span { most: 1, .. })], Format::Json) => Ok(Some(Condition::OnePerNode)),
        (conditions, format) => {
            let found: Vec<_> = conditions.iter().map(ToString::to_string).collect();
            let (name, places) = match format {
                Format::Classic => ("classic", ""),
                Format::Json => ("JSON", "one_node or one_per_node, one of them per rule; "),
            };
            Err(format!(
                "Open MPI's {name} format cannot express '{}'; accepted there: {places}power_of_two, not_power_of_two and mpi=",
                found.join(" and ")
            ))
        }
    }
}

fn translate(rule: &Rule, format: Format) -> Result<Translated, String> {
    let condition = place(rule, format)?;
    let counts_all = rule.operation.has_blocks() && rule.bytes_of == BytesOf::Rank && rule.bytes != Span::ALL;
    let bytes = match counts_all {
        false => rule.bytes,
        true if rule.ranks.least == rule.ranks.most => Span {
            least: rule.bytes.least.saturating_mul(rule.ranks.least),
            most: rule.bytes.most.saturating_mul(rule.ranks.least),
        },
        true => {
            return Err(format!(
                "Open MPI counts the bytes of all ranks together for {}: write total=, or one communicator size",
                rule.operation
            ));
        }
    };
    let algorithm = match &rule.wanted {
        Wanted::Auto | Wanted::Native => None,
        Wanted::Algorithm(choice) => {
            let found = theirs(choice);
            Some(found.ok_or_else(|| unsaid(rule.operation, choice))?)
        }
    };
    Ok(Translated { ranks: rule.ranks, bytes, condition, algorithm })
}

/// Why there is no algorithm of theirs for it.
fn unsaid(operation: Operation, choice: &Choice) -> String {
    let automatic = choice.parameters.iter().find(|(_, value)| matches!(value, Value::Auto));
    let with_number = automatic.map(|(name, _)| {
        let mut known = choice.clone();
        known.set(name, Value::Number(64 << 10));
        known
    });
    match automatic {
        Some((name, _)) if with_number.as_ref().and_then(theirs).is_some() => {
            format!("{choice}: Collie computes {name}=auto for each call; Open MPI needs a number, such as {name}=64K")
        }
        _ => format!("Open MPI has no {operation} {choice}"),
    }
}

/// Their algorithm and settings that mean exactly `choice`.
fn theirs(choice: &Choice) -> Option<(&'static Theirs, Settings)> {
    let operation = choice.algorithm.operation;
    let value = |names: &[&str]| {
        let found = choice.parameters.iter().find(|(name, _)| names.contains(name));
        match found {
            Some((_, Value::Number(number))) if *number < usize::MAX => *number,
            _ => 0,
        }
    };
    let (fanout, segment) = (value(&["chains", "radix"]), value(&["segment", "first_segment"]));
    // What they set by themselves is left to them.
    for fanout in [0, fanout] {
        for requests in [0, value(&["max_requests"])] {
            let settings = Settings { fanout, segment, requests };
            let means =
                |row: &&Theirs| parse_choice(operation, &row.written(operation, settings)).as_ref() == Ok(choice);
            if let Some(row) = algorithms(operation).iter().find(means) {
                return Some((row, settings));
            }
        }
    }
    None
}

/// Largest communicator of theirs, in ranks.
const MOST_RANKS: usize = i32::MAX as usize;
/// Largest message of theirs, in bytes.
const MOST_BYTES: usize = i64::MAX as usize;

fn classic(collectives: &[(usize, &str, Vec<Translated>)]) -> String {
    let all = || collectives.iter().flat_map(|(_, _, rules)| rules);
    let requests = all().any(|rule| rule.algorithm.as_ref().is_some_and(|(_, settings)| settings.requests > 0));
    let mut text = String::new();
    if requests {
        text.push_str("rule-file-version-2\n");
    }
    let _ = writeln!(text, "{} # collectives", collectives.len());
    for (number, name, rules) in collectives {
        let blocks = Span::between(rules.iter().map(|rule| rule.ranks), MOST_RANKS);
        let _ = writeln!(text, "{number} # {name}\n{} # communicator sizes", blocks.len());
        for block in blocks {
            let here: Vec<_> = rules.iter().filter(|rule| rule.ranks.contains(block.least)).collect();
            let sizes = Span::between(here.iter().map(|rule| rule.bytes), MOST_BYTES);
            let _ = writeln!(text, " {} {} # ranks, rules", block.least, sizes.len());
            for size in sizes {
                let first = here.iter().find(|rule| rule.bytes.contains(size.least));
                let (algorithm, settings) = match first.and_then(|rule| rule.algorithm.as_ref()) {
                    Some((row, settings)) => (row.number, *settings),
                    None => (0, Settings::default()),
                };
                let _ = write!(text, "  {} {algorithm} {} {}", size.least, settings.fanout, settings.segment);
                let _ = if requests { writeln!(text, " {}", settings.requests) } else { writeln!(text) };
            }
        }
    }
    text
}

fn json_text(collectives: &[(usize, &str, Vec<Translated>)]) -> String {
    let mut object = serde_json::Map::new();
    for (_, name, rules) in collectives {
        let mut entries = Vec::new();
        for block in Span::between(rules.iter().map(|rule| rule.ranks), MOST_RANKS) {
            let here: Vec<_> = rules.iter().filter(|rule| rule.ranks.contains(block.least)).collect();
            // The first entry that fits is the only one that counts, so the narrower ones repeat what holds anywhere.
            for condition in [Some(Condition::OneNode), Some(Condition::OnePerNode), None] {
                let is_needed = here.iter().any(|rule| rule.condition == condition);
                let hold = here.iter().filter(|rule| rule.condition.is_none() || rule.condition == condition);
                let rules: Vec<_> = hold.map(|rule| json_rule(rule)).collect();
                if is_needed {
                    entries.push(json_entry(block, condition, rules));
                }
            }
        }
        object.insert((*name).to_owned(), entries.into());
    }
    format!("{:#}\n", json!({"rule_file_version": 3, "module": "tuned", "collectives": object}))
}

fn bound(number: usize) -> serde_json::Value {
    if number == usize::MAX { json!("inf") } else { json!(number) }
}

fn json_entry(ranks: Span, condition: Option<Condition>, rules: Vec<serde_json::Value>) -> serde_json::Value {
    let distribution = match condition {
        Some(Condition::OneNode) => "single-node",
        Some(_) => "one-per-node",
        None => "any",
    };
    let mut entry = json!({"comm_size_min": ranks.least, "comm_rank_distribution": distribution, "rules": rules});
    // Their upper end of sizes is a number only.
    if ranks.most < usize::MAX {
        entry["comm_size_max"] = json!(ranks.most);
    }
    entry
}

fn json_rule(rule: &Translated) -> serde_json::Value {
    let (name, settings) = match &rule.algorithm {
        Some((row, settings)) => (row.names.last().copied().unwrap_or_default(), *settings),
        None => ("ignore", Settings::default()),
    };
    let mut value = json!({"msg_size_min": rule.bytes.least, "msg_size_max": bound(rule.bytes.most), "alg": name});
    for (key, number) in [("faninout", settings.fanout), ("seg_size", settings.segment), ("reqs", settings.requests)] {
        if number > 0 {
            value[key] = json!(number);
        }
    }
    value
}
