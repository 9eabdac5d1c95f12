//! What the user asks for: the options that `collie bench` and `collie-bench` share.

#![forbid(unsafe_code)]

use super::cell::Datatype;
use super::numbers::whole;
use super::pattern::{Pattern, seconds};
use crate::algorithm::{Operation, format_bytes, parse_bytes};
use crate::report;
use crate::selection::{Transport, operation_named};
use std::path::PathBuf;

/// A set of cells and variants known by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scenario {
    /// Allreduce of 10 million doubles by unsegmented binary trees, against native and others (Sinev's report)
    TreeAllreduce,
    /// Reduce of 1 to 1,000,000 doubles by binomial, Fibonacci and binary trees and native (Winklehner and Friedl)
    ReduceStudy,
    /// What Collie adds to a call that it passes on to the native library
    Overhead,
}

impl Scenario {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TreeAllreduce => "tree-allreduce",
            Self::ReduceStudy => "reduce-study",
            Self::Overhead => "overhead",
        }
    }
}

/// Factor between sizes where none is named.
const STEP: usize = 8;

/// What is measured and how.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// Operations, comma-separated [default: all but barrier]; -o is --output in the other subcommands
    #[arg(short, long = "operation", value_delimiter = ',', value_parser = operation_named, value_name = "OPERATIONS")]
    pub operations: Vec<Operation>,
    /// Bytes that one rank contributes: sizes and ranges, comma-separated (K, M, G are powers of 1024) [default: 8-16M]
    #[arg(short, long, value_parser = Sizes::parse, value_name = "SIZES", conflicts_with_all = ["plan", "scenario"])]
    pub bytes: Option<Sizes>,
    /// Factor from a size of a range to the next
    #[arg(long, default_value_t = STEP, value_parser = whole::<usize>(2..))]
    pub step: usize,
    /// Algorithm to measure besides native and auto, with parameters, for the operations that have it
    /// (OPERATION=ALGORITHM: for that operation only); `all`: every algorithm with its defaults; `best`, `learn`: what
    /// these modes do; `candidates`: what mode `learn` tries; may be given several times
    #[arg(short, long = "algorithm", value_name = "ALGORITHM")]
    pub algorithms: Vec<String>,
    /// Transports within a node to compare: messages, shared (see COLLIE_TRANSPORT); the column auto is replaced by one
    /// for each
    #[arg(long = "transport", value_delimiter = ',', value_parser = Transport::parse, value_name = "TRANSPORTS")]
    pub transports: Vec<Transport>,
    /// Roots, comma-separated
    #[arg(short, long = "root", value_delimiter = ',', default_value = "0", value_parser = whole::<usize>(..), value_name = "RANKS")]
    pub roots: Vec<usize>,
    /// Datatypes, comma-separated
    #[arg(short, long = "datatype", value_delimiter = ',', default_value = "double", value_name = "DATATYPES")]
    pub datatypes: Vec<Datatype>,
    /// In reductions, use a user-defined operation that is declared non-commutative
    #[arg(long, conflicts_with_all = ["plan", "scenario"])]
    pub non_commutative: bool,
    /// In reductions, use a user-defined operation that is declared commutative
    #[arg(long, conflicts_with_all = ["plan", "scenario", "non_commutative"])]
    pub user_defined: bool,
    /// Seconds per cell, all variants together
    #[arg(short, long, default_value_t = 0.5, value_parser = seconds)]
    pub seconds: f64,
    /// Maximum number of rounds per cell; each round calls every variant once
    #[arg(long, default_value_t = 1000, value_parser = whole::<usize>(1..))]
    pub rounds: usize,
    /// Use different buffers for every call, so that none is in a cache
    #[arg(long)]
    pub cold: bool,
    /// How calls follow one another.
    #[command(flatten)]
    pub pattern: Pattern,
    /// Seed of the order of cells and variants
    #[arg(long, default_value_t = 1, value_parser = whole::<u64>(..))]
    pub seed: u64,
    /// Bytes per second of a node's link in each direction (K, M, G are powers of 1000); shows the lower bound
    #[arg(long, value_parser = bandwidth, value_name = "RATE")]
    pub bandwidth: Option<f64>,
    /// Take the cells and how often they are called from a JSON report of an application (COLLIE_REPORT=x.json)
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    pub plan: Option<PathBuf>,
    /// Run a predefined set of measurements, which sets operations and sizes
    #[arg(long)]
    pub scenario: Option<Scenario>,
    /// Write JSON; `-` for standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV, a row for each cell and variant
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a plot
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write a page with plot and table
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Say nothing while measuring
    #[arg(short, long)]
    pub quiet: bool,
}

impl Settings {
    /// The words that say the same on a command line, but for where the result goes.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut say = |option: &str, value: String| words.extend([format!("--{option}"), value]);
        if !self.operations.is_empty() {
            say("operation", joined(self.operations.iter()));
        }
        if let Some(bytes) = &self.bytes {
            say("bytes", bytes.to_string());
        }
        say("step", self.step.to_string());
        for algorithm in &self.algorithms {
            say("algorithm", algorithm.clone());
        }
        if !self.transports.is_empty() {
            say("transport", joined(self.transports.iter().map(|transport| transport.name())));
        }
        say("root", joined(self.roots.iter()));
        say("datatype", joined(self.datatypes.iter().map(|datatype| datatype.name())));
        say("seconds", self.seconds.to_string());
        say("rounds", self.rounds.to_string());
        say("seed", self.seed.to_string());
        if let Some(bandwidth) = self.bandwidth {
            say("bandwidth", bandwidth.to_string());
        }
        if let Some(plan) = &self.plan {
            say("plan", plan.to_string_lossy().into_owned());
        }
        if let Some(scenario) = self.scenario {
            say("scenario", scenario.name().to_owned());
        }
        words.extend(self.pattern.words());
        words.extend(self.non_commutative.then(|| "--non-commutative".to_owned()));
        words.extend(self.user_defined.then(|| "--user-defined".to_owned()));
        words.extend(self.cold.then(|| "--cold".to_owned()));
        words.extend(self.quiet.then(|| "--quiet".to_owned()));
        words
    }

    /// The operations, all but barrier unless some are named.
    pub fn operations(&self) -> Vec<Operation> {
        let mut operations = self.operations.clone();
        if operations.is_empty() {
            operations = Operation::ALL.into_iter().filter(|operation| operation.has_data()).collect();
        }
        operations
    }

    /// Every size in bytes, ascending.
    pub fn sizes(&self) -> Vec<usize> {
        self.bytes.as_ref().unwrap_or(&Sizes(vec![USUAL])).values(self.step)
    }

    /// Whether it all fits together, so that nothing else is measured, and no other file written, than was asked for.
    ///
    /// # Errors
    /// What does not, and what is accepted.
    pub fn check(&self) -> Result<(), String> {
        if self.bytes.is_some() && !self.operations().iter().any(|operation| operation.has_data()) {
            return Err("--bytes: a barrier sends no data; accepted: with an operation that does".to_owned());
        }
        self.check_sizes()?;
        self.check_effects()?;
        let files = [
            ("--json", &self.json, "JSON", &["json"][..]),
            ("--csv", &self.csv, "CSV", &["csv"]),
            ("--svg", &self.svg, "a drawing in SVG", &["svg"]),
            ("--html", &self.html, "a page in HTML", &["html", "htm"]),
        ];
        let mut named = files.into_iter().filter_map(|(option, path, form, accepted)| {
            path.as_deref().map(|path| report::fits(option, path, form, accepted))
        });
        named.find(Result::is_err).unwrap_or(Ok(()))
    }

    /// Whether all that was asked for changes what is measured.
    fn check_effects(&self) -> Result<(), String> {
        let (is_set, has_roots) = (self.scenario.is_some(), self.scenario == Some(Scenario::ReduceStudy));
        let is_overhead = self.scenario == Some(Scenario::Overhead);
        let is_planned = self.plan.is_some();
        let any = |has: fn(Operation) -> bool| self.operations().into_iter().any(has);
        let has_own = !is_set && !is_planned;
        // An option, whether it was given and changes nothing, and what the scenario or the plan has in its place.
        let options = [
            ("--operation", is_set && !is_overhead && !self.operations.is_empty(), "the scenario's operation"),
            ("--datatype", is_set && self.datatypes != [Datatype::Double], "doubles in all scenarios"),
            ("--root", is_set && !has_roots && self.roots != [0], "root 0 in this scenario"),
            ("--step", (is_set || is_planned) && self.step != STEP, "the sizes of the scenario or the plan"),
            ("--algorithm", is_overhead && !self.algorithms.is_empty(), "calls that are passed on in this scenario"),
            ("--cold", is_overhead && self.cold, "the same buffers in this scenario"),
            ("--in-a-row and the like", is_overhead && !self.pattern.is_alone(), "calls in a row in this scenario"),
            ("--bandwidth", is_overhead && self.bandwidth.is_some(), "no bound in this scenario"),
            ("--svg", is_overhead && self.svg.is_some(), "--json, --csv or --html in this scenario"),
            ("--datatype", is_planned && self.datatypes.len() > 1, "one datatype with a plan"),
            ("--root", is_planned && self.roots.len() > 1, "one root with a plan"),
            ("--root", has_own && self.roots != [0] && !any(Operation::rooted), "an operation with a root"),
            (
                "--datatype",
                has_own && self.datatypes != [Datatype::Double] && !any(Operation::has_data),
                "an operation that sends data",
            ),
            ("--step", has_own && self.step != STEP && !any(Operation::has_data), "an operation that sends data"),
            ("--non-commutative", self.non_commutative && !any(Operation::reduces), "an operation that reduces"),
            ("--bandwidth", self.bandwidth.is_some() && self.pattern.roots_in_turn, "one root for all calls of a cell"),
            ("--user-defined", self.user_defined && !any(Operation::reduces), "an operation that reduces"),
        ];
        match options.into_iter().find(|(_, is_vain, _)| *is_vain) {
            Some((option, _, accepted)) => Err(format!("{option} would have no effect; accepted: {accepted}")),
            None => Ok(()),
        }
    }

    /// Whether messages of all sizes hold whole elements.
    fn check_sizes(&self) -> Result<(), String> {
        for (bytes, datatype) in
            self.sizes().into_iter().flat_map(|bytes| self.datatypes.iter().map(move |datatype| (bytes, datatype)))
        {
            let (name, size) = (datatype.name(), datatype.size());
            if !bytes.is_multiple_of(size) {
                return Err(format!(
                    "--bytes: {bytes} is no whole number of elements of {size} bytes (--datatype {name}); accepted: multiples of {size}, \
                     or --datatype byte"
                ));
            }
        }
        Ok(())
    }
}

fn joined(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

/// Sizes that are measured where none are named: from 8 bytes to 16 MiB.
const USUAL: (usize, usize) = (8, 16 << 20);

/// Sizes and ranges of sizes, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<(usize, usize)>);

impl Sizes {
    /// Reads `8-16M`, `1K`, or several of these with commas between.
    ///
    /// # Errors
    /// What is wrong and what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spans = text.split(',').map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (parse_bytes(from.trim()), parse_bytes(to.trim())) {
                (Some(from), Some(to)) if from >= 1 && from <= to && to <= 1 << 30 => Ok((from, to)),
                _ => Err(format!("'{part}' is not a size or range of sizes from 1 to 1G, such as 1K or 8-16M")),
            }
        });
        spans.collect::<Result<_, _>>().map(Self)
    }

    /// Every size, ascending: of a range its start times powers of `step`.
    pub fn values(&self, step: usize) -> Vec<usize> {
        let mut values = Vec::new();
        for (from, to) in &self.0 {
            let next = |size: &usize| size.checked_mul(step);
            values.extend(std::iter::successors(Some(*from), next).take_while(|size| size <= to));
        }
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, (from, to)) in self.0.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "," })?;
            f.write_str(&format_bytes(*from))?;
            if from != to {
                write!(f, "-{}", format_bytes(*to))?;
            }
        }
        Ok(())
    }
}

/// Reads `24.8M`. Links are rated in powers of 1000.
fn bandwidth(text: &str) -> Result<f64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1e3),
        Some(b'M') => (&text[..text.len() - 1], 1e6),
        Some(b'G') => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    value.map(|value| value * factor).ok_or_else(|| "accepted: bytes per second, such as 24.8M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn parsed(words: &[String]) -> Settings {
        let words = std::iter::once("bench".to_owned()).chain(words.iter().cloned());
        Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).settings
    }

    #[test]
    fn words_say_the_same() {
        for line in [
            "",
            "-o bcast,reduce -b 8-1K,3M --step 2 -a all -a pipeline:segment=64K -r 0,3 -d byte,strided -s 0.1 --rounds 7",
            "--cold --seed 9 --bandwidth 24.8M --plan x.json --quiet",
            "--scenario tree-allreduce",
            "--transport messages,shared -a ring",
            "--non-commutative -o reduce",
            "--user-defined -o allreduce",
            "--in-a-row 100 --communicators 4 --roots-in-turn --late 0.00002",
        ] {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            let settings = parsed(&words);
            assert_eq!(parsed(&settings.words()), settings, "{line}");
        }
    }

    #[test]
    fn nothing_becomes_something_else() {
        let told = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            parsed(&words).check()
        };
        for fitting in [
            "",
            "-b 7 -d byte",
            "-b 4-1K -d int,byte",
            "-o barrier,bcast -b 64",
            "-o barrier",
            "-o barrier --scenario overhead",
            "--scenario reduce-study -r 1 --cold",
            "--plan x.json -d byte -r 1",
            "--plan x.json -d strided",
            "--json - --csv x --svg x.svg --html x.htm",
        ] {
            assert_eq!(told(fitting), Ok(()), "{fitting}");
        }
        for (wrong, words) in [
            (
                "-b 7",
                "--bytes: 7 is no whole number of elements of 8 bytes (--datatype double); accepted: multiples of 8",
            ),
            ("-b 2,8-1K --step 3 -d byte,float", "--bytes: 2 is no whole number of elements of 4 bytes"),
            ("-o barrier -b 64", "--bytes: a barrier sends no data; accepted: "),
            ("--json x.csv", "--json 'x.csv': JSON does not belong in a .csv file; accepted endings: .json"),
            ("--csv x.json", "accepted endings: .csv"),
            (
                "--scenario reduce-study -o bcast",
                "--operation would have no effect; accepted: the scenario's operation",
            ),
            ("--scenario tree-allreduce -r 1", "--root would have no effect; accepted: root 0 in this scenario"),
            ("--scenario overhead -a ring", "--algorithm would have no effect"),
            ("--scenario overhead --in-a-row 10", "--in-a-row and the like would have no effect"),
            ("--plan x.json -r 0,1", "--root would have no effect; accepted: one root with a plan"),
            ("--plan x.json --step 2", "--step would have no effect"),
            (
                "-o bcast --non-commutative",
                "--non-commutative would have no effect; accepted: an operation that reduces",
            ),
            (
                "--bandwidth 24.8M --roots-in-turn",
                "--bandwidth would have no effect; accepted: one root for all calls of a cell",
            ),
            ("-o bcast --user-defined", "--user-defined would have no effect; accepted: an operation that reduces"),
            ("--svg x.png", "accepted endings: .svg"),
            ("--html x.svg", "accepted endings: .html, .htm"),
        ] {
            let found = told(wrong).unwrap_err();
            assert!(found.contains(words), "{wrong}: {found}");
        }
        for wrong in [
            "-b 8 --plan x.json",
            "-b 8 --scenario overhead",
            "--rounds 0",
            "--rounds x",
            "--step 1",
            "--root x",
            "--seed x",
        ] {
            let words = std::iter::once("bench").chain(wrong.split(' '));
            let found = Line::try_parse_from(words).err().expect(wrong).to_string();
            assert!(found.contains(": accepted: ") || found.contains("cannot be used with"), "{found}");
        }
    }

    #[test]
    fn sizes() {
        let values = |text: &str, step| Sizes::parse(text).unwrap().values(step);
        assert_eq!(values("8-16M", 8), [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20]);
        assert_eq!(values("1K,8-20,16", 2), [8, 16, 1024]);
        for wrong in ["", "0", "8-", "16-8", "2G", "1X"] {
            assert!(Sizes::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bandwidth("24.8M"), Ok(24.8e6));
        assert!(bandwidth("-1").is_err() && bandwidth("M").is_err());
    }
}
