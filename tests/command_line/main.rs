//! The `collie` command, run as users run it: a module for each subcommand, and for what several do alike.

#![cfg(feature = "cli")]

mod bench;
mod check;
mod documents;
mod draw;
mod explain;
mod help;
mod measured;
mod refusals;
mod report;
mod run;
mod samples;
mod simulate;
mod started;
mod tune;
