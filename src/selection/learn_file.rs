//! The file that `COLLIE_LEARN` names, as it was when the run began.

use super::error::{ConfigurationError, ConfigurationErrors, Location};
use super::rules::{self, LearnedRules, Rules};

/// The file, and where it was read: what was learned elsewhere does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnFile {
    /// As the user wrote it.
    pub path: String,
    /// What was in it.
    pub text: String,
    /// The processor, and how many cores.
    pub machine: String,
    /// The MPI library's own version text.
    pub mpi: String,
    /// The rules that somebody has edited, as far as they were learned there.
    pub edited: Rules,
}

impl LearnFile {
    /// A file with this text, read at this place (the machine and the MPI library).
    ///
    /// # Errors
    /// Whatever is in it that is no rule: nothing is to be added to a file that is not understood.
    pub fn new(path: &str, text: &str, [machine, mpi]: [String; 2]) -> Result<Self, ConfigurationErrors> {
        if !rules::is_own(text) {
            return Err(ConfigurationErrors(vec![ConfigurationError {
                place: Location::File { path: path.to_owned(), line: 1, column: 1 },
                message: "what is learned cannot be added to a file in a format of Open MPI's; accepted: a file in \
                          Collie's own (collie check --print converts it), or one that does not exist yet"
                    .to_owned(),
            }]));
        }
        rules::parse(path, text)?;
        let edited = Rules::new(path, LearnedRules::read(text).edited(&machine, &mpi).cloned());
        Ok(Self { path: path.to_owned(), text: text.to_owned(), machine, mpi, edited })
    }
}
