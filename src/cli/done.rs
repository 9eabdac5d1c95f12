//! How a subcommand ends.

/// What a subcommand could do.
#[derive(Default)]
pub struct Done {
    /// For standard output.
    pub text: String,
    /// Lines for standard error.
    pub notes: Vec<String>,
    /// Exit code.
    pub code: u8,
}

impl From<String> for Done {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Why a subcommand could not do what was asked.
#[derive(Debug)]
pub struct Failure {
    /// For standard error.
    pub message: String,
    /// Exit code.
    pub code: u8,
}

impl Failure {
    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    /// What was asked for cannot be done.
    pub fn cannot(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }
}
