//! What [`csv`](super::csv) has written, read back: files may have been put together, cut down and sorted by other
//! programs.

#![forbid(unsafe_code)]

use super::cell::{Cell, Datatype};
use super::checked;
use super::csv::NO_LIMITS;
use super::pattern::Pattern;
use super::program::NATIVE;
use super::result::{CellRow, Report, SCHEMA_VERSION, VariantRow};
use super::statistics::{Ratio, Spread};
use crate::algorithm::{Operation, parse_choice};
use crate::schedule::limits::{Limit, ProtocolLimits};
use crate::selection::{Transport, operation_named};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Columns without which a row says nothing.
const NEEDED: [&str; 11] = [
    "operation",
    "datatype",
    "root",
    "bytes",
    "ranks",
    "ranks_per_node",
    "oversubscribed",
    "variant",
    "algorithm",
    "median_seconds",
    "mpi_library",
];

/// Whether a text is such a file, by its first line.
pub fn is_csv(text: &str) -> bool {
    let head = unmarked(text.lines().next().unwrap_or_default());
    !head.starts_with(['{', '[']) && head.split(',').any(|name| name.trim() == "operation")
}

/// A line without the byte order mark that spreadsheets begin a file with.
fn unmarked(line: &str) -> &str {
    line.trim_start_matches('\u{feff}')
}

/// One row, by the names of its columns.
struct Row<'a> {
    line: usize,
    heads: &'a [String],
    fields: Vec<String>,
}

impl Row<'_> {
    /// The text of a column; empty where there is no such column.
    fn text(&self, name: &str) -> &str {
        self.heads.iter().position(|head| head == name).map_or("", |place| &self.fields[place])
    }

    /// What is wrong with a column.
    fn refuse(&self, name: &str, accepted: impl Display) -> String {
        let column = self.heads.iter().position(|head| head == name).map_or(0, |place| place + 1);
        format!("line {}, column {column} ({name}): found '{}'; accepted: {accepted}", self.line, self.text(name))
    }

    fn value<T: FromStr>(&self, name: &str, accepted: &str) -> Result<T, String> {
        self.text(name).parse().map_err(|_| self.refuse(name, accepted))
    }

    /// As [`value`](Self::value), or nothing where the column is empty or missing.
    fn optional<T: FromStr>(&self, name: &str, accepted: &str) -> Result<Option<T>, String> {
        if self.text(name).is_empty() { Ok(None) } else { self.value(name, accepted).map(Some) }
    }

    fn seconds(&self, name: &str) -> Result<Option<f64>, String> {
        let accepted = "seconds, such as 1.5e-6";
        let found: Option<f64> = self.optional(name, accepted)?;
        match found.filter(|seconds| !(seconds.is_finite() && *seconds >= 0.0)) {
            Some(_) => Err(self.refuse(name, accepted)),
            None => Ok(found),
        }
    }

    fn truth(&self, name: &str) -> Result<Option<bool>, String> {
        self.optional(name, "true or false")
    }

    /// Whether order does not matter to the reduction's operation; what reduces nothing counts so.
    fn order(&self, operation: Operation) -> Result<bool, String> {
        match self.truth("commutative")? {
            Some(false) if !operation.reduces() => {
                Err(self.refuse("commutative", format!("true, as {operation} reduces nothing")))
            }
            found => Ok(found.unwrap_or(true)),
        }
    }

    /// Whether the reduction's operation is user-defined although it commutes; none is where older files do not tell.
    fn is_user_defined(&self, operation: Operation) -> Result<bool, String> {
        let commutes = self.order(operation)?;
        match self.truth("user_defined")? {
            Some(true) if !operation.reduces() => {
                Err(self.refuse("user_defined", format!("false, as {operation} reduces nothing")))
            }
            Some(false) if !commutes => {
                Err(self.refuse("user_defined", "true, as no operation that does not commute is predefined"))
            }
            found => Ok(commutes && found.unwrap_or(false)),
        }
    }

    /// How calls followed one another; each was alone where older files do not tell.
    fn pattern(&self) -> Result<Pattern, String> {
        let alone = Pattern::default();
        let number = |name: &str, otherwise: u32| {
            let accepted = "a whole number from 1 on";
            let found: u32 = self.optional(name, accepted)?.unwrap_or(otherwise);
            if found == 0 { Err(self.refuse(name, accepted)) } else { Ok(found) }
        };
        Ok(Pattern {
            in_a_row: number("in_a_row", alone.in_a_row)?,
            communicators: number("communicators", alone.communicators)?,
            roots_in_turn: self.truth("roots_in_turn")?.unwrap_or(alone.roots_in_turn),
            late: self.seconds("late_seconds")?.unwrap_or(alone.late),
        })
    }

    /// Beyond which lengths messages within a node travelled in pieces, if the file tells.
    fn limits(&self) -> Result<Option<Vec<Limit>>, String> {
        let name = "protocol_limits";
        match self.text(name) {
            "" => return Ok(None),
            NO_LIMITS => return Ok(Some(Vec::new())),
            _ => (),
        }
        let limits: Option<Vec<Limit>> = self.text(name).split_whitespace().map(|one| one.parse().ok()).collect();
        let limits = limits.filter(|limits| ProtocolLimits::of(limits.iter().copied()).is_some());
        let accepted = "none, or lengths in ascending order, such as 256 4040x8:exchange";
        limits.map(Some).ok_or_else(|| self.refuse(name, accepted))
    }

    /// The cell of the row, without its variants.
    fn cell(&self) -> Result<CellRow, String> {
        let operation = operation_named(self.text("operation"))
            .map_err(|_| self.refuse("operation", Operation::ALL.map(Operation::name).join(", ")))?;
        let datatypes = [Datatype::Double, Datatype::Float, Datatype::Int, Datatype::Byte, Datatype::Strided];
        let datatype = datatypes.into_iter().find(|datatype| datatype.name() == self.text("datatype"));
        let datatype = datatype.ok_or_else(|| self.refuse("datatype", datatypes.map(Datatype::name).join(", ")))?;
        let number = "a whole number";
        let ranks: u32 = self.value("ranks", &format!("a whole number up to {}", u32::MAX))?;
        let each =
            self.text("ranks_per_node").split_whitespace().map(|each| each.parse().ok().filter(|each| *each > 0));
        let ranks_per_node: Vec<u32> = each.collect::<Option<_>>().unwrap_or_default();
        if ranks == 0 || ranks_per_node.iter().map(|each| u64::from(*each)).sum::<u64>() != u64::from(ranks) {
            return Err(self.refuse("ranks_per_node", format!("the ranks on each node, {ranks} in all, as in 4 4")));
        }
        let oversubscribed =
            self.truth("oversubscribed")?.ok_or_else(|| self.refuse("oversubscribed", "true or false"))?;
        Ok(CellRow {
            cell: Cell {
                operation,
                datatype,
                root: self.value("root", number)?,
                bytes: self.value("bytes", number)?,
                commutative: self.order(operation)?,
                user_defined: self.is_user_defined(operation)?,
                calls: self.optional("calls", number)?,
                share: None,
            },
            size_class: None,
            ranks,
            ranks_per_node,
            oversubscribed,
            rounds: self.optional("rounds", number)?.unwrap_or(0),
            bound_seconds: self.seconds("bound_seconds")?,
            variants: Vec::new(),
            left_out: Vec::new(),
            wrong: Vec::new(),
        })
    }

    fn variant(&self, operation: Operation) -> Result<VariantRow, String> {
        let median = self.seconds("median_seconds")?.ok_or_else(|| self.refuse("median_seconds", "seconds"))?;
        let or_median = |name: &str| self.seconds(name).map(|seconds| seconds.unwrap_or(median));
        let ratio = |name: &str| self.optional::<f64>(name, "a ratio, such as 1.05");
        let against_native = match ratio("native_over_this")? {
            Some(found) => Some(Ratio { ratio: found, low: ratio("low")?, high: ratio("high")? }),
            None => None,
        };
        let transport = match self.text("transport") {
            "" => Transport::Messages,
            text => Transport::ALL
                .into_iter()
                .find(|transport| transport.name() == text)
                .ok_or_else(|| self.refuse("transport", Transport::ALL.map(Transport::name).join(", ")))?,
        };
        let seconds = Spread {
            median,
            p10: or_median("p10_seconds")?,
            p90: or_median("p90_seconds")?,
            min: or_median("min_seconds")?,
            mean: or_median("mean_seconds")?,
        };
        let [variant, algorithm] = ["variant", "algorithm"].map(|name| self.text(name).to_owned());
        if self.text("mpi_library").is_empty() {
            return Err(self.refuse("mpi_library", "what MPI_Get_library_version says, or any name"));
        }
        let jobs = self.optional("jobs", "a whole number")?;
        let row = VariantRow { variant, algorithm, transport, seconds, against_native, jobs };
        if row.variant.is_empty() {
            return Err(self.refuse("variant", "native, auto, or an algorithm as it was asked for"));
        }
        if row.variant != NATIVE && !row.is_mode() {
            parse_choice(operation, &row.algorithm).map_err(|error| {
                let column = self.heads.iter().position(|head| head == "algorithm").map_or(0, |place| place + 1);
                format!("line {}, column {column} (algorithm): {error}", self.line)
            })?;
        }
        Ok(row)
    }
}

/// The reports that a file holds: one for each MPI library, version of Collie and way of measuring, and more where the
/// column `report` says so or where it has the same variant of a cell several times.
///
/// # Errors
/// What is wrong, with line and column.
pub fn read(text: &str) -> Result<Vec<Report>, String> {
    let mut lines = (1..).zip(text.lines().map(unmarked)).filter(|(_, line)| !line.trim().is_empty());
    let Some((first, head)) = lines.next() else { return Err("line 1: no head".to_owned()) };
    let mut heads = heads(first, head)?;
    let mut reports: BTreeMap<([String; 5], bool, usize), Report> = BTreeMap::new();
    // Where in its report a cell is.
    let mut places = BTreeMap::new();
    for (line, text) in lines {
        let row = Row { line, heads: &heads, fields: fields(line, text)? };
        if row.fields.iter().any(|field| field == "operation") {
            // The head of another file that was appended.
            heads = self::heads(line, text)?;
            continue;
        }
        if row.fields.len() != heads.len() {
            let (found, expected) = (row.fields.len(), heads.len());
            return Err(format!("line {line}: found {found} columns; accepted: {expected}, as in the head"));
        }
        let cell = row.cell()?;
        let variant = row.variant(cell.cell.operation)?;
        let whole = CellRow { variants: vec![variant.clone()], ..cell.clone() };
        checked::cell(&whole).map_err(|error| format!("line {line}: {error}"))?;
        let is_wrong = row.truth("right")? == Some(false);
        let [library, version, id] = ["mpi_library", "collie_version", "report"].map(|name| row.text(name).to_owned());
        let cold = row.truth("cold")?.unwrap_or(false);
        let (pattern, limits) = (row.pattern()?, row.limits()?);
        let [in_turn, cut] = [pattern.words().join(" "), format!("{limits:?}")];
        // Of several measurements of the same each is of a report of its own.
        let mut nth = 0;
        let (report, place) = loop {
            let key = ([&library, &version, &in_turn, &cut, &id].map(String::clone), cold, nth);
            let of_cell = (cell.cell.key(), cell.ranks, cell.oversubscribed, cell.ranks_per_node.clone());
            let report = reports.entry(key.clone()).or_default();
            let place = *places.entry((key.clone(), of_cell)).or_insert_with(|| {
                report.cells.push(cell.clone());
                report.cells.len() - 1
            });
            if report.cells[place].variant(&variant.variant).is_none() {
                break (reports.get_mut(&key).expect("just made"), place);
            }
            nth += 1;
        };
        report.schema_version = SCHEMA_VERSION;
        (report.mpi_library, report.collie_version, report.cold) = (library, version, cold);
        report.runs = report.runs.max(variant.jobs.unwrap_or(1));
        (report.pattern, report.protocol_limits) = (pattern, limits);
        let cell = &mut report.cells[place];
        cell.wrong.extend(is_wrong.then(|| variant.variant.clone()));
        cell.variants.push(variant);
    }
    let mut reports: Vec<_> = reports.into_values().collect();
    for report in &mut reports {
        for cell in &mut report.cells {
            cell.variants.iter_mut().for_each(|row| row.jobs = row.jobs.filter(|jobs| *jobs < report.runs));
        }
    }
    Ok(reports)
}

/// The names of the columns.
fn heads(number: usize, line: &str) -> Result<Vec<String>, String> {
    let heads = fields(number, line)?;
    let missing: Vec<_> = NEEDED.into_iter().filter(|name| !heads.iter().any(|head| head == name)).collect();
    let accepted = "accepted: the columns that collie bench --csv writes, each once";
    if !missing.is_empty() {
        return Err(format!("line {number}: no column {}; {accepted}", missing.join(", ")));
    }
    // Which of the two counts nobody knows.
    let twice = heads.iter().enumerate().find(|(place, name)| !name.is_empty() && heads[..*place].contains(name));
    match twice {
        Some((place, name)) => Err(format!("line {number}, column {}: another column '{name}'; {accepted}", place + 1)),
        None => Ok(heads),
    }
}

/// The fields of a line; those in quotes may hold commas, and two quotes for one.
fn fields(number: usize, line: &str) -> Result<Vec<String>, String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut letters = line.trim_end_matches('\r').chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    if is_quoted {
        return Err(format!("line {number}, column {}: a quote that does not end", fields.len()));
    }
    Ok(fields.into_iter().map(|field| field.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::csv;
    use super::super::result::tests::{report, row};
    use super::*;

    #[test]
    fn files_may_follow_one_another() {
        let text = csv::text(&written());
        let (head, rows) = text.split_once('\n').unwrap();
        let both = format!("\u{feff}{head}\n{rows}\u{feff}{head}\n{rows}");
        assert!(is_csv(&both));
        assert_eq!(read(&both).unwrap().len(), 2, "the same twice is two reports");
        // With its columns in another order.
        let other = "mpi_library,median_seconds,algorithm,variant,oversubscribed,ranks_per_node,ranks,bytes,root,datatype,operation\n\
                     other,1e-6,binomial,binomial,false,4,4,64,0,byte,bcast\n";
        let found = read(&format!("{text}{other}")).unwrap();
        let found = found.iter().find(|report| report.mpi_library == "other").unwrap();
        assert_eq!((found.cells[0].cell.bytes, found.cells[0].ranks), (64, 4));
        let cut = format!("{text}operation,bytes\nbcast,8\n");
        let line = text.lines().count() + 1;
        assert!(read(&cut).unwrap_err().starts_with(&format!("line {line}: no column datatype, ")));
    }

    #[test]
    fn variants_stay_with_what_was_measured_beside_them() {
        let of = |algorithm: &str, microseconds| {
            let mut cell = row(Operation::Bcast, 64, 4, microseconds);
            cell.variants[1].variant = algorithm.to_owned();
            cell.variants[1].algorithm = algorithm.to_owned();
            csv::text(&report(vec![cell]))
        };
        let found = read(&(of("ring", 6.0) + &of("bine", 4.5))).unwrap();
        let variants = |report: &Report| {
            let [cell] = &report.cells[..] else { panic!("{report:?}") };
            cell.variants.iter().map(|row| row.variant.clone()).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = found.iter().map(variants).collect();
        all.sort_unstable();
        assert_eq!(all, [["native", "bine"], ["native", "ring"]]);
    }

    fn written() -> Report {
        let mut cells = vec![row(Operation::Bcast, 64, 4, 5.0), row(Operation::Barrier, 0, 3, 2.0)];
        cells[0].variants[1].variant = "knomial:radix=4,segment=none".to_owned();
        cells[0].variants[1].algorithm = "knomial:radix=4,segment=none".to_owned();
        cells[0].wrong = vec!["knomial:radix=4,segment=none".to_owned()];
        cells[1].ranks_per_node = vec![2, 1];
        cells[1].oversubscribed = true;
        cells.iter_mut().for_each(|cell| cell.left_out.clear());
        Report { mpi_library: "An MPI, 4.0".to_owned(), seed: 0, ..report(cells) }
    }

    #[test]
    fn what_was_written_comes_back() {
        let text = csv::text(&written());
        assert!(is_csv(&text) && !is_csv("{\"operation\": 1, \"x\": 2}"));
        assert_eq!(read(&text).unwrap(), [written()]);
        // Columns in another order, and without those that may be missing.
        let short = "mpi_library,median_seconds,algorithm,variant,oversubscribed,ranks_per_node,ranks,bytes,root,datatype,operation\n\
                     \"An MPI, 4.0\",1e-6,ring,ring,false,4 4,8,64,0,double,bcast\n";
        let found = read(short).unwrap();
        assert_eq!((found[0].cells[0].ranks_per_node.len(), found[0].cells[0].variants[0].seconds.p90), (2, 1e-6));
    }

    #[test]
    fn calls_whose_order_matters_are_other_calls() {
        let plain = row(Operation::Reduce, 64, 4, 5.0);
        let mut ordered = plain.clone();
        ordered.cell.commutative = false;
        let mut user_defined = plain.clone();
        user_defined.cell.user_defined = true;
        let cells = vec![plain, ordered, user_defined];
        let text = csv::text(&report(cells.clone()));
        assert_eq!(
            read(&text).unwrap()[0].cells.iter().map(|row| row.cell).collect::<Vec<_>>(),
            cells.iter().map(|row| row.cell).collect::<Vec<_>>(),
            "{text}"
        );
        let without = |columns: usize| -> String {
            text.lines().map(|line| line.rsplitn(columns + 1, ',').last().unwrap().to_owned() + "\n").collect()
        };
        // Older files do not tell which are user-defined, still older ones not which commute.
        let of = |text: &str| {
            let all = read(text).unwrap().into_iter().flat_map(|report| report.cells);
            all.map(|row| (row.cell.commutative, row.cell.reduces_locally())).collect::<Vec<_>>()
        };
        assert_eq!(of(&without(2)), [(true, false), (false, true), (true, false)]);
        assert!(of(&without(8)).iter().all(|found| *found == (true, false)));
        let told = |from: &str, to: &str| read(&text.replacen(from, to, 1)).unwrap_err();
        let none_is = told("false,1,1,false,0e0,,true", "false,1,1,false,0e0,,false");
        assert!(none_is.contains("(user_defined): found 'false'; accepted: true, as no operation"), "{none_is}");
    }

    #[test]
    fn ways_of_measuring_come_back() {
        let pattern = Pattern { in_a_row: 10, communicators: 2, roots_in_turn: true, late: 1e-5 };
        let limits = vec!["256".parse().unwrap(), "4040x8:exchange".parse().unwrap()];
        let alone = Report { protocol_limits: Some(Vec::new()), ..written() };
        let in_a_row = Report { pattern, protocol_limits: Some(limits), ..written() };
        let [first, second] = [&alone, &in_a_row].map(csv::text);
        let both = format!("{first}{}", second.split_once('\n').unwrap().1);
        let mut found = read(&both).unwrap();
        found.sort_by_key(|report| report.pattern.in_a_row);
        assert_eq!(found, [alone, in_a_row]);
        let error = |from: &str, to: &str| {
            assert!(second.contains(from), "{second}");
            read(&second.replacen(from, to, 1)).unwrap_err()
        };
        let told = error("256 4040x8:exchange", "4040 256");
        assert!(
            told.starts_with("line 2, column 33 (protocol_limits): found '4040 256'; accepted: none, or"),
            "{told}"
        );
        let told = error("true,10,2,true,1e-5,", "true,0,2,true,1e-5,");
        assert!(told.starts_with("line 2, column 29 (in_a_row): found '0'; accepted: a whole number from 1"), "{told}");
    }

    #[test]
    fn files_may_be_put_together() {
        let text = csv::text(&written());
        let rows = text.split_once('\n').unwrap().1;
        let other = rows.replace("An MPI, 4.0", "Another");
        let found = read(&format!("{text}{rows}{other}")).unwrap();
        let libraries: Vec<_> = found.iter().map(|report| report.mpi_library.as_str()).collect();
        assert_eq!(libraries, ["An MPI, 4.0", "An MPI, 4.0", "Another"]);
        assert!(found.iter().all(|report| report.cells == written().cells));
    }

    #[test]
    fn mistakes_are_told_with_line_and_column() {
        let text = csv::text(&written());
        for (from, to, told) in [
            ("\nbcast,", "\nbroadcast,", "line 2, column 1 (operation): found 'broadcast'; accepted: bcast, "),
            (",cold,", ",bytes,", "line 1, column 8: another column 'bytes'; accepted: "),
            ("\"An MPI, 4.0\"", "", "line 2, column 26 (mpi_library): found ''; accepted: "),
            (
                "bcast,double,0,64,",
                "bcast,double,0,64K,",
                "line 2, column 4 (bytes): found '64K'; accepted: a whole number",
            ),
            (
                "barrier,byte,0,0,3,2,true",
                "barrier,byte,0,0,3,2,yes",
                "line 4, column 7 (oversubscribed): found 'yes'; accepted: true or false",
            ),
            ("1e-5,", "-1,", "line 2, column 13 (median_seconds): found '-1'; accepted: seconds"),
            (",native,native,1e-5,", ",native,native,", "line 2: found 34 columns; accepted: 35"),
            (
                "\"knomial:radix=4,segment=none\",5e-6",
                "\"knomial:radix=4,segment=x\",5e-6",
                "line 3, column 12 (algorithm): ",
            ),
            (
                "4.0\",1.2.3,true",
                "4.0\",1.2.3,false",
                "line 2, column 28 (commutative): found 'false'; accepted: true, as bcast reduces nothing",
            ),
            ("mpi_library", "library", "line 1: no column mpi_library"),
            (",2 1,", ",2 2,", "column 25 (ranks_per_node): found '2 2'; accepted: the ranks on each node, 3 in all"),
            ("\"An MPI, 4.0\"", "\"An MPI, 4.0", "line 2, column 26: a quote that does not end"),
        ] {
            assert!(text.contains(from), "{from} is not in {text}");
            let error = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
