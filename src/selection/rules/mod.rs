//! Rules files: which algorithm for which calls, the first rule that matches wins.
//!
//! ```text
//! # operation  communicator size  bytes          algorithm
//! allreduce    2-8                0-2K           recursive_doubling
//! bcast        3-*                512K-inf       pipeline:segment=128K
//! gather       *                  total=64K-inf  linear             if one_node and not_oversubscribed
//! reduce       *                  *              native             if non_commutative
//! ```
//!
//! A range is `*`, one number, or `first-last` with both ends in it; `inf` (or `*`) as its end means no end. Bytes are
//! the signature bytes that one rank contributes; with `total=`, for gather, scatter and allgather, those of all ranks
//! together. For alltoallv they are `*`, as no rank knows those of the others. The algorithm is written as in the
//! operation's variable: `auto` leaves the call to the tables (in a table, to its next row) and `native` to the
//! MPI library.
//!
//! Open MPI's formats are read as well and told apart by their content.

mod communicators;
mod condition;
mod evidence;
mod learned;
mod never;
mod open_mpi;
mod own;
mod rule;
mod span;

pub use condition::Condition;
pub use evidence::{Evidence, evidence};
pub use learned::{Learned, LearnedRule, LearnedRules, MARK, Tried};
pub use never::{Purpose, never_used};
pub use open_mpi::Format;
pub use rule::{Rule, Rules};
pub use span::{BytesOf, Span};

use super::error::ConfigurationErrors;

/// Reads a rules file's `text`; `path` is for messages.
///
/// # Errors
/// Everything that is wrong, with line and column.
pub fn parse(path: &str, text: &str) -> Result<Rules, ConfigurationErrors> {
    // Some editors put a byte order mark in front, which nobody sees.
    let text = text.trim_start_matches('\u{feff}');
    let (rules, skipped) = match () {
        () if is_own(text) => (own::parse(path, text)?, Vec::new()),
        () if open_mpi::is_classic(text) => open_mpi::parse_classic(path, text)?,
        () => open_mpi::parse_json(path, text)?,
    };
    let mut rules = Rules::new(path, rules);
    rules.skipped = skipped;
    Ok(rules)
}

/// Whether a text is in Collie's own format.
pub fn is_own(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    !text.trim_start().starts_with('{') && !open_mpi::is_classic(text)
}

/// The rules in a format of Open MPI's.
///
/// # Errors
/// Every rule that cannot be said in it.
pub fn for_open_mpi(rules: &Rules, format: Format) -> Result<String, ConfigurationErrors> {
    open_mpi::export(rules, format)
}
