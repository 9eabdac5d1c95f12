//! Formulas as they are printed against the same formulas as code.
//!
//! A printed formula is an expression, with conditions and definitions behind commas, or several for different cases
//! behind semicolons: "qα; p≠2^k: (⌊log2 p⌋+2)α". It is what the code says, terms that are "at most" so much in full.
//! Where all of it begins with "at most", it is never below that, and above it by no more than half of it and two
//! rounds. Here messages, blocks and banks of shared memory are cut evenly, roots are 0, order does not matter, and
//! nodes are of equal width.

use crate::expression;
use collie::algorithm::{Algorithm, Call, Choice, Kind, Shape, SharedMemory, Value, all};
use libtest_mimic::Failed;
use std::collections::HashMap;

/// Rows whose formulas are prose: sums over dimensions and those of other rows.
const PROSE: [&str; 15] = [
    "bcast::mesh",
    "bcast::fibonacci",
    "bcast::hierarchical",
    "reduce::mesh",
    "reduce::fibonacci",
    "reduce::hierarchical",
    "allreduce::reduce_bcast",
    "allreduce::swing",
    "allreduce::bine",
    "allreduce::hierarchical",
    "gather::hierarchical",
    "scatter::hierarchical",
    "allgather::linear",
    "allgather::hierarchical",
    "barrier::hierarchical",
];

/// Disagreements told per row.
const TOLD: usize = 6;

/// Whether the formula of a row is an expression.
pub fn is_expression(row: &Algorithm) -> bool {
    !PROSE.contains(&name(row).as_str())
}

fn name(row: &Algorithm) -> String {
    format!("{}::{}", row.operation, row.name)
}

/// The list of prose names rows that there are.
pub fn check_list() -> Result<(), Failed> {
    let rows: Vec<String> = all().map(name).collect();
    let unknown: Vec<&str> = PROSE.into_iter().filter(|prose| !rows.iter().any(|row| row == prose)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(Failed::from(format!("no rows: {}", unknown.join(", ")))) }
}

pub fn check_row(row: &'static Algorithm) -> Result<(), Failed> {
    let mut failures = Vec::new();
    let mut checked = 0;
    for size in 2..=64 {
        let settings = settings(row);
        let on_nodes = |width: usize| settings.iter().map(move |choice| (choice, width));
        for (choice, width) in widths(row, size).flat_map(on_nodes) {
            let nodes: Vec<_> = (0..size).map(|rank| (rank / width) as u32).collect();
            for times in [1, 5] {
                let call = call(row, size, times, if width == size { &[] } else { &nodes });
                match check(choice, &call, size, width) {
                    Ok(applies) => checked += usize::from(applies),
                    // What cannot be read is the same everywhere.
                    Err(failure) if failures.iter().any(|told: &String| told.ends_with(&failure)) => {}
                    Err(failure) => {
                        failures.push(format!("{choice} p={size} on nodes of {width} n={}: {failure}", call.bytes()));
                    }
                }
            }
        }
        if failures.len() >= TOLD {
            break;
        }
    }
    if checked == 0 {
        failures.push(format!("'{}' applies to nothing", row.formula));
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// Ranks of each node: all on one, and where the row knows nodes, fewer.
fn widths(row: &Algorithm, size: usize) -> impl Iterator<Item = usize> + use<> {
    let fewer = [1, 2, 3, 4, 8].into_iter().filter(move |width| *width < size && size.is_multiple_of(*width));
    fewer.filter(|_| row.knows_nodes()).collect::<Vec<_>>().into_iter().chain([size])
}

/// A call that any block, half or segment here divides. A bank has room for all blocks if `times` is one, else for so
/// small a part of a message or block.
fn call<'a>(row: &Algorithm, size: usize, times: usize, nodes: &'a [u32]) -> Call<'a> {
    let operation = row.operation;
    let unit = if operation.reduces() { 4 } else { 1 };
    let part = size * (1 << size.ilog2()) * 96;
    let window = if times == 1 { size * part } else { part } * unit;
    let plain = Call::plain(operation, if operation.has_data() { part * times } else { 0 }, unit);
    let call = Call { shared: Some(SharedMemory { window, ..SharedMemory::PLAIN }), ..plain };
    if row.needs.shared_memory { Call { numa: nodes, ..call } } else { Call { nodes, ..call } }
}

/// The parameters' defaults, and every number at another one. Segments and blocks are those of [`CUTS`].
fn settings(row: &'static Algorithm) -> Vec<Choice> {
    let mut settings = vec![Choice::new(row)];
    for parameter in row.parameters {
        if let Kind::Count { .. } = parameter.kind {
            let mut choice = Choice::new(row);
            choice.set(parameter.name, Value::Number(3));
            settings.push(choice);
        }
    }
    settings
}

/// So many segments of the message or block, so many blocks.
const CUTS: [usize; 3] = [1, 6, 48];

fn check(choice: &Choice, call: &Call, size: usize, width: usize) -> Result<bool, String> {
    let mut applies = false;
    for cut in CUTS {
        let mut choice = choice.clone();
        let mut is_cut = false;
        for parameter in choice.algorithm.parameters {
            let value = match (parameter.kind, parameter.name) {
                (Kind::Segment | Kind::Bytes, "segment") if cut == 1 => usize::MAX,
                (Kind::Segment | Kind::Bytes, "segment") => call.bytes() / cut,
                (Kind::Blocks, _) => cut,
                (Kind::Segment, "fragment") => call.bytes().min(window(call)) / CUTS[2],
                (Kind::Bytes, "read_from") if cut > 1 => usize::MAX,
                _ => continue,
            };
            is_cut = true;
            choice.set(parameter.name, Value::Number(value));
        }
        if choice.accepts(call, size).is_ok() && (is_cut || cut == 1) {
            applies |= check_one(&choice, call, size, width)?;
        }
    }
    Ok(applies)
}

/// Bytes of a bank.
fn window(call: &Call) -> usize {
    call.shared.map_or(0, |shared| shared.window)
}

fn check_one(choice: &Choice, call: &Call, size: usize, width: usize) -> Result<bool, String> {
    let known = symbols(choice, call, size, width);
    let advised = |failure: String| format!("{failure}\n{ADVICE}");
    let Some(case) = Case::of(choice.algorithm.formula, &known).map_err(advised)? else { return Ok(false) };
    let code = choice.cost(&Shape::of(call, size));
    let parts = [code.rounds, code.bytes, code.folded, code.notified, code.copied, code.arrived];
    for (unit, code) in UNITS.into_iter().zip(parts) {
        let printed = case.value(unit, case.expression, None).map_err(advised)?;
        let step = match unit {
            "β" | "γ" => call.bytes() as f64 / known.get("S").copied().unwrap_or(1.0),
            _ => 1.0,
        };
        let agrees = match case.at_most {
            true => printed >= code * (1.0 - 1e-9) && printed <= 1.5 * code + 2.0 * step,
            false => (printed - code).abs() <= code * 1e-9,
        };
        if !agrees {
            return Err(format!("{unit}: '{}' says {printed}, the code {code}", choice.algorithm.formula));
        }
    }
    Ok(true)
}

/// What each part of a cost is counted in.
const UNITS: [&str; 6] = ["α", "β", "γ", "t_W", "t", "t_A"];

/// Where a formula cannot be read.
const ADVICE: &str = "  A parameter's symbol is the one letter, with a colon, that its help text begins with, as in \
                      \"k: ranks in a group\"; any other letter is defined behind a comma, as in \"h=⌊log2 p⌋\". Words \
                      that change no value go to WORDS in tests/costs/printed.rs, rows whose formula is prose to PROSE \
                      there.";

/// What is said besides, and does not bear on the call here.
const WORDS: [&str; 8] = [
    "S segments per half",
    "and p−1 stores",
    "the last α+nβ unless the root is p−1",
    "at best about nβ+2qα+2√(2qαnβ)",
    "about 2q·α+2pbβ",
    "about k·log_k p·α+(k/(k−1))pbβ",
    "N nodes of m ranks",
    "N NUMA nodes of at most g ranks",
];

/// Comparisons in conditions.
const SIGNS: [char; 4] = ['>', '<', '≥', '≤'];

type Known = HashMap<&'static str, f64>;

fn symbols(choice: &Choice, call: &Call, size: usize, width: usize) -> Known {
    let number = |name: &str| {
        let known = choice.parameters.iter().find(|(known, _)| *known == name);
        known.and_then(|(_, value)| if let Value::Number(number) = value { Some(*number as f64) } else { None })
    };
    let (p, bytes) = (size as f64, call.bytes() as f64);
    let mut known =
        Known::from([("p", p), ("q", p.log2().ceil()), ("n", bytes), ("b", bytes), ("w", window(call) as f64)]);
    if choice.algorithm.knows_nodes() {
        known.extend([("N", p / width as f64), ("m", width as f64), ("g", width as f64)]);
    }
    for parameter in choice.algorithm.parameters {
        known.extend(parameter.symbol().zip(number(parameter.name)));
    }
    if let Some(segment) = number("segment") {
        let halves = ["per half", "S=⌈n/2s⌉"].iter().any(|words| choice.algorithm.formula.contains(words));
        let cut = if halves { bytes / 2.0 } else { bytes };
        let segment = segment.min(cut);
        known.extend([("s", segment), ("S", (cut / segment).ceil())]);
    }
    known
}

/// The part of a formula that holds.
struct Case<'a> {
    at_most: bool,
    expression: &'a str,
    /// What T(m) is for m > 1.
    recurrence: Option<&'a str>,
    symbols: HashMap<String, f64>,
}

impl<'a> Case<'a> {
    /// The last one whose condition holds, or the first; none where that says that it does not apply.
    fn of(formula: &'a str, known: &Known) -> Result<Option<Self>, String> {
        let mut found = None;
        for (place, text) in formula.split("; ").enumerate() {
            let (conditions, text) = text.split_once(": ").unwrap_or(("", text));
            let mut symbols: HashMap<String, f64> =
                known.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            let mut holds = true;
            for condition in conditions.split(", ").filter(|condition| !condition.is_empty()) {
                holds &= note(condition, &mut symbols)?.ok_or_else(|| format!("'{condition}' is no condition"))?;
            }
            if place > 0 && (conditions.is_empty() || !holds) {
                if conditions.is_empty() {
                    return Err(format!("'{text}' has no condition"));
                }
                continue;
            }
            let mut parts = text.split(", ");
            let expression = parts.next().unwrap_or_default();
            let mut recurrence = None;
            for part in parts.filter(|part| *part != "T(0)=T(1)=0") {
                match part.strip_prefix("T(m)=") {
                    Some(text) => recurrence = Some(text),
                    None => holds &= note(part, &mut symbols)?.unwrap_or(true),
                }
            }
            let (at_most, expression) = match expression.strip_prefix("at most ") {
                Some(expression) => (true, expression),
                None => (false, expression),
            };
            found = Some((holds, Self { at_most, expression, recurrence, symbols }));
        }
        Ok(found.and_then(|(holds, case)| holds.then_some(case)))
    }

    /// What an expression says of one of [`UNITS`], where T of `m` is looked for if that is given.
    fn value(&self, unit: &str, text: &str, m: Option<f64>) -> Result<f64, String> {
        let worth = |symbol: &str| match (symbol, m) {
            ("m", Some(m)) => Some(m),
            _ if symbol.starts_with("T(") => self.recur(unit, symbol),
            _ => self
                .symbols
                .get(symbol)
                .copied()
                .or_else(|| UNITS.contains(&symbol).then_some(if symbol == unit { 1.0 } else { 0.0 })),
        };
        expression::value(&text.replace("+at most ", "+"), &worth)
    }

    /// T(3), for example.
    fn recur(&self, unit: &str, symbol: &str) -> Option<f64> {
        let m: f64 = symbol.strip_prefix("T(")?.strip_suffix(')')?.parse().ok()?;
        if m <= 1.0 { Some(0.0) } else { self.value(unit, self.recurrence?, Some(m)).ok() }
    }
}

/// Whether a condition holds, a definition being one that does; nothing where it is [`WORDS`].
fn note(text: &str, symbols: &mut HashMap<String, f64>) -> Result<Option<bool>, String> {
    let p = symbols["p"] as usize;
    let value =
        |text: &str, symbols: &HashMap<String, f64>| expression::value(text, &|name| symbols.get(name).copied());
    let radix = symbols.get("k").map_or(2, |radix| *radix as usize);
    Ok(Some(match text {
        "one segment" => symbols.get("S") == Some(&1.0),
        "p≠2^k" => !p.is_power_of_two(),
        "p≠m·k^e" => !(1..radix).any(|m| {
            std::iter::successors(Some(m), |core| Some(core * radix))
                .take_while(|core| *core <= p)
                .any(|core| core == p)
        }),
        _ if text.contains(SIGNS) => {
            // p>k≥2 holds where both do.
            let signs: Vec<char> = text.chars().filter(|sign| SIGNS.contains(sign)).collect();
            let sides = text.split(SIGNS).map(|side| value(side, symbols));
            let sides: Vec<f64> = sides.collect::<Result<_, _>>()?;
            let holds = |(pair, sign): (&[f64], &char)| match sign {
                '>' => pair[0] > pair[1],
                '<' => pair[0] < pair[1],
                '≥' => pair[0] >= pair[1],
                _ => pair[0] <= pair[1],
            };
            sides.windows(2).zip(&signs).all(holds)
        }
        _ => match text.split_once('=') {
            Some((name, definition)) if name.chars().count() == 1 => {
                let defined = value(definition, symbols)?;
                symbols.insert(name.to_owned(), defined);
                true
            }
            _ if WORDS.contains(&text) => return Ok(None),
            _ => return Err(format!("'{text}' is neither a condition nor a definition")),
        },
    }))
}
