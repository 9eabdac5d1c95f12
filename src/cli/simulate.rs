//! `collie simulate`: how long algorithms take on a stated network, and which is fastest where.

use super::table::columns;
use super::{Done, Failure, against};
use crate::algorithm::{Choice, Operation, format_bytes, of, parse_bytes, parse_choice};
use crate::bench::result::Report;
use crate::schedule::draw::{Winner, seconds, winners};
use crate::schedule::simulate::{Network, Prediction, predict};
use crate::selection::{Piece, operation_named};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Simulate algorithms on a stated network: the time of each, and the fastest for every size
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie simulate allreduce --ranks 8-512\n  \
                        collie simulate bcast --algorithm pipeline:segment=64K --algorithm binomial --ranks 48 --bytes 1K-64M\n  \
                        collie simulate --against bench.json --network cluster.json      predictions beside measurements\n  \
                        collie simulate allgather --ranks 16-256 --network infiniband --plot allgather.svg\n\n\
                        A network file is JSON: collie fit measures and writes one; those of the presets are in src/schedule/networks.")]
pub struct Arguments {
    #[arg(required_unless_present = "against", help = Operation::accepted())]
    operation: Option<String>,
    /// An algorithm with its parameters after a colon, or all; may be given several times
    #[arg(long, default_value = "all")]
    algorithm: Vec<String>,
    /// Ranks: a list (8,48), or a range that doubles (8-4096)
    #[arg(long, required_unless_present = "against")]
    ranks: Option<String>,
    /// Bytes that one rank contributes: a list (1K,1M), or a range in steps of four (1K-64M)
    #[arg(long, default_value = "1K-16M")]
    bytes: String,
    /// shared_memory, ethernet, infiniband, or a file
    #[arg(long, default_value = "ethernet")]
    network: String,
    /// Draw a map of the fastest algorithms
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Hold the predictions against what collie bench measured (--json), instead; may be given several times
    #[arg(long, value_name = "FILE", conflicts_with_all = ["operation", "ranks", "algorithm", "bytes", "plot"])]
    against: Vec<PathBuf>,
    /// Longest message between nodes that travels whole: auto (what the network says), off, or bytes, as COLLIE_PIECE
    #[arg(long, default_value = "auto", value_parser = Piece::parse)]
    piece: Piece,
    /// Steps up to which a call is simulated; beyond them the cost formula tells the time
    #[arg(long, default_value_t = 16_000_000)]
    steps: usize,
}

/// One algorithm's times, by number of ranks and then by bytes; none where its needs are not met.
struct Row {
    choice: Choice,
    times: Vec<Option<Prediction>>,
}

/// Simulates.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let mut network = Network::find(&arguments.network).map_err(|error| Failure::usage(error.to_string()))?;
    network.fragment = arguments.piece.or(network.fragment);
    if !arguments.against.is_empty() {
        let reports = arguments.against.iter().map(|path| against::read(path)).collect::<Result<_, _>>();
        let compared = reports.and_then(|reports| against::compare(&Report::merge(reports), &network, arguments.steps));
        return compared.map(Done::from).map_err(Failure::cannot);
    }
    let [operation, ranks] = [&arguments.operation, &arguments.ranks].map(|given| given.as_deref().unwrap_or_default());
    let operation = operation_named(operation).map_err(Failure::usage)?;
    let ranks = values("--ranks", ranks, 2, |text| text.parse().ok()).map_err(Failure::usage)?;
    let bytes = values("--bytes", &arguments.bytes, 4, parse_bytes).map_err(Failure::usage)?;
    let bytes = if operation.has_data() { bytes } else { vec![0] };
    let rows = choices(operation, &arguments.algorithm).map_err(Failure::usage)?;
    let rows = simulated(rows, operation, &ranks, &bytes, &network, arguments.steps).map_err(Failure::cannot)?;
    if let Some(path) = &arguments.plot {
        let title = format!("Fastest {operation} on {}", network.name);
        let cells: Vec<_> = (0..ranks.len() * bytes.len()).map(|cell| fastest(&rows, cell)).collect();
        let drawing = winners(&title, &network.description, &ranks, &bytes, &cells);
        let written = std::fs::write(path, drawing);
        written.map_err(|error| Failure::cannot(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(Done::from(report(&rows, &ranks, &bytes, &network)))
}

/// The numbers of a comma-separated list, each a number or a range in steps of `factor` that ends where it says.
fn values(
    option: &str,
    text: &str,
    factor: usize,
    parse: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<usize>, String> {
    let refuse = || format!("{option} '{text}': accepted: numbers from 1 on, or ranges such as 8-64, comma-separated");
    let number = |text: &str| parse(text.trim()).filter(|number| *number > 0).ok_or_else(refuse);
    let mut values = Vec::new();
    for part in text.split(',') {
        let Some((first, last)) = part.split_once('-') else {
            values.push(number(part)?);
            continue;
        };
        let (mut next, last) = (number(first)?, number(last)?);
        if next > last {
            return Err(refuse());
        }
        while next < last {
            values.push(next);
            next = next.saturating_mul(factor);
        }
        values.push(last);
    }
    Ok(values)
}

fn choices(operation: Operation, names: &[String]) -> Result<Vec<Choice>, String> {
    let mut choices = Vec::new();
    for name in names {
        if name == "all" {
            choices.extend(of(operation).iter().map(|row| Choice::new(row)));
        } else {
            choices.push(parse_choice(operation, name).map_err(|error| error.to_string())?);
        }
    }
    Ok(choices)
}

/// Simulates every cell, as many at a time as there are processors.
fn simulated(
    choices: Vec<Choice>,
    operation: Operation,
    ranks: &[usize],
    bytes: &[usize],
    network: &Network,
    steps: usize,
) -> Result<Vec<Row>, String> {
    let cells = ranks.len() * bytes.len();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; choices.len() * cells]);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    let Some(choice) = choices.get(job / cells) else { break };
                    let (ranks, bytes) = (ranks[job % cells / bytes.len()], bytes[job % bytes.len()]);
                    let nodes = network.nodes(ranks);
                    let call = network.call(operation, 0, bytes, &nodes);
                    match predict(choice, &call, ranks, network, steps) {
                        Ok(time) => results.lock().unwrap_or_else(PoisonError::into_inner)[job] = time,
                        Err(broken) => {
                            let text = format!("{operation} {choice} among {ranks} ranks: {broken}");
                            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                        }
                    }
                }
            });
        }
    });
    if let Some(text) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(text);
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let times = results.chunks(cells).map(<[_]>::to_vec);
    Ok(choices.into_iter().zip(times).map(|(choice, times)| Row { choice, times }).collect())
}

/// The algorithm, with its parameters unless they are the defaults.
fn name(choice: &Choice) -> String {
    if *choice == Choice::new(choice.algorithm) { choice.algorithm.name.to_owned() } else { choice.to_string() }
}

fn fastest(rows: &[Row], cell: usize) -> Option<Winner> {
    let mut times: Vec<_> = rows.iter().filter_map(|row| Some((row.times[cell]?, &row.choice))).collect();
    times.sort_by(|a, b| a.0.time.total_cmp(&b.0.time));
    let (Prediction { time, simulated }, choice) = times.first()?;
    let next = times.get(1).map(|(next, _)| next.time);
    Some(Winner { name: name(choice), time: *time, next, simulated: *simulated })
}

fn report(rows: &[Row], ranks: &[usize], bytes: &[usize], network: &Network) -> String {
    let mut text = format!("{}: {}\n", network.name, network.description);
    let mut formulas = false;
    for (place, ranks) in ranks.iter().enumerate() {
        let cells = place * bytes.len()..(place + 1) * bytes.len();
        let mut heading = vec![format!("{ranks} ranks")];
        heading.extend(bytes.iter().map(|bytes| if *bytes == 0 { String::new() } else { format_bytes(*bytes) }));
        let mut table = vec![heading];
        for row in rows {
            let mut line = vec![name(&row.choice)];
            for time in &row.times[cells.clone()] {
                formulas |= time.is_some_and(|time| !time.simulated);
                line.push(time.map_or("-".to_owned(), |time| {
                    format!("{}{}", if time.simulated { "" } else { "~" }, seconds(time.time))
                }));
            }
            table.push(line);
        }
        let mut best = vec!["fastest".to_owned()];
        best.extend(cells.map(|cell| {
            let winner = fastest(rows, cell).map(|winner| winner.name).unwrap_or_default();
            winner.split(':').next().unwrap_or_default().to_owned()
        }));
        table.push(best);
        text.push('\n');
        text.push_str(&columns(0, &table));
    }
    if formulas {
        text.push_str("\n~ by the cost formula: more steps than --steps\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        let read = |text| values("--ranks", text, 2, parse_bytes);
        assert_eq!(read("8-64"), Ok(vec![8, 16, 32, 64]));
        assert_eq!(read("3, 5-12"), Ok(vec![3, 5, 10, 12]));
        assert_eq!(read("1K"), Ok(vec![1024]));
        for wrong in ["", "0", "8-", "9-8", "x"] {
            assert!(read(wrong).unwrap_err().contains("accepted"), "{wrong}");
        }
    }

    #[test]
    fn the_fastest_of_each_cell_is_told() {
        let operation = Operation::Allreduce;
        let network = Network::find("ethernet").unwrap();
        let rows = choices(operation, &["recursive_doubling".to_owned(), "ring".to_owned()]).unwrap();
        let (ranks, bytes) = ([16, 32], [8, 1 << 22]);
        let rows = simulated(rows, operation, &ranks, &bytes, &network, usize::MAX).unwrap();
        let names: Vec<_> = (0..4).map(|cell| fastest(&rows, cell).unwrap().name).collect();
        assert_eq!(names, ["recursive_doubling", "ring", "recursive_doubling", "ring"]);
        let text = report(&rows, &ranks, &bytes, &network);
        assert!(text.contains("32 ranks") && text.contains("fastest"), "{text}");
        let rough =
            simulated(choices(operation, &["ring".to_owned()]).unwrap(), operation, &ranks, &bytes, &network, 1);
        let rough = rough.unwrap();
        assert!(report(&rough, &ranks, &bytes, &network).contains("~ by the cost formula"));
        let cells = [fastest(&rough, 0), fastest(&rows, 0)];
        let drawn = |cells: &[Option<Winner>]| winners("", "", &ranks[..1], &bytes[..1], cells);
        assert!(drawn(&cells[..1]).contains("~ by the cost formula") && !drawn(&cells[1..]).contains('~'));
    }
}
