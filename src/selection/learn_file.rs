//! The file that `COLLIE_LEARN` names, as it was when the run began.

use super::error::{ConfigurationError, ConfigurationErrors, Location};
use super::rules::{self, LearnedRules, Rules};
use super::variables;

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
    /// The line of the first rule without evidence, if there is one: it decides nothing.
    pub without_evidence: Option<u32>,
}

impl LearnFile {
    /// What the user is to know of [rules without evidence](Self::without_evidence), if there are any.
    pub fn warning(&self) -> Option<String> {
        self.without_evidence.map(|line| {
            format!(
                "{}:{line}: a rule without evidence decides nothing in mode learn; such rules count in a file that {} names",
                self.path,
                variables::RULES
            )
        })
    }

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
        let all = rules::parse(path, text)?;
        let learned = LearnedRules::read(text);
        let without_evidence = all.iter().map(|rule| rule.line).find(|line| !learned.has_evidence(*line));
        let edited = Rules::new(path, learned.edited(&machine, &mpi).cloned());
        Ok(Self { path: path.to_owned(), text: text.to_owned(), machine, mpi, edited, without_evidence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_decide_nothing_are_told() {
        let read = |text: &str| LearnFile::new("site.rules", text, ["here", "An MPI"].map(str::to_owned)).unwrap();
        assert_eq!(read("# nothing yet\n").warning(), None);
        let told = read("# mine\nallreduce 2 * linear\n").warning().unwrap();
        assert!(
            told.starts_with("site.rules:2: a rule without evidence") && told.ends_with("COLLIE_RULES names"),
            "{told}"
        );
    }
}
