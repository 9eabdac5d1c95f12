//! `collie help`: help of a subcommand, and `collie help env`, the table of environment variables.

use super::{Done, Failure};
use crate::selection::suggestion;
use crate::selection::variables::{self, VARIABLES};

/// Print help on a subcommand, or the table of environment variables (`collie help env`)
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie help env\n  collie help env --markdown\n  collie help list")]
pub struct Arguments {
    /// A subcommand, or env
    topic: Option<String>,
    /// Print the table of variables as in the README
    #[arg(long)]
    markdown: bool,
}

/// Prints help on the topic; `command` is the whole command line.
pub fn execute(arguments: &Arguments, mut command: clap::Command) -> Result<Done, Failure> {
    match arguments.topic.as_deref() {
        Some("env") if arguments.markdown => Ok(Done::from(variables::markdown())),
        _ if arguments.markdown => Err(Failure::usage("--markdown is for `collie help env`")),
        Some("env") => Ok(Done::from(environment())),
        None => Ok(Done::from(command.render_help().to_string())),
        Some(topic) => {
            let names: Vec<_> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
            if !names.iter().any(|name| name == topic) {
                let nearest = suggestion(topic, names.iter().map(String::as_str).chain(["env"]));
                let accepted = names.join(", ");
                return Err(Failure::usage(format!("no help on '{topic}'; accepted: {accepted}, env{nearest}")));
            }
            // clap alone knows whether a subcommand's help is its short or its long one.
            match command.try_get_matches_from(["collie", topic, "--help"]) {
                Err(help) => Ok(Done::from(help.render().to_string())),
                Ok(_) => Err(Failure::cannot(format!("no help on '{topic}'"))),
            }
        }
    }
}

fn environment() -> String {
    let mut text = String::from(
        "Environment variables, taken from rank 0. Any of these that is set to the empty string counts as not set.\n",
    );
    for row in VARIABLES.iter() {
        text.push_str(&format!("\n{}\n  accepted: {}\n  default:  {}\n", row.name, row.accepted, row.default));
        for line in filled(row.help, 98) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// `text` in lines of at most `width` characters, broken at spaces.
fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
