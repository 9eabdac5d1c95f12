//! The program `collie-bench`: what is timed, and in which order.

#![forbid(unsafe_code)]

use super::cell::Cell;
use super::exchange::{Exchange, Library};
use super::job::Job;
use super::output::CELL;
use super::over::{self, Over};
use super::program::{LEARN, NATIVE, Program, call, environment};
use super::result::{CellRow, Report, SCHEMA_VERSION, VariantRow};
use super::settings::Settings;
use super::statistics::{self, FEWEST};
use super::variants::{self, Named};
use super::{bound, entry, output, overhead, plan};
use crate::algorithm::{Call, format_bytes};
use crate::entry::transports;
use crate::mpi::Result;
use crate::schedule::limits::ProtocolLimits;
use crate::selection::{Configuration, Mpi, Situation, Transport};
use clap::Parser;
use mpi_sys::MPI_Comm;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Calls of each variant before the first timed one, besides the one whose result is checked.
const WARM_UP: u32 = 2;
/// How many times its budget a cell may take when rounds are held up.
const PATIENCE: f64 = 4.0;

#[derive(Parser)]
#[command(
    name = "collie-bench",
    version,
    about = "Times native collectives against Collie's, alternating within one MPI job",
    after_help = "Examples:\n  mpirun -n 4 collie-bench --operation allreduce --algorithm all\n  \
                  mpirun -n 8 collie-bench --bytes 64K-4M --step 4 --bandwidth 24.8M --html bench.html\n  \
                  collie bench -n 4 --repeat 5       the same, in several jobs"
)]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
    /// With --json -: also a report of each cell alone, in a line of its own, once it is measured
    #[arg(long, hide = true, requires = "json")]
    each_cell: bool,
}

/// Carries out the command line, on every rank.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    entry::main(
        arguments,
        |line: &CommandLine| environment(&line.settings),
        |job, parsed: std::result::Result<CommandLine, _>| {
            let each_cell = parsed.as_ref().is_ok_and(|line| line.each_cell);
            run(job, parsed.map(|line| line.settings), each_cell)
        },
    )
}

/// Measures and tells; the exit code.
fn run(job: &Job, settings: std::result::Result<Settings, clap::Error>, each_cell: bool) -> Result<u8> {
    let program = match agree(job, &settings)? {
        Ok(program) => program,
        Err(message) => {
            if job.rank == 0 {
                eprintln!("{message}");
            }
            return Ok(2);
        }
    };
    let Ok(settings) = settings else { return Ok(2) };
    let mut report = Report {
        schema_version: SCHEMA_VERSION,
        collie_version: env!("CARGO_PKG_VERSION").to_owned(),
        mpi_library: job.library(),
        cold: program.cold,
        pattern: program.pattern,
        runs: 1,
        seed: program.seed,
        planned_shares: program.planned_share.map(|share| (job.size as u32, share)).into_iter().collect(),
        ..Report::default()
    };
    let talk = job.rank == 0 && !settings.quiet;
    if program.overhead {
        report.overheads = overhead::measure(job, &program)?;
    } else {
        let bench = Bench::new(job, &program, settings.bandwidth)?;
        report.protocol_limits = Some(bench.limits().limits().collect());
        let each = |row: &CellRow| {
            if each_cell && job.rank == 0 {
                // Somebody who reads no more reads the end neither, and is told then.
                drop(say(&alone(&report, row)));
            }
        };
        report.cells = bench.cells(talk, each)?;
    }
    if job.rank != 0 {
        return Ok(0);
    }
    // Told before MPI ends: an MPI library that hangs in its end must not take the result along.
    let (text, mut wrong) = output::written(&settings, &report);
    if let Err(error) = say(&text) {
        wrong.push(format!("cannot write to standard output: {error}"));
    }
    wrong.iter().for_each(|message| eprintln!("collie-bench: {message}"));
    Ok(if wrong.is_empty() { output::code(&report) } else { 1 })
}

fn say(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// The line that holds one cell of the report.
fn alone(report: &Report, row: &CellRow) -> String {
    let report = Report { cells: vec![row.clone()], ..report.clone() };
    format!("{CELL}{}", output::line(&report))
}

/// What rank 0 makes of its command line, on all ranks.
fn agree(
    job: &Job,
    settings: &std::result::Result<Settings, clap::Error>,
) -> Result<std::result::Result<Program, String>> {
    let mut bytes = Vec::new();
    if job.rank == 0 {
        let resolve = |settings: &Settings| {
            output::try_files(settings)?;
            let report = settings.plan.as_deref().map(plan::read).transpose()?;
            Program::resolve(settings, job.size, report.as_ref())
        };
        let program = match settings {
            Ok(settings) => resolve(settings).map_err(|message| format!("collie-bench: {message}")),
            Err(error) => Err(error.render().to_string()),
        };
        bytes = serde_json::to_vec(&program).expect("a program can be written");
    }
    job.broadcast(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).expect("rank 0 runs the same program"))
}

/// The job with its transports and their communicators.
struct Bench<'a> {
    job: &'a Job,
    program: &'a Program,
    transports: Vec<Over>,
    configuration: Configuration,
    bandwidth: Option<f64>,
}

/// A variant that can run in a cell.
struct Variant<'a> {
    name: String,
    algorithm: String,
    transport: Transport,
    library: Library,
    communicators: &'a [MPI_Comm],
    seconds: Vec<f64>,
}

impl<'a> Bench<'a> {
    fn new(job: &'a Job, program: &'a Program, bandwidth: Option<f64>) -> Result<Self> {
        let most = program.variants.iter().map(|names| variants::slots(names)).max().unwrap_or(0);
        let configuration = job.configuration()?;
        let wanted = (&program.transports[..], configuration.transport);
        let transports = over::all(job, wanted, most, program.pattern.communicators as usize)?;
        Ok(Self { job, program, transports, configuration, bandwidth })
    }

    /// Beyond which lengths a message within a node travels in pieces.
    fn limits(&self) -> ProtocolLimits {
        ProtocolLimits::from_word(transports::limits(&self.configuration))
    }

    /// Measures all cells, in an order that the seed decides, and hands each on once it is done; rows in the order of the
    /// program.
    fn cells(&'a self, talk: bool, each: impl Fn(&CellRow)) -> Result<Vec<CellRow>> {
        let mut order: Vec<usize> = (0..self.program.cells.len()).collect();
        let mut random = fastrand::Rng::with_seed(self.program.seed);
        random.shuffle(&mut order);
        let mut rows = Vec::new();
        for (done, place) in order.into_iter().enumerate() {
            let cell = &self.program.cells[place];
            if talk {
                let (done, all) = (done + 1, self.program.cells.len());
                let (datatype, bytes) = (cell.datatype.name(), format_bytes(cell.bytes));
                eprintln!("collie-bench: {done}/{all} {} {bytes} {datatype} root {}", cell.operation, cell.root);
            }
            let row = self.cell(cell, &mut random)?;
            each(&row);
            rows.push((place, row));
        }
        rows.sort_by_key(|(place, _)| *place);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn cell(&'a self, cell: &Cell, random: &mut fastrand::Rng) -> Result<CellRow> {
        let (mut variants, left_out) = self.variants(cell);
        let mut exchange = Exchange::new(self.job, cell, self.program.cold, self.program.pattern.roots_in_turn);
        let wrong = self.check(&mut exchange, &variants)?;
        for row in 0..self.program.pattern.rows_of_all(self.job.size).max(WARM_UP) {
            // What learning costs it costs from the first calls on.
            for variant in variants.iter().filter(|variant| variant.algorithm != LEARN) {
                self.row(&exchange, variant, row)?;
            }
        }
        let rounds = self.rounds(&mut exchange, &mut variants, random)?;
        for variant in &mut variants {
            self.job.most(&mut variant.seconds)?;
        }
        let root_node = self.job.nodes.get(cell.root).copied().unwrap_or(0) as usize;
        let limit = |rate| bound::seconds(cell.operation, cell.bytes, &self.job.ranks_per_node, root_node, rate);
        Ok(CellRow {
            cell: *cell,
            size_class: None,
            ranks: self.job.size as u32,
            ranks_per_node: self.job.ranks_per_node.clone(),
            oversubscribed: self.job.oversubscribed,
            rounds: rounds as u64,
            bound_seconds: self.bandwidth.and_then(limit),
            variants: rows(&variants),
            left_out,
            wrong,
        })
    }

    /// Those that can run in `cell`, each told what it is to run, and those that cannot, with the reason.
    fn variants(&'a self, cell: &Cell) -> (Vec<Variant<'a>>, Vec<(String, String)>) {
        let call = call(cell, &self.job.nodes);
        let situation = Situation {
            oversubscribed: self.job.oversubscribed,
            mpi: Mpi::of(&self.job.library()),
            limits: self.limits(),
            limits_vary: self.configuration.limits_vary(),
            ..Situation::plain(self.job.size).on(&self.job.nodes)
        };
        let names = self.program.variants(cell);
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for (place, over) in self.transports.iter().enumerate() {
            // What the MPI library folds, no algorithm can fold in memory that ranks share.
            let call = Call { shared: over.memory().filter(|_| !cell.reduces_locally()), ..call };
            let (able, unable) = variants::named(names, &self.configuration, &situation, &call, self.program.learns());
            left_out.extend(unable.into_iter().map(|(name, why)| (over.name(&name), why)));
            // Native is there once.
            for named in able.into_iter().filter(|named| place == 0 || named.name != NATIVE) {
                match over.communicators(&named) {
                    Ok(communicators) => all.push(self.variant(cell, over, named, communicators)),
                    Err(why) => left_out.push((over.name(&named.name), why)),
                }
            }
        }
        (all, left_out)
    }

    /// One of them, told what it is to run.
    fn variant(&self, cell: &Cell, over: &Over, named: Named, communicators: &'a [MPI_Comm]) -> Variant<'a> {
        if let Some(told) = &named.told {
            communicators.iter().for_each(|comm| self.job.choose(*comm, cell.operation, told));
        }
        let (library, transport) = match named.name == NATIVE {
            true => (Library::Native, Transport::Messages),
            false => (Library::Collie, over.transport),
        };
        let (name, algorithm) = (over.name(&named.name), named.algorithm);
        Variant { name, algorithm, transport, library, communicators, seconds: Vec::new() }
    }

    /// Calls every variant once and compares its result with the native one; names those that differ on some rank.
    fn check(&self, exchange: &mut Exchange, variants: &[Variant]) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        for variant in variants {
            exchange.reset();
            exchange.call(variant.library, variant.communicators[0], exchange.root())?;
            if variant.library == Library::Native {
                exchange.expect();
            } else if !self.job.all(exchange.is_expected())? {
                wrong.push(variant.name.clone());
            }
        }
        Ok(wrong)
    }

    /// The calls of one timing, which go on where those of the last one ended, `row` timings after the first.
    #[inline]
    fn row(&self, exchange: &Exchange, variant: &Variant, row: u32) -> Result {
        let pattern = &self.program.pattern;
        let first = row.wrapping_mul(pattern.in_a_row);
        for number in (0..pattern.in_a_row).map(|number| first.wrapping_add(number)) {
            let late = pattern.late(self.job.rank, number, self.job.size);
            if late > 0.0 {
                self.job.compute(late);
            }
            let root = pattern.root(exchange.root(), number, self.job.size);
            exchange.call(variant.library, variant.communicators[pattern.communicator(number)], root)?;
        }
        Ok(())
    }

    /// Times rounds until the cell's time is over; rank 0 says how many are next.
    fn rounds(&self, exchange: &mut Exchange, variants: &mut [Variant], random: &mut fastrand::Rng) -> Result<usize> {
        let mut order: Vec<usize> = (0..variants.len()).collect();
        let begun = Instant::now();
        let mut taken = Vec::new();
        loop {
            let next = next_rounds(&taken, begun.elapsed().as_secs_f64(), self.program.seconds, self.program.rounds);
            let next = self.job.of_first(&next)?;
            if next == 0 {
                return Ok(taken.len());
            }
            for _ in 0..next {
                let round = Instant::now();
                random.shuffle(&mut order);
                for place in &order {
                    let variant = &mut variants[*place];
                    exchange.advance();
                    self.job.synchronise()?;
                    let seconds = self.job.seconds(|| self.row(exchange, variant, taken.len() as u32))?;
                    variant.seconds.push(seconds / f64::from(self.program.pattern.in_a_row));
                    self.job.rest();
                }
                taken.push(round.elapsed().as_secs_f64());
            }
        }
    }
}

/// How many rounds are next after those that took `taken`, 0 for none: at least as many as an interval needs, then as
/// many as usual rounds fit into the budget.
fn next_rounds(taken: &[f64], elapsed: f64, budget: f64, most: usize) -> usize {
    let (done, least) = (taken.len(), FEWEST.min(most));
    if done < least {
        return least - done;
    }
    // A rank that loses its core for a while must not make the rounds few where they are most needed.
    if elapsed > PATIENCE * budget {
        return 0;
    }
    let fit = (budget / statistics::median(taken).max(1e-9)) as usize;
    // No more at once than were measured, lest one slow start or one quiet spell decide.
    fit.min(most).saturating_sub(done).min(done)
}

fn rows(variants: &[Variant]) -> Vec<VariantRow> {
    let native = variants.iter().find(|variant| variant.library == Library::Native).map(|native| &native.seconds);
    let row = |variant: &Variant| VariantRow {
        variant: variant.name.clone(),
        algorithm: variant.algorithm.clone(),
        transport: variant.transport,
        seconds: statistics::spread(&variant.seconds),
        against_native: native
            .filter(|_| variant.library != Library::Native)
            .map(|native| statistics::ratio(native, &variant.seconds)),
        jobs: None,
    };
    variants.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::next_rounds;

    #[test]
    fn rounds_fill_the_budget_and_no_more() {
        let next = |done: usize, each: f64, elapsed: f64, most| next_rounds(&vec![each; done], elapsed, 0.5, most);
        assert_eq!(next(0, 0.0, 0.0, 1000), 6);
        assert_eq!(next(6, 0.3, 2.0, 1000), 0, "slow calls are measured as often as an interval needs");
        assert_eq!(next(6, 0.001, 0.006, 1000), 6);
        assert_eq!(next(300, 0.001, 0.3, 1000), 200);
        assert_eq!(next(300, 0.001, 1.5, 1000), 200, "some rounds were held up");
        assert_eq!(next(300, 0.001, 2.5, 1000), 0, "all things end");
        assert_eq!(next(900, 0.0001, 0.09, 1000), 100);
        assert_eq!(next(1000, 0.0001, 0.1, 1000), 0);
        assert_eq!(next(0, 0.0, 0.0, 1), 1);
    }
}
