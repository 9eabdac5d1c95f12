//! Which algorithm a call gets: the user's variables, then the rules file, then the default tables.
//!
//! Modules in reading order: [`variables`] is the one table of environment variables; [`configuration`] reads them;
//! [`rules`] reads rules files, our own and Open MPI's; [`mod@decide`] makes the choice for one call.
//!
//! Everything here rests only on what MPI makes equal on all ranks and on rank 0's configuration, so all ranks decide
//! alike. Nothing wrong is passed over: every error says where, what was found and what is accepted.

#![forbid(unsafe_code)]

pub mod configuration;
pub mod decide;
mod defaults;
mod error;
pub mod file_names;
pub mod rules;
#[cfg(test)]
mod tests;
pub mod variables;

pub use configuration::{
    Configuration, Device, Mode, OnDifference, Piece, RawConfiguration, ReportFormat, ReportTarget, RulesFile,
    SELF_TEST, Sync, VerifyResult, Wanted,
};
pub use decide::{By, Candidate, Candidates, Decided, Reason, Refused, Situation, decide, decide_with};
pub use error::{ConfigurationError, ConfigurationErrors, Place, nearest, operation_named, suggestion};
pub use rules::{BytesOf, Condition, Format, Rule, Rules, Span};
