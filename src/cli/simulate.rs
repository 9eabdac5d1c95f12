//! `collie simulate`: how long algorithms take on a stated network, and which is fastest where.

use super::file::{try_output, write_file};
use super::measurements::Measurements;
use super::simulation_pool::{Plan, Progress, Time, simulated};
use super::table::columns;
use super::values::values;
use super::{Done, Failure, against};
use crate::algorithm::{Choice, Operation, counted, format_bytes, of, parse_bytes, parse_choice};
use crate::bench::checked::{MOST_BYTES, MOST_RANKS};
use crate::bench::numbers::whole;
use crate::schedule::draw::{NotSimulated, Winner, seconds, winners};
use crate::schedule::simulate::{Network, Prediction};
use crate::selection::{Piece, operation_named};
use std::path::PathBuf;
use std::time::Duration;

/// Simulate algorithms on a given network: the time of each, and the fastest for every size
///
/// Progress of long runs is reported on standard error. SIGINT (Ctrl-C) or SIGTERM ends the command and prints what is
/// done, fewest ranks first; a second one ends it at once.
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
    /// How messages within a node travel, as COLLIE_TRANSPORT says it; with shared, `all` includes the algorithms that
    /// work in memory shared by the ranks of a node
    #[arg(long, default_value = "messages", value_parser = ["messages", "shared"])]
    transport: String,
    /// Ranks: a list (8,48), or a range that doubles (8-4096)
    #[arg(long, required_unless_present = "against")]
    ranks: Option<String>,
    /// Bytes that one rank contributes: a list (1K,1M), or a range in steps of four (1K-64M)
    #[arg(long, default_value = BYTES)]
    bytes: String,
    /// Network: shared_memory, ethernet, infiniband, or a file
    #[arg(long, default_value = "ethernet")]
    network: String,
    /// Draw a map of the fastest algorithms
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Compare the predictions with what collie bench measured (--json), or what a run in mode compare found, instead;
    /// may be given several times
    #[arg(long, value_name = "FILE", conflicts_with_all = ["operation", "ranks", "algorithm", "bytes", "plot", "transport", "patience"])]
    against: Vec<PathBuf>,
    /// Longest message between nodes that travels whole: auto (what the network says), off, or bytes, as for
    /// COLLIE_PIECE
    #[arg(long, default_value = "auto", value_parser = Piece::parse)]
    piece: Piece,
    /// Steps up to which a call is simulated; beyond them times come from the cost formula
    #[arg(long, default_value_t = 8_000_000, value_parser = whole::<usize>(..))]
    steps: usize,
    /// Seconds after which the remaining times come from the cost formula; fewest ranks come first
    #[arg(long, default_value_t = 60.0, value_parser = crate::bench::pattern::seconds, value_name = "SECONDS")]
    patience: f64,
}

/// What is simulated unless the command line says otherwise.
const BYTES: &str = "1K-16M";

/// One algorithm's times, by number of ranks and then by bytes.
struct Row {
    choice: Choice,
    times: Vec<Time>,
}

/// Simulates.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    try_output("--plot", arguments.plot.as_deref(), "a drawing in SVG", &["svg"])?;
    let mut network =
        Network::find(&arguments.network).map_err(|error| Failure::usage(format!("--network: {error}")))?;
    network.fragment = arguments.piece.or(network.fragment);
    if !arguments.against.is_empty() {
        let Measurements { reports, copies, .. } = Measurements::read(&arguments.against)?;
        let compared = against::compare(&reports, &network, arguments.steps).map_err(Failure::cannot)?;
        return Ok(Done { notes: copies, ..Done::from(compared) });
    }
    let [operation, ranks] = [&arguments.operation, &arguments.ranks].map(|given| given.as_deref().unwrap_or_default());
    let operation = operation_named(operation).map_err(Failure::usage)?;
    let ranks = values("--ranks", ranks, 2, 1..=MOST_RANKS, |text| text.parse().ok()).map_err(Failure::usage)?;
    if !operation.has_data() && arguments.bytes != BYTES {
        return Err(Failure::usage(format!("--bytes is for operations with data; {operation} has none")));
    }
    let bytes = values("--bytes", &arguments.bytes, 4, 1..=MOST_BYTES, parse_bytes).map_err(Failure::usage)?;
    let is_range = arguments.bytes.contains('-');
    let in_elements = |bytes: &usize| network.call(operation, 0, *bytes, &[]).bytes() == *bytes;
    if let Some(odd) = bytes.iter().find(|bytes| operation.has_data() && !is_range && !in_elements(bytes)) {
        let unit = network.call(operation, 0, *odd, &[]).unit;
        return Err(Failure::usage(format!("--bytes {odd} is not a whole number of elements of {unit} bytes")));
    }
    let bytes = if operation.has_data() { simulated_bytes(operation, &bytes, &network) } else { vec![0] };
    if bytes.is_empty() {
        let unit = network.call(operation, 0, 1, &[]).unit;
        let given = &arguments.bytes;
        return Err(Failure::usage(format!("--bytes {given} holds no whole number of elements of {unit} bytes")));
    }
    let shares = arguments.transport == "shared";
    let choices = choices(operation, &arguments.algorithm, shares).map_err(Failure::usage)?;
    let (steps, progress) = (arguments.steps, Progress::start());
    let patience = Duration::try_from_secs_f64(arguments.patience).unwrap_or(Duration::MAX);
    let plan =
        Plan { operation, choices: &choices, ranks: &ranks, bytes: &bytes, network: &network, shares, steps, patience };
    let times = simulated(&plan, &progress).map_err(Failure::cannot)?;
    let rows: Vec<_> = choices.iter().cloned().zip(times).map(|(choice, times)| Row { choice, times }).collect();
    if let Some(path) = &arguments.plot {
        let title = format!("Fastest {operation} on {}", network.name);
        let found = |cell| if is_open(&rows, cell) { Err(NotSimulated) } else { Ok(fastest(&rows, cell)) };
        let cells: Vec<_> = (0..ranks.len() * bytes.len()).map(found).collect();
        let drawing = winners(&title, &network.description, &ranks, &bytes, &cells);
        write_file(path, drawing)?;
    }
    let text = report(&rows, &ranks, &bytes, &network);
    Ok(Done { text, code: progress.code(), ..Done::default() })
}

/// The sizes of the calls that stand for these: whole elements, each once, none beyond the last.
fn simulated_bytes(operation: Operation, bytes: &[usize], network: &Network) -> Vec<usize> {
    let last = bytes.last().copied().unwrap_or(0);
    let whole = |bytes: &usize| {
        let call = network.call(operation, 0, *bytes, &[]);
        if call.bytes() <= last { call.bytes() } else { last / call.unit * call.unit }
    };
    let mut bytes: Vec<_> = bytes.iter().map(whole).filter(|bytes| *bytes > 0).collect();
    bytes.dedup();
    bytes
}

fn choices(operation: Operation, names: &[String], shares_memory: bool) -> Result<Vec<Choice>, String> {
    let mut choices = Vec::new();
    for name in names {
        if name == "all" {
            let rows = of(operation).iter().filter(|row| shares_memory || !row.needs.shared_memory);
            choices.extend(rows.map(|row| Choice::new(row)));
        } else {
            choices.push(parse_choice(operation, name).map_err(|error| error.to_string())?);
        }
    }
    // Of what is given twice, also by its name beside all, once is enough.
    let mut known = Vec::new();
    choices.retain(|choice| {
        let is_new = !known.contains(choice);
        known.extend(is_new.then(|| choice.clone()));
        is_new
    });
    Ok(choices)
}

/// The algorithm, with its parameters unless they are the defaults.
fn name(choice: &Choice) -> String {
    if *choice == Choice::new(choice.algorithm) { choice.algorithm.name.to_owned() } else { choice.to_string() }
}

/// Whether some algorithm's time is not known there: who is the fastest is not either.
fn is_open(rows: &[Row], cell: usize) -> bool {
    rows.iter().any(|row| row.times[cell] == Time::NotReached)
}

fn fastest(rows: &[Row], cell: usize) -> Option<Winner> {
    let mut times: Vec<_> = rows.iter().filter_map(|row| Some((row.times[cell].prediction()?, &row.choice))).collect();
    times.sort_by(|a, b| a.0.time.total_cmp(&b.0.time));
    let (Prediction { time, simulated }, choice) = times.first()?;
    let next = times.get(1).map(|(next, _)| next.time);
    Some(Winner { name: name(choice), time: *time, next, simulated: *simulated })
}

fn report(rows: &[Row], ranks: &[usize], bytes: &[usize], network: &Network) -> String {
    let mut text = format!("{}: {}\n", network.name, network.description);
    let (mut told, mut formulas, mut left, mut unmet) = (0, 0, 0, Vec::new());
    for (place, ranks) in ranks.iter().enumerate() {
        let cells = place * bytes.len()..(place + 1) * bytes.len();
        let nodes = network.nodes(*ranks).last().map_or(1, |last| *last as usize + 1);
        let mut heading = vec![format!("{}, {}", counted(*ranks, "rank"), counted(nodes, "node"))];
        heading.extend(bytes.iter().map(|bytes| if *bytes == 0 { String::new() } else { format_bytes(*bytes) }));
        let mut table = vec![heading];
        for row in rows {
            let mut line = vec![name(&row.choice)];
            for time in &row.times[cells.clone()] {
                line.push(match time {
                    Time::Told(Prediction { time, simulated: true }) => {
                        told += 1;
                        seconds(*time)
                    }
                    Time::Told(Prediction { time, simulated: false }) => {
                        (told, formulas) = (told + 1, formulas + 1);
                        format!("~{}", seconds(*time))
                    }
                    Time::Unmet(why) => {
                        // Once for all numbers of ranks that it says the like of.
                        let (name, kind) = (name(&row.choice), std::mem::discriminant(why));
                        if !unmet.iter().any(|(known, other, _)| *known == name && *other == kind) {
                            let reason = format!("{name}: {why}");
                            unmet.push((name, kind, reason));
                        }
                        "-".to_owned()
                    }
                    Time::NotReached => {
                        left += 1;
                        "?".to_owned()
                    }
                });
            }
            table.push(line);
        }
        let mut best = vec!["fastest".to_owned()];
        best.extend(cells.map(|cell| {
            if is_open(rows, cell) {
                return "?".to_owned();
            }
            let Some(winner) = fastest(rows, cell) else { return String::new() };
            // Formulas know less of what slows messages down, so that who wins by one may not by a simulation.
            let by = if winner.simulated { "" } else { "~" };
            // Without parameters where one row alone has the name.
            let short = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
            let named = short(&winner.name);
            let alone = rows.iter().filter(|row| short(&name(&row.choice)) == named).count() == 1;
            format!("{by}{}", if alone { named } else { winner.name })
        }));
        table.push(best);
        text.push('\n');
        text.push_str(&columns(0, &table));
    }
    if !unmet.is_empty() {
        let reasons: Vec<_> = unmet.into_iter().map(|(_, _, reason)| reason).collect();
        text.push_str(&format!("\n- cannot run there: {}\n", reasons.join("; ")));
    }
    if formulas > 0 {
        let words = "by the cost formula: more steps than --steps, or not done within --patience";
        text.push_str(&format!("\n~ {words} ({formulas} of {told})\n"));
    }
    if left > 0 {
        text.push_str(&format!("\n? not simulated: {left} left when the command was ended\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(names: &[&str], ranks: &[usize], bytes: &[usize], network: &Network, steps: usize) -> Vec<Row> {
        rows_of(Operation::Allreduce, names, ranks, bytes, network, steps)
    }

    fn rows_of(
        operation: Operation,
        names: &[&str],
        ranks: &[usize],
        bytes: &[usize],
        network: &Network,
        steps: usize,
    ) -> Vec<Row> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let choices = choices(operation, &names, false).unwrap();
        let patience = Duration::MAX;
        let plan = Plan { operation, choices: &choices, ranks, bytes, network, shares: false, steps, patience };
        let times = simulated(&plan, &Progress::start()).unwrap();
        choices.iter().cloned().zip(times).map(|(choice, times)| Row { choice, times }).collect()
    }

    #[test]
    fn why_one_cannot_run_is_told_once() {
        let network = Network::find("ethernet").unwrap();
        let (ranks, bytes, names) = ([3, 6, 8], [8, 64], ["recursive_doubling", "neighbor_exchange", "ring"]);
        let text = report(
            &rows_of(Operation::Allgather, &names, &ranks, &bytes, &network, usize::MAX),
            &ranks,
            &bytes,
            &network,
        );
        let reasons = "- cannot run there: recursive_doubling: needs a power-of-two number of ranks, not 3; \
                       neighbor_exchange: needs an even number of ranks, not 3\n";
        assert!(text.ends_with(reasons), "{text}");
        assert_eq!(text.matches(" -").count(), 3 * bytes.len(), "{text}");
    }

    #[test]
    fn the_fastest_of_each_cell_is_told() {
        let network = Network::find("ethernet").unwrap();
        let (ranks, bytes) = ([16, 32], [8, 1 << 22]);
        let mut all = rows(&["recursive_doubling", "ring"], &ranks, &bytes, &network, usize::MAX);
        let names: Vec<_> = (0..4).map(|cell| fastest(&all, cell).unwrap().name).collect();
        assert_eq!(names, ["recursive_doubling", "ring", "recursive_doubling", "ring"]);
        let text = report(&all, &ranks, &bytes, &network);
        assert!(text.contains("32 ranks") && text.contains("fastest") && !text.contains('?'), "{text}");
        let rough = rows(&["ring"], &ranks, &bytes, &network, 1);
        let text = report(&rough, &ranks, &bytes, &network);
        assert!(text.contains("~ by the cost formula"));
        // Where simulations and formulas stand beside each other, who wins by a formula is told as such.
        let mut mixed = rows(&["recursive_doubling"], &ranks, &bytes, &network, usize::MAX);
        mixed.extend(rough.iter().map(|row| Row { choice: row.choice.clone(), times: row.times.clone() }));
        let text = report(&mixed, &ranks, &bytes, &network);
        let fastest_of: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("fastest")).collect();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(fastest_of[1]), ["recursive_doubling", "~ring"], "{text}");
        let cells = [Ok(fastest(&rough, 0)), Ok(fastest(&all, 0))];
        let drawn = |cells: &[Result<_, NotSimulated>]| winners("", "", &ranks[..1], &bytes[..1], cells);
        assert!(drawn(&[Err(NotSimulated)]).contains("not simulated") && drawn(&[Ok(None)]).contains("can be used"));
        assert!(drawn(&cells[..1]).contains("~ by the cost formula") && !drawn(&cells[1..]).contains('~'));
        let segments = ["segmented_ring:segment=64K", "segmented_ring:segment=512K"];
        let text = report(&rows(&segments, &[4], &[8 << 20], &network, usize::MAX), &[4], &[8 << 20], &network);
        let last = text.lines().rfind(|line| line.starts_with("fastest")).unwrap();
        assert!(words(last)[1].starts_with("segmented_ring:segment="), "{text}");
        all[1].times[3] = Time::NotReached;
        let text = report(&all, &ranks, &bytes, &network);
        assert!(text.contains("? not simulated: 1 left"), "{text}");
        // Who would win there nobody knows.
        let last = text.lines().rfind(|line| line.starts_with("fastest")).unwrap();
        assert!(last.ends_with('?'), "{text}");
    }
}
