//! The command line: one file per subcommand, each with its arguments (`Arguments`) and what it does with them
//! (`execute`). Only this file prints.
//!
//! Exit codes: 0 done; 1 it could not be done, or what was checked is wrong; 2 the command line is wrong. `collie run`
//! ends with the status of what it ran, 126 or 127 if that could not be started.

#![forbid(unsafe_code)]

mod against;
mod bench;
mod check;
mod done;
mod draw;
mod env_command;
mod explain;
mod explained;
mod file;
mod fit;
mod handing_on;
mod head;
mod help;
mod job;
mod kinds;
mod launcher;
mod library;
mod list;
mod measurements;
mod nearest_measurements;
mod options;
mod predicted;
mod preloads;
mod program;
mod report;
mod run;
mod simulate;
mod simulation_pool;
mod table;
mod tune;
mod validated;
mod values;
mod visible;

pub use done::{Done, Failure};

use crate::bench::numbers::taking_negative_numbers;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use visible::visible;

#[derive(Parser)]
#[command(
    name = "collie",
    version,
    about = "Runs, explains and documents Collie's collectives",
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  collie run -- mpirun -n 8 ./app\n  collie list allreduce\n  collie explain bcast --ranks 48 --bytes 1M\n  \
                  collie check site.rules\n  collie draw reduce fibonacci --ranks 7 -o fibonacci.svg\n  \
                  collie simulate allreduce --ranks 8-512\n  collie bench -n 4 -a all --json bench.json\n  collie tune bench.json -o site.rules\n  collie fit -n 4 -o net.json\n  collie help env"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Library(library::Arguments),
    List(list::Arguments),
    Explain(explain::Arguments),
    Check(check::Arguments),
    Bench(Box<bench::Arguments>),
    Fit(fit::Arguments),
    Draw(draw::Arguments),
    Simulate(simulate::Arguments),
    Report(report::Arguments),
    Tune(tune::Arguments),
    Help(help::Arguments),
}

/// Carries out the command line and says how it ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = taking_negative_numbers(CommandLine::command()).try_get_matches_from(arguments);
    let command_line = match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(command_line) => command_line,
        // Help and version come out as errors, too; clap knows which stream and code they get.
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(1),
            };
        }
    };
    let result = match command_line.command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Library(arguments) => library::execute(&arguments),
        Command::List(arguments) => list::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Bench(arguments) => bench::execute(&arguments),
        Command::Fit(arguments) => fit::execute(&arguments),
        Command::Draw(arguments) => draw::execute(&arguments),
        Command::Simulate(arguments) => simulate::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Tune(arguments) => tune::execute(&arguments),
        Command::Help(arguments) => help::execute(&arguments, CommandLine::command()),
    };
    let Done { text, notes, code } = match result {
        Ok(done) => done,
        Err(Failure { message, code }) => {
            eprintln!("collie: {}", visible(&message));
            return ExitCode::from(code);
        }
    };
    notes.iter().for_each(|note| eprintln!("collie: {}", visible(note)));
    match std::io::stdout().write_all(visible(&text).as_bytes()) {
        // Whoever reads may have seen enough, as in `collie list | head`.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("collie: cannot write to standard output: {error}");
            ExitCode::from(1)
        }
        _ => ExitCode::from(code),
    }
}
