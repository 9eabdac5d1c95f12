//! Values of variables as users write them, each refused with what is accepted.

use super::error::suggestion;
use super::file_names;
use super::settings::{ReportFormat, ReportTarget};
use crate::algorithm::{format_bytes, parse_bytes};
use crate::operation::upper_bound;
use crate::schedule::limits::{Limit, ProtocolLimits};
use std::path::{Component, Path, PathBuf};

/// The value of the word.
///
/// # Errors
/// What is accepted.
pub fn word<T: Copy>(found: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == found) {
        return Ok(*value);
    }
    let accepted: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let list = accepted.join(", ");
    Err(format!("'{found}' is not accepted; accepted: {list}{}", suggestion(found, accepted)))
}

/// `COLLIE_LIMITS`.
///
/// # Errors
/// What is accepted.
pub fn limits(text: &str) -> Result<Option<ProtocolLimits>, String> {
    match text {
        "auto" => Ok(None),
        "off" => Ok(Some(ProtocolLimits::NONE)),
        list => {
            let limits: Option<Vec<Limit>> = list.split(',').map(|limit| limit.parse().ok()).collect();
            let limits = limits.and_then(ProtocolLimits::of);
            limits.map(Some).ok_or_else(|| {
                format!("'{list}' is not accepted; accepted: auto, off, or one or two numbers of bytes from 1 to 134217727, ascending, each with the greatest number of fragments if more than two (a power of two up to 128) and with :one_way or :exchange if it is for such messages only, such as 256,4040 or 256:one_way,4040x32:exchange")
            })
        }
    }
}

/// A number from `least` on.
///
/// # Errors
/// What is accepted.
pub fn whole_number(found: &str, least: usize) -> Result<usize, String> {
    let refuse =
        || format!("'{found}' is not accepted; accepted: a whole number, at least {least}{}", upper_bound(found));
    found.parse().ok().filter(|number| *number >= least).ok_or_else(refuse)
}

/// A whole number of seconds, at least 1; as many as there is room for.
///
/// # Errors
/// What is accepted.
pub fn seconds(found: &str) -> Result<u32, String> {
    let refuse = || format!("'{found}' is not accepted; accepted: a whole number of seconds, at least 1");
    let number = found.parse().ok().filter(|seconds: &usize| *seconds > 0).ok_or_else(refuse)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A whole number of percent from 1 to 50.
///
/// # Errors
/// What is accepted.
pub fn percent(found: &str) -> Result<u32, String> {
    let refuse =
        || format!("'{found}' is not accepted; accepted: a whole number of percent from 1 to 50, with or without %");
    let number = found.strip_suffix('%').unwrap_or(found).trim_end();
    number.parse().ok().filter(|percent| (1..=50).contains(percent)).ok_or_else(refuse)
}

/// Bytes from `least` on.
///
/// # Errors
/// What is accepted.
pub fn size(found: &str, least: usize) -> Result<usize, String> {
    let refuse = || {
        let at_least = if least > 0 { format!(", at least {}", format_bytes(least)) } else { String::new() };
        format!(
            "'{found}' is not accepted; accepted: a number of bytes{at_least}{}; K, M and G are powers of 1024",
            upper_bound(found)
        )
    };
    parse_bytes(found).filter(|bytes| *bytes >= least).ok_or_else(refuse)
}

/// `COLLIE_REPORT`.
///
/// # Errors
/// What is accepted.
pub fn report(list: &str) -> Result<Vec<ReportTarget>, String> {
    if list == "off" {
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for item in list.split(',').map(str::trim) {
        let target = report_target(item)?;
        if targets.iter().any(|known| is_same_target(known, &target)) {
            return Err(format!("'{item}' is given twice"));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn is_same_target(one: &ReportTarget, other: &ReportTarget) -> bool {
    match (one, other) {
        (ReportTarget::File { path: one, .. }, ReportTarget::File { path: other, .. }) => is_same_file(one, other),
        _ => one == other,
    }
}

/// Whether both are names of one file, as far as names tell.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let parts = |path: &'_ Path| -> Vec<_> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    parts(one) == parts(other)
}

fn report_target(item: &str) -> Result<ReportTarget, String> {
    match item {
        "stderr" => return Ok(ReportTarget::Stderr),
        "off" => return Err("off stands alone, not in a list".to_owned()),
        _ => {}
    }
    let ending = Path::new(item).extension().and_then(|ending| ending.to_str());
    let format = ending.and_then(ReportFormat::from_ending).ok_or_else(|| {
        let suggestion = suggestion(item, ["off", "stderr"]);
        format!(
            "'{item}' is not accepted; accepted: off, stderr, a file name that ends in .txt, .json, .csv or .html{suggestion}"
        )
    })?;
    file_names::check(item)?;
    Ok(ReportTarget::File { path: PathBuf::from(item), format })
}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Modules that write to the log, they or those in them.
const LOGGING: [&str; 7] = ["call", "communicator", "entry", "mpi", "process", "service", "shared"];

/// Whether the log can be asked for more or less of what `module` writes.
fn is_module(module: &str) -> bool {
    let Some(inner) = module.strip_prefix("collie::") else { return module == "collie" };
    let first = inner.split("::").next().unwrap_or(inner);
    LOGGING.contains(&first)
}

/// `COLLIE_LOG`. A misspelt level would be a module's name to env_logger, and switch everything off.
///
/// # Errors
/// What is accepted.
pub fn log_filter(text: &str) -> Result<String, String> {
    let directives = text.split_once('/').map_or(text, |(directives, _)| directives);
    for directive in directives.split(',').map(str::trim) {
        if directive.is_empty() {
            return Err(format!("'{text}' names no level in one place; accepted: {}", LEVELS.join(", ")));
        }
        let (module, level) = match directive.split_once('=') {
            Some((module, level)) => (Some(module), Some(level)),
            None if directive == "collie" || directive.starts_with("collie::") => (Some(directive), None),
            None => (None, Some(directive)),
        };
        if let Some(module) = module.filter(|module| !is_module(module)) {
            let accepted = LOGGING.map(|module| format!("collie::{module}")).join(", ");
            return Err(format!(
                "'{module}' in '{directive}' is not a module of Collie that logs; accepted: collie, {accepted}"
            ));
        }
        if let Some(level) = level.filter(|level| !LEVELS.contains(&level.to_ascii_lowercase().as_str())) {
            let nearest = suggestion(level, LEVELS);
            let part = if directive == level { String::new() } else { format!(" in '{directive}'") };
            return Err(format!("'{level}'{part} is not a level; accepted: {}{nearest}", LEVELS.join(", ")));
        }
    }
    Ok(text.to_owned())
}
