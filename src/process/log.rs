//! Diagnostics through env_logger, each line headed by the rank.

use crate::selection::Configuration;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::io::Write;

use crate::mpi::words::Stderr;
pub use crate::mpi::words::tell;

/// Different mistakes of a program that are told; what has that many has more of the same kind.
const MOST_MISTAKES: usize = 64;

static MISTAKES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether a mistake of the program is to be told: each only once, since it may be made in a loop.
pub fn is_new(mistake: &str) -> bool {
    let mut mistakes = MISTAKES.lock();
    mistakes.len() < MOST_MISTAKES && mistakes.insert(mistake.to_owned())
}

/// Starts logging for this process; a second start changes nothing.
pub fn start(rank: usize, configuration: Option<&Configuration>) {
    let filter = configuration.map_or("warn", |configuration| configuration.log.as_str());
    let logger = env_logger::Builder::new()
        // Of modules that the filter does not name.
        .filter_level(log::LevelFilter::Warn)
        .parse_filters(filter)
        .target(env_logger::Target::Pipe(Box::new(Stderr)))
        .format(move |line, record| writeln!(line, "collie[{rank}] {}: {}", record.level(), record.args()))
        .try_init();
    // A program linked with Collie may have set a logger of its own; then that one gets the lines.
    drop(logger);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_once_and_not_too_many_are() {
        assert_eq!(["a", "b", "a", "a", "b"].map(is_new), [true, true, false, false, false]);
        let told = (0..1000).filter(|number| is_new(&format!("mistake {number}"))).count();
        assert_eq!(told, MOST_MISTAKES - 2);
    }
}
