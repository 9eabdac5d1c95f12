//! What `collie explain` says of a call: who decides it and on what grounds, what each algorithm would take, and why
//! others are refused.

use super::table::columns;
use crate::algorithm::{Algorithm, Call, Choice, Kind, Value, counted, counted_bytes, of};
use crate::report::several;
use crate::schedule::draw::seconds;
use crate::schedule::limits::{Limit, ProtocolLimits};
use crate::schedule::lower::Form;
use crate::schedule::simulate::{Beat, Network, Scales, Tapes, predict_while};
use crate::schedule::verify::SameOrder;
use crate::selection::{
    By, Candidates, Configuration, Decided, Evidence, Implementation, Learned, Mode, Mpi, Rule, Rules, Situation,
    Transport, VerifyResult, Version, Wanted, decide, defaults, evidence, variables,
};
use crate::trial::heard;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Steps up to which times are simulated; beyond them the cost formula tells them.
const STEPS: usize = 1 << 20;

/// After so long the cost formula tells the rest.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is explained.
pub struct Explained<'a> {
    /// What decides.
    pub configuration: &'a Configuration,
    /// Texts of the rules file and of the user's tables.
    pub rules: Option<&'a str>,
    /// See `rules`.
    pub tables: Option<&'a str>,
    /// Where the call is made.
    pub situation: &'a Situation,
    /// The call.
    pub call: &'a Call<'a>,
    /// Whether what keeps algorithms from living in shared memory is that there is no kernel to combine by.
    pub without_kernel: bool,
    /// When explaining began.
    pub begun: Instant,
    /// What formulas were scaled by.
    pub scales: Scales,
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
    /// All of it.
    pub fn text(&self) -> String {
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
        match &decided {
            Decided::Ours { choice, by } => {
                let _ = writeln!(text, "gets {choice}{}\nby {by}", beside_native(configuration));
                text.push_str(&self.grounds(&by.by));
                if rests_on_network(choice) {
                    text.push_str(&automatic(configuration, choice, call, situation));
                }
                if call.bytes() == 0 && call.operation.has_data() && !call.operation.has_own_counts() {
                    text.push_str("but has no bytes, so that no message is sent\n");
                }
            }
            Decided::Native { by } => {
                let _ = writeln!(text, "stays with the MPI library\nby {by}");
                text.push_str(&self.grounds(&by.by));
                if by.by == By::Unmeasured {
                    let in_order = configuration.reproducible && call.operation.reduces();
                    let learns = configuration.mode == Mode::Learn && !in_order;
                    text.push_str(&unmeasured(situation.mpi, learns));
                }
            }
        }
        text.push_str(&learned);
        text.push('\n');
        text.push_str(&self.in_pieces());
        if configuration.mode == Mode::Best {
            let replace = Configuration { mode: Mode::Replace, ..configuration.clone() };
            if let Decided::Ours { choice, by } = decide(&replace, situation, call) {
                let _ = writeln!(text, "in mode replace: {choice}\nby {by}\n");
            }
        }
        text.push_str(&self.considered(&by.by));
        text.push_str(&self.nearly());
        text.push_str(&self.catalogue(ours));
        text
    }

    /// What was asked in turn, and what each says; empty if nothing was. `used` is what decided.
    fn considered(&self, used: &By) -> String {
        let Self { configuration, situation, call, .. } = *self;
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
            let verdict = if *used == candidate.by { "used".to_owned() } else { verdict };
            rows.push(vec![candidate.by.to_string(), candidate.wanted.to_string(), time, verdict]);
        }
        if rows.is_empty() {
            return String::new();
        }
        format!("considered, in this order:\n{}\n", columns(2, &rows))
    }

    /// The rules of the user's own for so many ranks and bytes that come before what decides, and what of their conditions
    /// does not hold for the call.
    fn nearly(&self) -> String {
        let Self { configuration, situation, call, .. } = *self;
        let of_file = |rules: &Rules| -> Vec<Vec<String>> {
            let all = rules.of(call.operation).iter().take_while(|rule| !rule.matches(situation, call));
            let row = |rule: &Rule| {
                let unmet: Vec<_> = rule.unmet(situation, call).map(ToString::to_string).collect();
                vec![format!("{}:{}", rules.path, rule.line), rule.wanted.to_string(), unmet.join(" and ")]
            };
            all.filter(|rule| rule.is_of_size(situation, call)).map(row).collect()
        };
        let rows: Vec<_> = [&configuration.rules, &configuration.tables].into_iter().flat_map(of_file).collect();
        if rows.is_empty() {
            return String::new();
        }
        format!("for so many ranks and bytes, but only if:\n{}\n", columns(2, &rows))
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
        _ if operation.has_own_counts() => {
            format!(", of bytes that only each rank itself knows (predicted for {bytes} per pair of ranks),")
        }
        _ if operation.tells_in_place() => format!(" of {bytes} per pair of ranks"),
        _ if operation.has_blocks() => format!(" of {bytes} per rank"),
        _ => format!(" of {bytes}"),
    };
    let order = match (operation.reduces(), call.commutative) {
        (false, _) => "",
        (true, true) if call.reduce_local => ", commutative and user-defined",
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
/// What the mode makes the MPI library do besides.
fn beside_native(configuration: &Configuration) -> String {
    match (configuration.mode, configuration.verify_result) {
        (Mode::Compare, _) => ", in turns with the MPI library's own algorithm (COLLIE_MODE=compare)".to_owned(),
        (Mode::Verify, result) => {
            let whose = match result {
                VerifyResult::Native => "the MPI library's",
                VerifyResult::Ours => "Collie's",
            };
            format!(" beside the MPI library's own algorithm; the program gets {whose} result (COLLIE_MODE=verify)")
        }
        _ => String::new(),
    }
}
