//! Diagnostics through env_logger, each line headed by the rank.

use crate::selection::Configuration;
use std::io::Write;

use crate::mpi::words::Stderr;
pub use crate::mpi::words::tell;

/// Starts logging for this process; a second start changes nothing.
pub fn start(rank: usize, configuration: Option<&Configuration>) {
    let filter = configuration.map_or("warn", |configuration| configuration.log.as_str());
    let logger = env_logger::Builder::new()
        .parse_filters(filter)
        .target(env_logger::Target::Pipe(Box::new(Stderr)))
        .format(move |line, record| writeln!(line, "collie[{rank}] {}: {}", record.level(), record.args()))
        .try_init();
    // A program linked with Collie may have set a logger of its own; then that one gets the lines.
    drop(logger);
}
