//! Rules files of Open MPI's tuned component: what its collectives and algorithms are called here.
//!
//! Its sizes are those of all ranks together for allgather, alltoall, gather and scatter, and of one rank elsewhere.
//! For alltoallv it takes the rule for 0 bytes, as no rank knows the size of the whole; others, and those of collectives
//! that Collie does not have, are checked for their form and skipped.
//!
//! Source: Open MPI, ompi/mca/coll/tuned (coll_tuned_*_decision.c, coll_tuned_dynamic_file.c), releases 4.1 to 6.0.

mod classic;
mod export;
mod json;

pub use classic::{is_classic, parse as parse_classic};
pub use export::{Format, export};
pub use json::parse as parse_json;

use super::{BytesOf, Condition, Rule, Span};
use crate::algorithm::{Operation, parse_choice};
use crate::selection::error::{ConfigurationError, Location, describe_choice_error, suggestion};
use crate::selection::wanted::Wanted;

/// Its collectives; the place is the number.
const COLLECTIVES: [&str; 22] = [
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
];

/// One of its algorithms.
struct Theirs {
    number: usize,
    names: &'static [&'static str],
    /// Our name, with the parameters that theirs has fixed.
    ours: &'static str,
    /// Our parameters for its fan-out, segment size and outstanding requests.
    fanout: Option<&'static str>,
    segment: Option<&'static str>,
    requests: Option<&'static str>,
}

const fn plain(number: usize, names: &'static [&'static str], ours: &'static str) -> Theirs {
    Theirs { number, names, ours, fanout: None, segment: None, requests: None }
}

const fn segmented(number: usize, names: &'static [&'static str], ours: &'static str) -> Theirs {
    Theirs { segment: Some("segment"), ..plain(number, names, ours) }
}

const fn bounded(number: usize, names: &'static [&'static str], ours: &'static str) -> Theirs {
    Theirs { requests: Some("max_requests"), ..segmented(number, names, ours) }
}

const BCAST: &[Theirs] = &[
    plain(1, &["basic_linear"], "linear"),
    Theirs { fanout: Some("chains"), ..segmented(2, &["chain"], "chain") },
    segmented(3, &["pipeline"], "pipeline"),
    segmented(4, &["split_binary_tree"], "split_binary"),
    segmented(5, &["binary_tree"], "binary"),
    segmented(6, &["binomial"], "binomial"),
    // The radix is a parameter of the component (4 unless set), not the rule's fan-out.
    segmented(7, &["knomial"], "knomial:radix=4"),
    plain(8, &["scatter_allgather"], "scatter_allgather"),
    plain(9, &["scatter_allgather_ring"], "scatter_ring_allgather"),
];

const REDUCE: &[Theirs] = &[
    plain(1, &["linear"], "linear"),
    Theirs { fanout: Some("chains"), ..bounded(2, &["chain"], "chain") },
    bounded(3, &["pipeline"], "pipeline"),
    bounded(4, &["binary"], "binary"),
    bounded(5, &["binomial"], "binomial"),
    bounded(6, &["in-order_binary"], "in_order_binary"),
    plain(7, &["rabenseifner"], "reduce_scatter_gather"),
    bounded(8, &["knomial"], "knomial"),
];

const ALLREDUCE: &[Theirs] = &[
    plain(1, &["basic_linear"], "linear"),
    plain(2, &["nonoverlapping"], "reduce_bcast"),
    plain(3, &["recursive_doubling"], "recursive_doubling"),
    plain(4, &["ring"], "ring"),
    segmented(5, &["segmented_ring"], "segmented_ring"),
    plain(6, &["rabenseifner"], "rabenseifner"),
    plain(7, &["allgather_reduce"], "allgather_reduce"),
];

const GATHER: &[Theirs] = &[
    plain(1, &["basic_linear"], "linear"),
    plain(2, &["binomial"], "binomial"),
    Theirs { segment: Some("first_segment"), ..plain(3, &["linear_sync"], "linear_sync") },
];

const SCATTER: &[Theirs] = &[
    plain(1, &["basic_linear"], "linear"),
    plain(2, &["binomial"], "binomial"),
    plain(3, &["linear_nb"], "linear_nonblocking"),
];

const ALLGATHER: &[Theirs] = &[
    plain(1, &["linear"], "linear"),
    plain(2, &["bruck", "bruck-k-fanout"], "bruck"),
    plain(3, &["recursive_doubling"], "recursive_doubling"),
    plain(4, &["ring"], "ring"),
    plain(5, &["neighbor"], "neighbor_exchange"),
    plain(6, &["two_proc"], "two_process"),
    plain(7, &["sparbit"], "sparbit"),
    plain(8, &["direct-messaging"], "direct"),
];

const ALLTOALL: &[Theirs] = &[
    plain(1, &["linear"], "linear"),
    plain(2, &["pairwise"], "pairwise"),
    plain(3, &["modified_bruck"], "modified_bruck"),
    Theirs { requests: Some("max_requests"), ..plain(4, &["linear_sync"], "linear") },
    plain(5, &["two_proc"], "two_process"),
];

const ALLTOALLV: &[Theirs] = &[plain(1, &["basic_linear"], "linear"), plain(2, &["pairwise"], "pairwise")];

const BARRIER: &[Theirs] = &[
    plain(1, &["linear"], "linear"),
    plain(2, &["double_ring"], "double_ring"),
    plain(3, &["recursive_doubling"], "recursive_doubling"),
    plain(4, &["bruck"], "dissemination"),
    // An exchange between two ranks, which is all that recursive doubling does there.
    plain(5, &["two_proc"], "recursive_doubling"),
    plain(6, &["tree"], "tree"),
];

/// Their algorithms of each operation of which they are translated; an operation may lack here.
const THEIRS: &[(Operation, &[Theirs])] = &[
    (Operation::Bcast, BCAST),
    (Operation::Reduce, REDUCE),
    (Operation::Allreduce, ALLREDUCE),
    (Operation::Gather, GATHER),
    (Operation::Scatter, SCATTER),
    (Operation::Allgather, ALLGATHER),
    (Operation::Alltoall, ALLTOALL),
    (Operation::Alltoallv, ALLTOALLV),
    (Operation::Barrier, BARRIER),
];

fn algorithms(operation: Operation) -> &'static [Theirs] {
    THEIRS.iter().find(|(of, _)| *of == operation).map_or(&[], |(_, theirs)| theirs)
}

/// Our operation for a collective of theirs, where both have algorithms in common: rules about others are theirs alone.
fn translated(collective: &str) -> Option<Operation> {
    Operation::from_name(collective).filter(|operation| !algorithms(*operation).is_empty())
}

/// An algorithm as a rule of theirs names it.
enum Named<'a> {
    Number(usize),
    Name(&'a str),
}

/// What a rule of theirs sets besides; 0 where it sets nothing.
#[derive(Clone, Copy, Default)]
struct Settings {
    fanout: usize,
    segment: usize,
    requests: usize,
}

/// Our choice for theirs; their 0 leaves the call to the tables.
fn wanted(operation: Operation, named: &Named, settings: Settings) -> Result<Wanted, String> {
    let rows = algorithms(operation);
    let row = match named {
        Named::Number(0) | Named::Name("ignore") => return Ok(Wanted::Auto),
        Named::Number(number) => rows
            .iter()
            .find(|row| row.number == *number)
            .ok_or_else(|| format!("Open MPI has no {operation} algorithm {number}; accepted: 0 to {}", rows.len()))?,
        Named::Name(name) => rows.iter().find(|row| row.names.contains(name)).ok_or_else(|| {
            let names: Vec<_> = ["ignore"].into_iter().chain(rows.iter().flat_map(|row| row.names).copied()).collect();
            let accepted = names.join(", ");
            format!("Open MPI has no {operation} algorithm '{name}'; accepted: {accepted}{}", suggestion(name, names))
        })?,
    };
    let text = row.written(operation, settings);
    match parse_choice(operation, &text) {
        Ok(choice) => Ok(Wanted::Algorithm(choice)),
        Err(crate::algorithm::ChoiceError::Algorithm { .. }) => Err(format!(
            "Open MPI's {operation} algorithm {} ({}) is not available in this version",
            row.number, row.names[0]
        )),
        Err(error) => Err(describe_choice_error(&error)),
    }
}

impl Theirs {
    fn written(&self, operation: Operation, settings: Settings) -> String {
        if operation == Operation::Allgather && self.number == 2 && settings.fanout > 2 {
            return format!("k_bruck:radix={}", settings.fanout);
        }
        let mut text = self.ours.to_owned();
        let mut set = |name: &str, value: String| {
            text.push(if text.contains(':') { ',' } else { ':' });
            text.push_str(&format!("{name}={value}"));
        };
        match (self.segment, settings.segment) {
            (Some("segment"), 0) => set("segment", "none".to_owned()),
            (Some(name), bytes @ 1..) => set(name, bytes.to_string()),
            _ => {}
        }
        if let Some(name) = self.fanout {
            set(name, settings.fanout.max(1).to_string());
        }
        if let (Some(name), 1..) = (self.requests, settings.requests) {
            set(name, settings.requests.to_string());
        }
        text
    }
}

/// The rules of a file, and what was skipped: lines, and why.
pub type Read = (Vec<Rule>, Vec<(usize, String)>);

/// Why the rules of such a collective are skipped.
fn not_ours(name: &str) -> String {
    format!("Collie has no {name}: its rules count for Open MPI alone")
}

/// Why [`rule`] makes none of one.
fn never_found(operation: Operation) -> String {
    format!("this rule is for no call: of {operation}, the rule for 0 bytes is that for all")
}

/// A rule of theirs as one of ours; `None` if no call finds it.
fn rule(
    operation: Operation,
    ranks: Span,
    bytes: Span,
    conditions: Vec<Condition>,
    wanted: Wanted,
    line: usize,
) -> Option<Rule> {
    let bytes = match operation.has_own_counts() {
        true if !bytes.contains(0) => return None,
        true => Span::ALL,
        false => bytes,
    };
    let bytes_of = if operation.has_blocks() { BytesOf::All } else { BytesOf::Rank };
    let bytes_of = if bytes == Span::ALL { BytesOf::Rank } else { bytes_of };
    Some(Rule { operation, ranks, bytes, bytes_of, wanted, conditions, line: u32::try_from(line).unwrap_or(u32::MAX) })
}

/// Line and column of a place in the text, in characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

fn error(path: &str, text: &str, offset: usize, message: impl Into<String>) -> ConfigurationError {
    let (line, column) = line_and_column(text, offset);
    ConfigurationError { place: Location::File { path: path.to_owned(), line, column }, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::find;

    #[test]
    fn every_algorithm_of_theirs_is_one_of_ours_with_these_parameters() {
        for operation in Operation::ALL {
            assert!(COLLECTIVES.contains(&operation.name()));
            for (place, row) in algorithms(operation).iter().enumerate() {
                assert_eq!(row.number, place + 1);
                let name = row.ours.split(':').next().expect("a name");
                let settings = Settings { fanout: 3, segment: 4096, requests: 5 };
                for (named, settings) in
                    [(Named::Number(row.number), Settings::default()), (Named::Name(row.names[0]), settings)]
                {
                    match wanted(operation, &named, settings) {
                        Ok(_) => assert!(find(operation, name).is_some()),
                        Err(why) if find(operation, name).is_none() => assert!(why.contains("not available"), "{why}"),
                        Err(why) => panic!("{operation}: {why}"),
                    }
                }
            }
        }
    }
}
