//! Our own format, one rule a line.

use super::{BytesOf, Condition, Rule, Span};
use crate::algorithm::Operation;
use crate::selection::error::{ConfigurationError, ConfigurationErrors, Location, operation_named};
use crate::selection::wanted::Wanted;

/// A word and its column, from 1.
type Word<'a> = (usize, &'a str);

/// What is wrong at which column.
type Wrong = (usize, String);

/// Reads the rules of `text`.
///
/// # Errors
/// Everything that is wrong in any line.
pub fn parse(path: &str, text: &str) -> Result<Vec<Rule>, ConfigurationErrors> {
    let mut rules = Vec::new();
    let mut errors = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let number = place + 1;
        let words = words(line.split_once('#').map_or(line, |(before, _)| before));
        if words.is_empty() {
            continue;
        }
        let mut wrong = Vec::new();
        match rule(&words, u32::try_from(number).unwrap_or(u32::MAX), &mut wrong) {
            Some(rule) if wrong.is_empty() => rules.push(rule),
            _ => errors.extend(wrong.into_iter().map(|(column, message)| ConfigurationError {
                place: Location::File { path: path.to_owned(), line: number, column },
                message,
            })),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(ConfigurationErrors(errors)) }
}

fn words(line: &str) -> Vec<Word<'_>> {
    let mut rest = line;
    let mut column = 1;
    let mut words = Vec::new();
    loop {
        let trimmed = rest.trim_start();
        column += rest[..rest.len() - trimmed.len()].chars().count();
        if trimmed.is_empty() {
            return words;
        }
        let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        let (word, after) = trimmed.split_at(end);
        words.push((column, word));
        column += word.chars().count();
        rest = after;
    }
}

/// The rule of a line; `None` only if something went to `wrong`.
fn rule(words: &[Word<'_>], line: u32, wrong: &mut Vec<Wrong>) -> Option<Rule> {
    let [operation, ranks, bytes, wanted, rest @ ..] = words else {
        let &(column, last) = words.last()?;
        let missing = ["operation", "communicator size", "bytes", "algorithm"][words.len()..].join(", ");
        wrong.push((
            column + last.chars().count(),
            format!("the line ends early; missing: {missing} (operation, communicator size, bytes, algorithm)"),
        ));
        return None;
    };
    let parsed_operation = keep(operation.0, operation_named(operation.1), wrong);
    let ranks = keep(ranks.0, Span::parse_ranks(ranks.1), wrong);
    let bytes = keep(bytes.0, parse_bytes(parsed_operation, bytes.1), wrong);
    let wanted = parsed_operation.and_then(|operation| keep(wanted.0, Wanted::parse(operation, wanted.1), wrong));
    let conditions = conditions(parsed_operation, rest, wrong);
    let (bytes_of, bytes) = bytes?;
    Some(Rule { operation: parsed_operation?, ranks: ranks?, bytes, bytes_of, wanted: wanted?, conditions, line })
}

fn keep<T>(column: usize, result: Result<T, String>, wrong: &mut Vec<Wrong>) -> Option<T> {
    result.map_err(|message| wrong.push((column, message))).ok()
}

fn parse_bytes(operation: Option<Operation>, text: &str) -> Result<(BytesOf, Span), String> {
    if let Some(operation) = operation.filter(|operation| operation.has_own_counts() && text != "*") {
        return Err(format!(
            "'{text}' is not accepted: no rank knows the bytes of the others' {operation}; accepted: *"
        ));
    }
    let Some(total) = text.strip_prefix("total=") else {
        return Span::parse_bytes(text).map(|span| (BytesOf::Rank, span));
    };
    if operation.is_some_and(|operation| !operation.has_blocks()) {
        let having = Operation::names("and", |operation| operation.has_blocks() && !operation.has_own_counts());
        return Err(format!("total= is for {having} only; for other operations there is only one number of bytes"));
    }
    Span::parse_bytes(total).map(|span| (BytesOf::All, span))
}

fn conditions(operation: Option<Operation>, words: &[Word<'_>], wrong: &mut Vec<Wrong>) -> Vec<Condition> {
    let mut conditions = Vec::<Condition>::new();
    for (place, &(column, word)) in words.iter().enumerate() {
        let joining = if place == 0 { "if" } else { "and" };
        if place.is_multiple_of(2) {
            if word != joining {
                wrong.push((column, format!("unexpected '{word}'; accepted here: {joining}, or the end of the line")));
                return conditions;
            }
            if place + 1 == words.len() {
                wrong.push((
                    column + word.chars().count(),
                    format!("the line ends after '{word}'; {}", Condition::accepted()),
                ));
            }
            continue;
        }
        match Condition::parse(word) {
            Err(message) => wrong.push((column, message)),
            Ok(condition) => {
                if let Err(message) = fits(condition, operation, &conditions) {
                    wrong.push((column, message));
                }
                conditions.push(condition);
            }
        }
    }
    let has = |kind: fn(&Condition) -> bool| conditions.iter().any(kind);
    if has(|known| matches!(known, Condition::MpiVersion(_))) && !has(|known| matches!(known, Condition::Mpi(_))) {
        let column = words.first().map_or(1, |(column, _)| *column);
        wrong.push((
            column,
            "mpi_version= needs mpi= beside it: libraries number their releases differently".to_owned(),
        ));
    }
    conditions
}

/// A rule that can never match is a mistake.
fn fits(condition: Condition, operation: Option<Operation>, before: &[Condition]) -> Result<(), String> {
    if before.contains(&condition) {
        return Err(format!("'{condition}' is given twice"));
    }
    if let Some(other) = before.iter().find(|other| condition.contradicts(**other)) {
        return Err(format!("'{condition}' contradicts '{other}'"));
    }
    match operation {
        Some(operation) if condition.is_of_reductions() && !operation.reduces() => {
            Err(format!("'{condition}' never holds for {operation}, which reduces nothing"))
        }
        _ => Ok(()),
    }
}
