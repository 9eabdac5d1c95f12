//! What the programs that measure have in common: from the command line to the exit code.

#![forbid(unsafe_code)]

use super::job::Job;
use super::numbers::taking_negative_numbers;
use crate::mpi::Result;
use crate::selection::RawConfiguration;
use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::process::ExitCode;

/// The status of a program whose MPI library cannot be used.
const NO_MPI: u8 = 78;

/// Parses the command line, shows help without MPI, else runs `body` in a job with the variables that it asks for, for
/// an exit code. What is wrong with a command line is for `body` to tell, since all ranks have the same one.
pub fn main<C: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    variables: impl FnOnce(&C) -> Vec<(&'static str, &'static str)>,
    body: impl FnOnce(&Job, std::result::Result<C, clap::Error>) -> Result<u8>,
) -> ExitCode {
    let command = taking_negative_numbers(C::command());
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| C::from_arg_matches(&matches));
    if let Err(help) = &parsed
        && !help.use_stderr()
    {
        return if help.print().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if let Err(why) = crate::mpi::load::load() {
        eprintln!("collie-bench: {why}");
        return ExitCode::from(NO_MPI);
    }
    // The job takes variables off; they have to be right all the same.
    let parsed = parsed.and_then(|parsed| match RawConfiguration::from_environment().parse() {
        Ok(_) => Ok(parsed),
        Err(errors) => Err(clap::Error::raw(ErrorKind::InvalidValue, format!("{errors}\n"))),
    });
    let variables = parsed.as_ref().map(variables).unwrap_or_default();
    let ended = Job::start(&variables).and_then(|job| {
        let code = body(&job, parsed)?;
        job.finish().map(|()| code)
    });
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("collie-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
