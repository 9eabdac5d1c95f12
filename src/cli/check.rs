//! `collie check`: what is wrong with a rules file.

use super::{Done, Failure};
use crate::selection::{Rules, RulesFile};

/// Check a rules file: Collie's own format or Open MPI's (classic, version 2, JSON)
#[derive(clap::Args)]
#[command(after_help = "Prints each mistake as file:line:column: what was found; what is accepted, and exits with 1 \
                        if there is any.\n\nExamples:\n  collie check site.rules\n  collie check --print ompi.conf")]
pub struct Arguments {
    /// The file
    file: String,
    /// Print the rules in Collie's own format, whatever format the file has
    #[arg(long)]
    print: bool,
}

/// Reads the file and tells what is wrong, or how many rules it has.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let RulesFile { path, text } = RulesFile::read(&arguments.file);
    let text = text.map_err(|why| Failure::cannot(format!("cannot read '{path}': {why}")))?;
    match Rules::parse(&path, &text) {
        Err(errors) => Ok(Done { text: format!("{errors}\n"), code: 1 }),
        Ok(rules) if arguments.print => Ok(Done::from(rules.to_string())),
        Ok(rules) => match rules.iter().count() {
            1 => Ok(Done::from(format!("{path}: 1 rule, nothing wrong\n"))),
            count => Ok(Done::from(format!("{path}: {count} rules, nothing wrong\n"))),
        },
    }
}
