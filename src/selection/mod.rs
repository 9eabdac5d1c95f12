//! Which algorithm a call gets: the user's variables, then the rules file, then the default tables.
//!
//! Modules in reading order:
//!
//! * [`variables`]: the one table of environment variables. [`configuration`] reads them, by `values` into `settings`;
//!   `without_effect`: those that are set and change nothing. [`file_names`]: placeholders in names of files. `error`:
//!   what is wrong, and what would be accepted.
//! * [`rules`]: rules files, our own and Open MPI's. [`defaults`]: those that Collie brings along. `learn_file`: the
//!   one that mode `learn` goes by.
//! * `situation`: where a call is made; `mpi_library`: on which MPI library. `wanted`: what is asked for there, by a
//!   variable, a rule or the program.
//! * [`mod@decide`]: the choice for one call. [`native`]: what MPI libraries are known to decide, which `predicted`
//!   holds the cost model against.
//!
//! Everything here rests only on what MPI makes equal on all ranks and on rank 0's configuration, so all ranks decide
//! alike. Nothing wrong is passed over: every error says where, what was found and what is accepted.

#![forbid(unsafe_code)]

pub mod configuration;
pub mod decide;
pub mod defaults;
mod error;
pub mod file_names;
mod learn_file;
mod mpi_library;
pub mod native;
mod predicted;
pub mod rules;
mod settings;
mod situation;
#[cfg(test)]
mod tests;
mod values;
pub mod variables;
mod wanted;
mod without_effect;

pub use configuration::{Configuration, RawConfiguration, RulesFile};
pub use decide::{By, Candidate, Candidates, Decided, Reason, Refused, decide, decide_with};
pub use error::{ConfigurationError, ConfigurationErrors, Location, nearest, operation_named, suggestion};
pub use learn_file::LearnFile;
pub use mpi_library::{Implementation, Mpi, Version, Versions, short_name};
pub use rules::{
    BytesOf, Condition, Evidence, Format, Learned, LearnedRule, LearnedRules, MARK, Purpose, Rule, Rules, Span, Tried,
    evidence, for_open_mpi, never_used, parse as parse_rules,
};
pub use settings::{
    Device, Mode, Numa, OnDifference, Piece, ReportFormat, ReportTarget, SELF_TEST, Spawned, Sync, Transport,
    VerifyResult,
};
pub use situation::Situation;
pub use wanted::Wanted;
pub use without_effect::without_effect;
