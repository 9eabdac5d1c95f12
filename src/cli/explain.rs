//! `collie explain`: which algorithm a call would get, who decides that and on what grounds, what it would take, and
//! why others are refused.

use super::nearest_measurements::{self, Measured};
use super::simulation_pool::MOST_BYTES;
use super::table::columns;
use super::{Done, Failure, measurements, options};
use crate::algorithm::{
    Algorithm, Call, Choice, Kind, Operation, Value, counted, counted_bytes, format_bytes, of, parse_bytes,
};
use crate::bench::numbers::whole;
use crate::report::several;
use crate::schedule::draw::seconds;
use crate::schedule::limits::{Limit, ProtocolLimits};
use crate::schedule::lower::Form;
use crate::schedule::simulate::{Beat, Network, Scales, Tapes, predict_while};
use crate::schedule::verify::SameOrder;
use crate::selection::{
    By, Candidates, Configuration, Decided, Evidence, Implementation, Learned, Mode, Mpi, RawConfiguration, Situation,
    Transport, Version, Wanted, decide, defaults, evidence, operation_named, variables,
};
use crate::trial::heard;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Show which algorithm a call would get, what decides it, and why others are refused
///
/// The COLLIE_ variables take effect as they would in a run.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie explain allreduce --ranks 48 --bytes 64K\n  \
                        collie explain reduce --ranks 6 --bytes 8 --non-commutative\n  \
                        collie explain bcast --ranks 16 --nodes 4 --bytes 1M --rules site.rules\n  \
                        COLLIE_ALLGATHER=recursive_doubling collie explain allgather --ranks 6 --bytes 1K")]
pub struct Arguments {
    #[arg(help = Operation::accepted())]
    operation: String,
    /// Ranks of the communicator; calls of a single one always stay with the MPI library
    #[arg(long, value_parser = whole::<u32>(2..=1 << 20))]
    ranks: u32,
    /// Bytes that one rank contributes (for bcast the message); K, M, G are powers of 1024 [default: one element]
    #[arg(long, value_parser = bytes)]
    bytes: Option<usize>,
    #[arg(long, value_parser = element, help = format!("Bytes of one element of a reduction [default: {ELEMENT}]"))]
    element: Option<usize>,
    /// Root rank
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>(..))]
    root: usize,
    /// The reduction's operation is not commutative, so that it is the program's own
    #[arg(long)]
    non_commutative: bool,
    /// The reduction's operation is the program's own (MPI_Op_create)
    #[arg(long)]
    user_defined: bool,
    /// Number of nodes, with the ranks spread evenly in blocks, or the number of ranks on each node, as in 4,4,2
    #[arg(long, default_value = "1")]
    nodes: String,
    /// NUMA nodes, where ranks share memory, in the same form [default: COLLIE_NUMA, or else one]
    #[arg(long, value_name = "NODES")]
    numa: Option<String>,
    /// There are more ranks than cores
    #[arg(long)]
    oversubscribed: bool,
    /// How messages travel within a node, messages or shared, instead of COLLIE_TRANSPORT
    #[arg(long, value_parser = ["messages", "shared"])]
    transport: Option<String>,
    /// MPI library, as rules name it: openmpi, mpich, intel, cray or mvapich
    #[arg(long, value_parser = Implementation::parse)]
    mpi: Option<Implementation>,
    /// Its version, such as 4.1.4
    #[arg(long, requires = "mpi", value_parser = version)]
    mpi_version: Option<Version>,
    /// Rules file, instead of COLLIE_RULES
    #[arg(long)]
    rules: Option<String>,
    /// Network whose α/β determines segments: shared_memory, ethernet, infiniband, or a file, instead of COLLIE_NETWORK
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// Show what collie bench measured (--json or --csv) of such calls, or what a run in mode compare found; may be
    /// given several times
    #[arg(long, value_name = "FILE")]
    measured: Vec<PathBuf>,
}

/// Bytes of an element of a reduction unless the command line says otherwise.
const ELEMENT: usize = 8;

/// Steps up to which times are simulated; beyond them the cost formula tells them.
const STEPS: usize = 1 << 20;

/// After so long the cost formula tells the rest.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn bytes(text: &str) -> Result<usize, String> {
    let accepted = || format!("accepted: bytes, with K, M, G as powers of 1024, at most {}", format_bytes(MOST_BYTES));
    parse_bytes(text).filter(|bytes| *bytes <= MOST_BYTES).ok_or_else(accepted)
}

fn element(text: &str) -> Result<usize, String> {
    let most = format_bytes(MOST_BYTES);
    let accepted = || format!("accepted: bytes from 1 to {most}, with K, M, G as powers of 1024");
    parse_bytes(text).filter(|bytes| (1..=MOST_BYTES).contains(bytes)).ok_or_else(accepted)
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| "accepted: a version such as 4.1.4".to_owned())
}

/// Explains.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let operation = operation_named(&arguments.operation).map_err(Failure::usage)?;
    let ranks = arguments.ranks as usize;
    if arguments.root >= ranks {
        return Err(Failure::usage(format!("there is no root {} among {}", arguments.root, counted(ranks, "rank"))));
    }
    if arguments.root > 0 && !operation.rooted() {
        return Err(Failure::usage(format!("--root is for operations with a root; {operation} has none")));
    }
    if arguments.bytes.is_some_and(|bytes| bytes > 0) && !operation.has_data() {
        return Err(Failure::usage(format!("--bytes is for operations with data; {operation} has none")));
    }
    if arguments.non_commutative && !operation.reduces() {
        return Err(Failure::usage(format!("--non-commutative is for reductions; {operation} reduces nothing")));
    }
    if arguments.user_defined && !operation.reduces() {
        return Err(Failure::usage(format!("--user-defined is for reductions; {operation} reduces nothing")));
    }
    if arguments.element.is_some() && !operation.reduces() {
        return Err(Failure::usage(format!("--element is for reductions; {operation} reduces nothing")));
    }
    let element = arguments.element.unwrap_or(ELEMENT);
    let nodes = nodes_of("--nodes", &arguments.nodes, ranks).map_err(Failure::usage)?;
    let unit = if operation.reduces() { element } else { 1 };
    let one = if operation.has_data() && !operation.has_own_counts() { element } else { 0 };
    let bytes = arguments.bytes.unwrap_or(one);
    if !bytes.is_multiple_of(unit) {
        let message = format!("--bytes {bytes} is not a whole number of elements of {unit} bytes (--element)");
        return Err(Failure::usage(message));
    }
    let (configuration, [rules, tables]) = configuration(arguments)?;
    if arguments.numa.is_some() && configuration.transport != Transport::Shared {
        return Err(Failure::usage("--numa is for ranks that share memory (--transport shared)"));
    }
    let numa =
        arguments.numa.as_ref().map(|text| nodes_of("--numa", text, ranks)).transpose().map_err(Failure::usage)?;
    let numa = numa.unwrap_or_else(|| configuration.numa.stated(ranks).unwrap_or_default());
    let reports = arguments.measured.iter().map(|path| measurements::read(path)).collect::<Result<Vec<_>, _>>();
    let reports = reports.map_err(Failure::cannot)?.concat();
    let situation = Situation {
        oversubscribed: arguments.oversubscribed,
        mpi: Mpi {
            implementation: arguments.mpi.unwrap_or_default(),
            version: arguments.mpi_version.unwrap_or_default(),
        },
        limits: match configuration.transport {
            Transport::Messages => configuration.limits_within_node(ProtocolLimits::NONE, arguments.oversubscribed),
            Transport::Shared => ProtocolLimits::NONE,
        },
        ..Situation::plain(ranks).on(&nodes)
    };
    let call = Call {
        root: if operation.rooted() { arguments.root } else { 0 },
        commutative: !arguments.non_commutative,
        nodes: &nodes,
        half_bandwidth: configuration.half_bandwidth(situation.one_node),
        ..Call::plain(operation, bytes / unit, unit)
    };
    // Algorithms that live in shared memory combine by kernels, which operations of the program have none of.
    let has_kernel = !arguments.user_defined && !arguments.non_commutative;
    let call = match configuration.transport {
        Transport::Shared => {
            let call = configuration.network(situation.one_node).with_shared_memory(&call, &numa);
            Call { shared: call.shared.filter(|_| has_kernel), ..call }
        }
        Transport::Messages => call,
    };
    let explained = Explained {
        configuration: &configuration,
        rules: rules.as_deref(),
        tables: tables.as_deref(),
        situation: &situation,
        call: &call,
        without_kernel: configuration.transport == Transport::Shared && !has_kernel,
        begun: Instant::now(),
        scales: Scales::default(),
    };
    let mut text = explained.text();
    if !reports.is_empty() {
        text.push('\n');
        text.push_str(&nearest_measurements::text(&reports, &Measured::of(&call, &situation)));
    }
    Ok(Done::from(text))
}

/// What the variables and the command line say, and the texts of the rules file and of the user's tables.
fn configuration(arguments: &Arguments) -> Result<(Configuration, [Option<String>; 2]), Failure> {
    let mut variables = RawConfiguration::from_environment().variables;
    let Arguments { rules, network, transport, .. } = arguments;
    if network.as_deref() == Some(Network::MEASURE) {
        Network::find(Network::MEASURE).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let given = [
        ("--rules", variables::RULES, rules),
        ("--network", variables::NETWORK, network),
        ("--transport", variables::TRANSPORT, transport),
    ];
    let mut options = Vec::new();
    for (option, name, given) in given {
        if let Some(given) = given {
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), given.clone()));
            options.push((name.to_owned(), option.to_owned()));
        }
    }
    let raw = RawConfiguration::new(variables);
    let configuration = raw.parse().map_err(|errors| Failure::cannot(options::blamed(errors, &options).to_string()))?;
    Ok((configuration, [raw.rules, raw.tables].map(|file| file.and_then(|file| file.text.ok()))))
}

/// What is explained.
struct Explained<'a> {
    configuration: &'a Configuration,
    /// Texts of the rules file and of the user's tables.
    rules: Option<&'a str>,
    tables: Option<&'a str>,
    situation: &'a Situation,
    call: &'a Call<'a>,
    /// Whether what keeps algorithms from living in shared memory is that there is no kernel to combine by.
    without_kernel: bool,
    /// When explaining began.
    begun: Instant,
    /// What formulas were scaled by.
    scales: Scales,
}

/// The node of each rank, as in [`Call`], from what `option` says.
pub fn nodes_of(option: &str, text: &str, ranks: usize) -> Result<Vec<u32>, String> {
    let refuse =
        || format!("{option} '{text}': accepted: a number from 1 to {ranks}, or the ranks on each, as in 4,4,2");
    let numbers = text.split(',').map(|number| number.trim().parse::<usize>().ok().filter(|number| *number > 0));
    let numbers = numbers.collect::<Option<Vec<_>>>().ok_or_else(refuse)?;
    let sizes = match numbers[..] {
        [count] if count <= ranks => (0..count).map(|node| (node + 1) * ranks / count - node * ranks / count).collect(),
        [_] => return Err(refuse()),
        _ => numbers,
    };
    if sizes.iter().sum::<usize>() != ranks {
        return Err(format!("{option} '{text}' holds {} ranks, --ranks says {ranks}", sizes.iter().sum::<usize>()));
    }
    if sizes.len() == 1 {
        return Ok(Vec::new());
    }
    Ok((0..).zip(&sizes).flat_map(|(node, size)| std::iter::repeat_n(node, *size)).collect())
}

/// Whether a segment or a number of blocks is left to the cost formula.
fn rests_on_network(choice: &Choice) -> bool {
    let rows = choice.algorithm.parameters.iter().map(|row| row.kind);
    rows.zip(choice.parameters.iter()).any(|(kind, (_, value))| match value {
        Value::Auto => matches!(kind, Kind::Segment | Kind::Blocks),
        Value::Inner(inner) => rests_on_network(inner),
        _ => false,
    })
}

/// What `auto` comes to, seen in the messages that are sent.
fn automatic(configuration: &Configuration, choice: &Choice, call: &Call, situation: &Situation) -> String {
    let network = configuration.network(situation.one_node);
    if let Some(shared) = call.shared.filter(|_| choice.algorithm.needs.shared_memory) {
        return format!("auto is based on t_W/t = {} bytes ({})\n", shared.notification, network.name);
    }
    let rests = format!("auto is based on α/β = {} bytes ({})", call.half_bandwidth, network.name);
    // Beyond so many steps the answer is not worth the wait.
    let Some(tapes) = Tapes::record(choice, call, situation.ranks, &Form::PLAIN, 1 << 22) else { return rests + "\n" };
    let sent = |rank| {
        tapes.rank(rank).iter().filter_map(|beat| match beat {
            Beat::Send { bytes, .. } => Some(*bytes),
            _ => None,
        })
    };
    let longest = (0..situation.ranks).flat_map(sent).max().unwrap_or(0);
    format!("{rests}: the longest message is {longest} bytes\n")
}

/// Why a call stays native that no row of the tables of mode `best` speaks of, and what can be done; in mode `learn`
/// that is no more than the beginning.
fn unmeasured(mpi: Mpi, learns: bool) -> String {
    let of = match (mpi.implementation, mpi.version == Version::default()) {
        (Implementation::Other, _) => " of an MPI library that is not named (--mpi, --mpi-version)".to_owned(),
        (known, true) => format!(" of {} of a version that is not named (--mpi-version)", known.name()),
        (_, false) => String::new(),
    };
    let then = match learns {
        true => "mode learn starts there, and tries Collie's algorithms on such calls while the program runs",
        false => "measure with collie bench and use collie tune, or COLLIE_MODE=replace for Collie's algorithms",
    };
    format!(
        "because no measurement of such calls{of} is known,\nand no clear gain over the MPI library is predicted;\n{then}\n"
    )
}

impl Explained<'_> {
    fn text(&self) -> String {
        let Self { configuration, situation, call, .. } = *self;
        let mut text = heading(situation, call);
        if self.without_kernel {
            text.push_str(
                "its operation is the program's own: messages may share memory, algorithms cannot combine in it\n",
            );
        }
        if configuration.measures_network {
            let stands_in = self.network();
            let _ = writeln!(
                text,
                "a run would measure the network ({}={}); here the preset {} is used instead",
                variables::NETWORK,
                Network::MEASURE,
                stands_in.name
            );
        }
        let decided = decide(configuration, situation, call);
        let (Decided::Ours { by, .. } | Decided::Native { by }) = &decided;
        let ours = match &decided {
            Decided::Ours { choice, .. } => Some(*choice),
            Decided::Native { .. } => None,
        };
        let learned = if by.by.is_default() { self.learned(ours) } else { String::new() };
        let used = match decided {
            Decided::Ours { choice, by } => {
                let _ = writeln!(text, "gets {choice}\nby {by}");
                text.push_str(&self.grounds(&by.by));
                if rests_on_network(choice) {
                    text.push_str(&automatic(configuration, choice, call, situation));
                }
                if call.bytes() == 0 && call.operation.has_data() && !call.operation.has_own_counts() {
                    text.push_str("but has no bytes, so that no message is sent\n");
                }
                text.push_str(&learned);
                text.push('\n');
                Some(by.by)
            }
            Decided::Native { by } => {
                let _ = writeln!(text, "stays with the MPI library\nby {by}");
                text.push_str(&self.grounds(&by.by));
                if by.by == By::Unmeasured {
                    let in_order = configuration.reproducible && call.operation.reduces();
                    let learns = configuration.mode == Mode::Learn && !in_order;
                    text.push_str(&unmeasured(situation.mpi, learns));
                }
                text.push_str(&learned);
                text.push('\n');
                Some(by.by)
            }
        };
        text.push_str(&self.in_pieces());
        if configuration.mode == Mode::Best {
            let replace = Configuration { mode: Mode::Replace, ..configuration.clone() };
            if let Decided::Ours { choice, by } = decide(&replace, situation, call) {
                let _ = writeln!(text, "in mode replace: {choice}\nby {by}\n");
            }
        }
        let mut rows = Vec::new();
        for candidate in Candidates::of(None, configuration, situation, call) {
            let (verdict, time) = match candidate.wanted {
                Wanted::Algorithm(choice) => {
                    (verdict(choice, call, situation.ranks), self.predicted(choice, &self.network()))
                }
                Wanted::Auto if matches!(candidate.by, By::Table { .. }) => {
                    ("leaves it to the next row".to_owned(), String::new())
                }
                Wanted::Auto => ("leaves it to the tables".to_owned(), String::new()),
                Wanted::Native => ("the MPI library's own".to_owned(), String::new()),
            };
            let verdict = if used.as_ref() == Some(&candidate.by) { "used".to_owned() } else { verdict };
            rows.push(vec![candidate.by.to_string(), candidate.wanted.to_string(), time, verdict]);
        }
        if !rows.is_empty() {
            let _ = writeln!(text, "considered, in this order:\n{}", columns(2, &rows));
        }
        text.push_str(&self.catalogue(ours));
        text
    }

    /// Who gets the call where its messages travel in pieces, if that is another one and nobody has said whether they
    /// do.
    fn in_pieces(&self) -> String {
        let Self { configuration, situation, call, .. } = *self;
        if configuration.knows_limits() || configuration.transport == Transport::Shared {
            return String::new();
        }
        // One that the call's messages are just above.
        let limit = Limit::from(call.bytes().saturating_sub(1));
        let Some(limits) = ProtocolLimits::of([limit]) else { return String::new() };
        let written = |situation: &Situation| match decide(configuration, situation, call) {
            Decided::Ours { choice, by } => (choice.to_string(), by.to_string()),
            Decided::Native { by } => ("the MPI library".to_owned(), by.to_string()),
        };
        let (algorithm, by) = written(&Situation { limits, ..*situation });
        if written(situation) == (algorithm.clone(), by.clone()) {
            return String::new();
        }
        format!(
            "where messages of that length travel in fragments, which a run measures ({} sets it here): {algorithm}\nby {by}\n\n",
            variables::LIMITS
        )
    }

    /// The row that decided, as it is written, and the comment above it.
    fn grounds(&self, by: &By) -> String {
        let (text, line) = match by {
            By::Rule { line, .. } => (self.rules, *line),
            By::Table { line, .. } => (self.tables, *line),
            By::Default { table, line } | By::Predicted { table, line } => (defaults::text(table, false), *line),
            By::Best { table, line } => (defaults::text(table, true), *line),
            _ => return String::new(),
        };
        text.map_or_else(String::new, |text| written(text, line))
    }

    /// What the file of mode `learn` holds of such calls, which go to `default` otherwise. It counts where it was
    /// learned, which need not be here.
    fn learned(&self, default: Option<&Choice>) -> String {
        let Self { configuration, situation, call, .. } = *self;
        let Some(file) = &configuration.learn else { return String::new() };
        let place = format!("but where it was learned (machine and MPI library below), {}", file.path);
        let rule = |line| format!("{place}:{line} comes first:\n{}", written(&file.text, line));
        heard(configuration, situation, call, default).into_iter().map(rule).collect()
    }

    /// The network that times are predicted on, with what the variables say of pieces.
    fn network(&self) -> Network {
        let network = (*self.configuration.network(self.situation.one_node)).clone();
        let limits = self.situation.limits.limits().collect();
        Network { fragment: self.configuration.piece.or(network.fragment), limits: Some(limits), ..network }
    }

    /// What it would take on the network, with `~` by its cost formula; empty if it may not be used.
    fn predicted(&self, choice: &Choice, network: &Network) -> String {
        let goes_on = || self.begun.elapsed() < PATIENCE;
        match predict_while(choice, self.call, self.situation.ranks, network, (STEPS, &goes_on), &self.scales) {
            Ok(Some(time)) => format!("{}{}", if time.simulated { "" } else { "~" }, seconds(time.time)),
            _ => String::new(),
        }
    }

    fn catalogue(&self, used: Option<&Choice>) -> String {
        let Self { configuration, situation, call, .. } = *self;
        let network = self.network();
        let in_order = used.filter(|_| configuration.reproducible && call.operation.reduces());
        let mut same_order = in_order.map(|used| SameOrder::new(call, situation.ranks, used));
        let row = |row: &&'static Algorithm| {
            let choice = Choice::new(row);
            let mut verdict = verdict(&choice, call, situation.ranks);
            if choice.accepts(call, situation.ranks).is_ok() {
                let order = same_order.as_mut().map(|same| if same.has(&choice) { "the same" } else { "another" });
                order.iter().for_each(|order| _ = write!(verdict, ", combines in {order} order"));
            }
            vec![row.name.to_owned(), self.predicted(&choice, &network), verdict]
        };
        let rows: Vec<_> = of(call.operation).iter().map(row).collect();
        let (variable, name) = (variables::of(call.operation), &network.name);
        format!("by name ({variable}=...), with the time predicted on the network {name}:\n{}", columns(2, &rows))
    }
}

/// A row as its file has it, with the comment above it and what it rests on.
fn written(text: &str, line: u32) -> String {
    let Some(Evidence { rule, comment, learned }) = evidence(text, line) else { return String::new() };
    let mut told = format!("  {}\n", rule.split_whitespace().collect::<Vec<_>>().join(" "));
    comment.iter().for_each(|line| _ = writeln!(told, "  # {line}"));
    learned.iter().for_each(|learned| _ = writeln!(told, "  learned {}", what_was_learned(learned)));
    told
}

/// A line of evidence in words: where, when and from how many calls, and the times.
fn what_was_learned(learned: &Learned) -> String {
    let Learned { machine, mpi, date, calls, candidates, .. } = learned;
    let tried = candidates.iter().map(|tried| {
        let time = tried.seconds.map_or_else(|| "not measured".to_owned(), seconds);
        format!("{} {time}, {}", tried.algorithm, several(tried.calls, "call"))
    });
    let (calls, tried) = (several(*calls, "call"), tried.collect::<Vec<_>>().join("; "));
    format!("from {calls}, last on {date}, on {machine} with {mpi}: {tried}")
}

fn heading(situation: &Situation, call: &Call) -> String {
    let (operation, bytes) = (call.operation, counted_bytes(call.bytes()));
    let size = match operation {
        _ if !operation.has_data() => String::new(),
        _ if operation.has_own_counts() => ", of bytes that only each rank itself knows,".to_owned(),
        _ if operation.tells_in_place() => format!(" of {bytes} per pair of ranks"),
        _ if operation.has_blocks() => format!(" of {bytes} per rank"),
        _ => format!(" of {bytes}"),
    };
    let order = match (operation.reduces(), call.commutative) {
        (false, _) => "",
        (true, true) => ", commutative",
        (true, false) => ", not commutative",
    };
    let place = match call.nodes.last() {
        None => "one node".to_owned(),
        Some(last) => format!("{} nodes of up to {}", last + 1, several(situation.most_on_node as u64, "rank")),
    };
    let shared = match (call.shared, call.numa.last()) {
        (None, _) => String::new(),
        (Some(_), None) if !call.nodes.is_empty() => ", sharing memory inside them".to_owned(),
        (Some(_), None) => ", sharing memory".to_owned(),
        (Some(_), Some(last)) => format!(", sharing memory of {} NUMA nodes", last + 1),
    };
    let crowded = if situation.oversubscribed { ", more ranks than cores" } else { "" };
    let mpi = match (situation.mpi.implementation, situation.mpi.version) {
        (Implementation::Other, _) => String::new(),
        (known, version) if version == Version::default() => format!(", {}", known.name()),
        (known, version) => format!(", {} {version}", known.name()),
    };
    format!("{operation}{size} among {} on {place}{shared}{crowded}{order}{mpi}\n", counted(situation.ranks, "rank"))
}

fn verdict(choice: &Choice, call: &Call, ranks: usize) -> String {
    choice.accepts(call, ranks).map_or_else(|unmet| format!("refused: {unmet}"), |()| "could be used".to_owned())
}
